package disk

import (
	"io"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// osFile is a file of the operating system, used by the psync and ring backends.
type osFile struct {
	dir    *osDir
	name   string
	mode   Mode // as asked for: alignment is checked even where O_DIRECT was refused
	direct bool // O_DIRECT is in effect
	fd     int
	closed atomic.Bool
	q      fileQueue
	ring   ringFile
}

func (f *osFile) Name() string      { return f.name }
func (f *osFile) queue() *fileQueue { return &f.q }
func (f *osFile) check(op *Op)      { checkOp(op, f.name, f.mode) }

func (f *osFile) fail(op string, err error) error {
	return opError(op, f.dir.path, f.name, err)
}

// ReadAt reads len(p) bytes at off; io.EOF with what there was before the end.
func (f *osFile) ReadAt(p []byte, off int64) (int, error) {
	checkAligned(f.name, f.mode, p, off)
	n, err := f.read(p, off)
	if err == io.EOF {
		return n, err
	}
	return n, f.fail("read", err)
}

func (f *osFile) readFull(p []byte, off int64) error {
	_, err := f.read(p, off)
	return f.fail("read", eofAsUnexpected(err))
}

func (f *osFile) read(p []byte, off int64) (int, error) {
	if f.closed.Load() {
		return 0, ErrClosed
	}
	done := 0
	for done < len(p) {
		n, err := unix.Pread(f.fd, p[done:], off+int64(done))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return done, err
		case n == 0:
			return done, io.EOF
		}
		done += n
		// A direct read ends inside a block only at the end of the file, and
		// could not go on from there.
		if f.direct && done < len(p) && n%BlockSize != 0 {
			return done, io.EOF
		}
	}
	return done, nil
}

// WriteAt writes all of p at off.
func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	checkAligned(f.name, f.mode, p, off)
	n, err := f.write(p, off)
	return n, f.fail("write", err)
}

func (f *osFile) writeFull(p []byte, off int64) error {
	_, err := f.write(p, off)
	return f.fail("write", err)
}

func (f *osFile) write(p []byte, off int64) (int, error) {
	if f.closed.Load() {
		return 0, ErrClosed
	}
	done := 0
	for done < len(p) {
		n, err := unix.Pwrite(f.fd, p[done:], off+int64(done))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return done, err
		case n == 0 || f.direct && n%BlockSize != 0:
			return done + n, io.ErrShortWrite
		}
		done += n
	}
	return done, nil
}

// onFd runs a call on the file's descriptor, again if a signal interrupted it. A
// closed file is refused before its number can mean another file.
func (f *osFile) onFd(call func(fd int) error) error {
	if f.closed.Load() {
		return ErrClosed
	}
	for {
		if err := call(f.fd); err != syscall.EINTR {
			return err
		}
	}
}

// Size is the file's size in bytes.
func (f *osFile) Size() (int64, error) {
	var st unix.Stat_t
	err := f.onFd(func(fd int) error { return unix.Fstat(fd, &st) })
	return st.Size, f.fail("fstat", err)
}

// Truncate sets the size.
func (f *osFile) Truncate(size int64) error {
	return f.fail("truncate", f.onFd(func(fd int) error { return unix.Ftruncate(fd, size) }))
}

// Allocate reserves the blocks below size. Filesystems without fallocate get
// zeros written behind the present end, which reserves as surely.
func (f *osFile) Allocate(size int64) error {
	err := f.onFd(func(fd int) error { return unix.Fallocate(fd, 0, 0, size) })
	if err == syscall.EOPNOTSUPP || err == syscall.ENOSYS {
		return f.writeZeros(size)
	}
	return f.fail("fallocate", err)
}

func (f *osFile) writeZeros(size int64) error {
	old, err := f.Size()
	if err != nil {
		return err
	}
	arena, err := newArena(1 << 20)
	if err != nil {
		return f.fail("allocate", err)
	}
	defer arena.Free()
	// Starts at a block boundary for O_DIRECT; the partial block before the old
	// end keeps its bytes because the file grows by Truncate first.
	if err := f.Truncate(max(old, size)); err != nil {
		return err
	}
	for off := (old + BlockSize - 1) &^ (BlockSize - 1); off < size; off += int64(len(arena.Buf)) {
		if err := f.writeFull(arena.Buf[:min(size-off, int64(len(arena.Buf)))], off); err != nil {
			return err
		}
	}
	return nil
}

// Sync makes data and size durable.
func (f *osFile) Sync() error {
	return f.fail("fdatasync", f.onFd(unix.Fdatasync))
}

// Close closes the file; ErrClosed if it is closed already.
func (f *osFile) Close() error {
	f.q.mustBeIdle(f.name)
	if f.closed.Swap(true) {
		return f.fail("close", ErrClosed)
	}
	if f.dir.onClose != nil {
		f.dir.onClose(f)
	}
	return f.fail("close", unix.Close(f.fd))
}

// ignoringEINTR repeats a call that a signal interrupted before it did anything.
func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}
