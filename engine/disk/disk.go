package disk

import (
	"errors"
	"io"
)

// BlockSize is the unit of alignment that spate uses for file offsets, lengths
// and buffer addresses of direct I/O: at least every physical block size and
// statx DIOALIGN value seen in practice.
const BlockSize = 4096

// Errors that every implementation of Dir reports with errors.Is.
var (
	// ErrNotExist: the named file does not exist.
	ErrNotExist = errors.New("file does not exist")
	// ErrExist: the named file exists already.
	ErrExist = errors.New("file exists already")
	// ErrLocked: another process holds the directory's lock.
	ErrLocked = errors.New("directory is locked by another process")
	// ErrNoSpace: the device is full (ENOSPC, EDQUOT).
	ErrNoSpace = errors.New("no space left on device")
	// ErrReadOnly: the filesystem is read-only (EROFS).
	ErrReadOnly = errors.New("read-only filesystem")
	// ErrClosed: the Dir or File is closed.
	ErrClosed = errors.New("closed")
)

// Entry describes one file of a directory listing.
type Entry struct {
	Name string // relative to the listed directory, no slashes
	Size int64  // bytes
	Dir  bool
}

// Usage is the space of the filesystem that holds a Dir, in bytes.
type Usage struct {
	Total uint64
	Free  uint64 // available to this process
}

// Dir is one volume's directory. Names are slash-separated and relative to the
// Dir; they never escape it. All methods are safe for concurrent use.
type Dir interface {
	// Path is the directory as the operator named it; for messages only.
	Path() string
	// Backend names the I/O path in use: "io_uring", "psync", "mixed"
	// (reads on io_uring, writes as psync) or "mem".
	Backend() string
	// Direct tells whether files opened with Direct bypass the page cache.
	Direct() bool

	// Create makes a new file and opens it for reading and writing; ErrExist
	// if there is one.
	Create(name string, mode Mode) (File, error)
	// Open opens an existing file for reading and writing (reading only if the
	// mode has ReadOnly); ErrNotExist if there is none.
	Open(name string, mode Mode) (File, error)
	// MkdirAll makes a directory and its parents.
	MkdirAll(name string) error
	// Remove deletes a file.
	Remove(name string) error
	// Rename replaces newName by oldName atomically. Durable only after SyncDir.
	Rename(oldName, newName string) error
	// List lists the directory name ("" is the Dir itself), sorted by name.
	List(name string) ([]Entry, error)
	// SyncDir makes creations, removals and renames in directory name durable.
	SyncDir(name string) error
	// Lock takes the volume's exclusive lock; ErrLocked if another holds it.
	Lock(name string) (io.Closer, error)
	// Usage reports the space of the filesystem.
	Usage() (Usage, error)

	// Arena allocates size bytes of off-heap memory, aligned to BlockSize,
	// that I/O of this Dir handles best (registered with the ring where that is
	// allowed). Free it with Arena.Free when no operation uses it any more.
	Arena(size int) (*Arena, error)

	// Submit starts asynchronous operations on files of this Dir and returns
	// without waiting for them or for the disk, and without allocating. Reads
	// never wait behind writes, nor writes behind reads. Operations on one file
	// are not ordered against each other unless the backend says so. Every op's Done is called exactly once, also when the Dir fails or is
	// closed; it may be called before Submit returns. A goroutine locked to its
	// thread must not end while its operations are in flight: the kernel may
	// cancel them with the thread, and they fail.
	Submit(ops ...*Op)

	// Close waits for operations in flight and releases the ring. Files must be
	// closed first.
	Close() error
}

// Mode is a set of flags for opening a file.
type Mode uint8

const (
	// Direct asks for O_DIRECT. Offsets, lengths and buffer addresses must then be
	// multiples of BlockSize; every backend panics if they are not, also where
	// the device would not mind. Where the filesystem refuses O_DIRECT, the file
	// is opened buffered and Dir.Direct reports false.
	Direct Mode = 1 << iota
	// ReadOnly opens without write permission.
	ReadOnly
)

// File is an open file of one Dir. Its ReadAt returns io.EOF with a short count at
// the end of the file, as io.ReaderAt asks. Positioned reads and writes are synchronous and for
// start-up, small files and tools; the log's hot path uses Dir.Submit.
type File interface {
	io.ReaderAt
	io.WriterAt
	Name() string
	Size() (int64, error)
	// Truncate sets the size.
	Truncate(size int64) error
	// Allocate reserves blocks up to size without writing them (fallocate);
	// ErrNoSpace when they are not to be had. The file's size becomes size unless
	// it is larger already.
	Allocate(size int64) error
	// Sync makes data and size durable (fdatasync).
	Sync() error
	// Close closes the file. Operations in flight on it must have finished: to
	// close under them is a programmer error and panics.
	Close() error
}

// Op is one asynchronous operation. The submitter owns it again, together with
// Buf, when Done has been called.
type Op struct {
	Kind OpKind
	File File
	Buf  []byte
	Off  int64
	// Written is called, if not nil, when the data of OpWriteSync has been
	// written but not yet synced. Only called on success.
	Written func(*Op)
	// Done is called exactly once from a goroutine of the Dir's; it must not
	// block and must not wait for another operation. Err is set before.
	Done func(*Op)
	// Err is nil only if everything asked for happened: all of Buf
	// transferred and, for OpWriteSync, synced. A read past the end of the file
	// is io.ErrUnexpectedEOF (and what lies before the end has been read).
	// Never retried by the disk.
	Err error
	// User is the submitter's.
	User any

	// next links the op into a queue of its Dir, so that a queue needs no memory
	// of its own and is bounded by what the submitters own.
	next *Op
	// slot is the backend's bookkeeping while the op is in flight.
	slot opSlot
}

// OpKind says what an Op does.
type OpKind uint8

const (
	// OpRead reads len(Buf) bytes at Off.
	OpRead OpKind = iota + 1
	// OpWrite writes Buf at Off.
	OpWrite
	// OpWriteSync writes Buf at Off and then syncs the file's data; the sync
	// does not start if the write fails or is short.
	OpWriteSync
	// OpSync syncs the file's data.
	OpSync
)

// Arena is a piece of aligned off-heap memory.
type Arena struct {
	// Buf is the memory; its address and length are multiples of BlockSize.
	Buf  []byte
	free func()
}

// Free returns the memory. No slice of Buf may be used afterwards.
func (a *Arena) Free() {
	if a.free != nil {
		a.free()
	}
	a.Buf, a.free = nil, nil
}
