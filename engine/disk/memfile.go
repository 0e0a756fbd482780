package disk

import (
	"io"
	"sync/atomic"
	"syscall"
)

// memFile is an open file of a Mem.
type memFile struct {
	mem    *Mem
	name   string
	mode   Mode
	node   *memNode
	closed atomic.Bool
	q      fileQueue
}

func (f *memFile) Name() string      { return f.name }
func (f *memFile) queue() *fileQueue { return &f.q }
func (f *memFile) check(op *Op)      { checkOp(op, f.name, f.mode) }

func (f *memFile) fail(op string, err error) error { return f.mem.fail(op, f.name, err) }

// usable is the error of using the file for writing or only for reading.
func (f *memFile) usable(write bool) error {
	switch {
	case f.closed.Load():
		return ErrClosed
	case write && f.mode&ReadOnly != 0:
		return syscall.EBADF
	}
	return nil
}

// ReadAt reads len(p) bytes at off; io.EOF with what there was before the end.
func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	checkAligned(f.name, f.mode, p, off)
	if err := f.usable(false); err != nil {
		return 0, f.fail("read", err)
	}
	return f.node.read(p, off)
}

func (f *memFile) readFull(p []byte, off int64) error {
	_, err := f.ReadAt(p, off)
	if err == io.EOF {
		err = f.fail("read", io.ErrUnexpectedEOF)
	}
	return err
}

// WriteAt writes all of p at off.
func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	checkAligned(f.name, f.mode, p, off)
	if err := f.usable(true); err != nil {
		return 0, f.fail("write", err)
	}
	n, err := f.node.write(p, off)
	return n, f.fail("write", err)
}

func (f *memFile) writeFull(p []byte, off int64) error {
	_, err := f.WriteAt(p, off)
	return err
}

// Size is the file's size in bytes.
func (f *memFile) Size() (int64, error) {
	if err := f.usable(false); err != nil {
		return 0, f.fail("fstat", err)
	}
	return f.node.length(), nil
}

// Truncate sets the size.
func (f *memFile) Truncate(size int64) error {
	if err := f.usable(true); err != nil {
		return f.fail("truncate", err)
	}
	f.node.truncate(size)
	return nil
}

// Allocate reserves the blocks below size, all or none.
func (f *memFile) Allocate(size int64) error {
	if err := f.usable(true); err != nil {
		return f.fail("fallocate", err)
	}
	return f.fail("fallocate", f.node.allocate(size))
}

// Sync makes data and size durable, but not the file's name.
func (f *memFile) Sync() error {
	if err := f.usable(false); err != nil {
		return f.fail("fdatasync", err)
	}
	f.node.sync()
	return nil
}

// Close closes the file; ErrClosed if it is closed already.
func (f *memFile) Close() error {
	f.q.mustBeIdle(f.name)
	if f.closed.Swap(true) {
		return f.fail("close", ErrClosed)
	}
	f.node.release()
	return nil
}
