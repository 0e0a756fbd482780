package iouring

import (
	"fmt"
	"sync"
	"unsafe"

	abi "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// table keeps account of a table of registered resources. We choose the index
// ourselves and never look a resource up by its descriptor or address: those
// can come to mean something else.
type table struct {
	mu   sync.Mutex
	free []uint32
	err  error // why there is no table
}

// init makes places 0..n-1 free.
func (t *table) init(n int) {
	for i := n - 1; i >= 0; i-- {
		t.free = append(t.free, uint32(i))
	}
}

// add takes a free place and has register fill it.
func (t *table) add(register func(index uint32) error) (uint32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return 0, t.err
	}
	if len(t.free) == 0 {
		return 0, ErrTableFull
	}
	index := t.free[len(t.free)-1]
	if err := register(index); err != nil {
		return 0, err
	}
	t.free = t.free[:len(t.free)-1]
	return index, nil
}

// remove has clear empty a place and frees it.
func (t *table) remove(index uint32, clear func(index uint32) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := clear(index); err != nil {
		return err // the place stays taken: it must not name something else
	}
	t.free = append(t.free, index)
	return nil
}

// registerTables makes the two tables, all places empty.
func (r *Ring) registerTables(cfg Config) {
	r.files.err = r.makeFiles(cfg.MaxFiles)
	r.buffers.err = r.makeBuffers(cfg.MaxBuffers)
}

func (r *Ring) makeFiles(n int) error {
	if n == 0 {
		return ErrTableFull
	}
	empty := make([]int32, n)
	for i := range empty {
		empty[i] = -1
	}
	if err := abi.IOURingRegister(r.fd, abi.IORING_REGISTER_FILES, unsafe.Pointer(&empty[0]), uint32(n)); err != nil {
		return fmt.Errorf("%w: table of %d files: %w", ErrUnsupported, n, err)
	}
	r.files.init(n)
	return nil
}

func (r *Ring) makeBuffers(n int) error {
	if n == 0 {
		return ErrTableFull
	}
	arg := rsrcRegister{nr: uint32(n), flags: rsrcRegisterSparse}
	if err := abi.IOURingRegister(r.fd, registerBuffers2, unsafe.Pointer(&arg), uint32(unsafe.Sizeof(arg))); err != nil {
		return fmt.Errorf("%w: table of %d buffers: %w", ErrUnsupported, n, err)
	}
	r.buffers.init(n)
	return nil
}

// RegisterFile enters the open file fd into the ring's table. The ring holds the
// file open until UnregisterFile, also when fd is closed. Errors: ErrTableFull,
// ErrUnsupported, an errno; requests then use Fd.
func (r *Ring) RegisterFile(fd int) (FileID, error) {
	index, err := r.files.add(func(index uint32) error { return r.setFile(index, int32(fd)) })
	if err != nil {
		return 0, fmt.Errorf("register a file with the ring: %w", err)
	}
	return FileID(index + 1), nil
}

// UnregisterFile frees the file's place. Requests on it must have been done.
func (r *Ring) UnregisterFile(id FileID) error {
	return r.files.remove(uint32(id-1), func(index uint32) error { return r.setFile(index, -1) })
}

func (r *Ring) setFile(index uint32, fd int32) error {
	update := abi.IOURingFilesUpdate{Offset: index, Fds: &fd}
	return abi.IOURingRegister(r.fd, abi.IORING_REGISTER_FILES_UPDATE, unsafe.Pointer(&update), 1)
}

// RegisterBuffer pins buf, which must be memory outside of Go's heap, and enters
// it into the ring's table: the kernel then need not look up its pages for each
// request. Errors: ErrTableFull, ErrUnsupported, or an errno; ENOMEM means that
// RLIMIT_MEMLOCK does not allow it. Requests then go without.
func (r *Ring) RegisterBuffer(buf []byte) (BufferID, error) {
	index, err := r.buffers.add(func(index uint32) error {
		vec := unix.Iovec{Base: unsafe.SliceData(buf)}
		vec.SetLen(len(buf))
		return r.setBuffer(index, &vec)
	})
	if err != nil {
		return 0, fmt.Errorf("register a buffer of %d bytes with the ring: %w", len(buf), err)
	}
	return BufferID(index + 1), nil
}

// UnregisterBuffer unpins the buffer. Requests on it must have been done.
func (r *Ring) UnregisterBuffer(id BufferID) error {
	return r.buffers.remove(uint32(id-1), func(index uint32) error { return r.setBuffer(index, &unix.Iovec{}) })
}

func (r *Ring) setBuffer(index uint32, vec *unix.Iovec) error {
	update := rsrcUpdate{offset: index, data: unsafe.Pointer(vec), nr: 1}
	return abi.IOURingRegister(r.fd, registerBuffersUpdate, unsafe.Pointer(&update), uint32(unsafe.Sizeof(update)))
}
