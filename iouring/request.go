package iouring

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// Op is what a Request does.
type Op uint8

const (
	// Nop does nothing; for tests and measurements.
	Nop Op = iota
	// Read reads into Buf at Off.
	Read
	// Write writes Buf at Off.
	Write
	// Sync is fdatasync.
	Sync
	// WriteSync is Write and, if all of Buf was written, Sync: two linked entries
	// in one submission.
	WriteSync
)

// FileID names a file in the ring's table of registered files; 0 is none.
type FileID uint32

// BufferID names a buffer in the ring's table of registered buffers; 0 is none.
type BufferID uint16

// Request is one operation. It belongs to the ring, with Buf, from Submit until
// Done is called. It can be used again after that.
type Request struct {
	Op   Op
	Fd   int    // used if File is 0
	File FileID // a registered file
	// Buffer is the registered buffer that Buf lies in, 0 if it is in none.
	Buffer BufferID
	// Buf stays referenced while the kernel uses it. It must not be on a
	// goroutine's stack: allocate it on the heap or, better, outside of it.
	Buf []byte
	Off int64
	// Wrote is called, if not nil, when a WriteSync has written and not synced.
	Wrote func(*Request)
	// Done is called exactly once, from the ring's completion goroutine or from
	// Submit. It must not block. It may call Submit.
	Done func(*Request)

	// N is the number of bytes transferred.
	N int
	// Err is nil only if all of Buf was transferred and synced as asked: a
	// syscall.Errno, io.ErrShortWrite, io.ErrUnexpectedEOF for a read that the
	// kernel cut short (N says where), ErrClosed, or why the ring failed.
	Err error
	// User is the submitter's.
	User any

	next *Request // in the ring's queue
	// syncOnly is set when the kernel took the write of a WriteSync without its
	// linked sync: the sync then goes alone, after the write.
	syncOnly bool
}

// Errors of this package.
var (
	// ErrClosed: the ring is closed.
	ErrClosed = errors.New("ring closed")
	// ErrUnsupported: the kernel, or the sandbox the process runs in, has no
	// usable io_uring. The message says what is missing.
	ErrUnsupported = errors.New("io_uring cannot be used")
	// ErrTableFull: all places for registered files or buffers are taken.
	ErrTableFull = errors.New("table of registered resources is full")
)

// entries is the number of submission entries the request needs.
func (q *Request) entries() uint32 {
	if q.Op == WriteSync && !q.syncOnly {
		return 2
	}
	return 1
}

// check panics if the request is malformed.
func (q *Request) check() {
	switch {
	case q.Done == nil:
		panic("BUG: iouring: request without Done")
	case q.Op > WriteSync:
		panic(fmt.Sprintf("BUG: iouring: request of kind %d", q.Op))
	case q.moves() && (len(q.Buf) == 0 || len(q.Buf) > maxTransfer):
		panic(fmt.Sprintf("BUG: iouring: transfer of %d bytes", len(q.Buf)))
	}
}

// maxTransfer is the most that Linux transfers in one call.
const maxTransfer = 0x7ffff000

// moves tells whether the request moves data.
func (q *Request) moves() bool { return q.Op == Read || q.Op == Write || q.Op == WriteSync }

// transferred takes the result of the data entry.
func (q *Request) transferred(res int32) {
	switch {
	case res < 0:
		q.Err = syscall.Errno(-res)
	case q.Op == Nop:
	case int(res) == len(q.Buf):
		q.N = int(res)
	case q.Op == Read:
		q.N, q.Err = int(res), io.ErrUnexpectedEOF
	default:
		q.N, q.Err = int(res), io.ErrShortWrite
	}
}

// synced takes the result of the sync entry. The sync of a write that failed was
// cancelled; the write's error is the one that counts.
func (q *Request) synced(res int32) {
	if res < 0 && q.Err == nil {
		q.Err = syscall.Errno(-res)
	}
}

// requestList is a queue of requests linked through next.
type requestList struct{ head, tail *Request }

func (l *requestList) push(q *Request) {
	q.next = nil
	if l.head == nil {
		l.head = q
	} else {
		l.tail.next = q
	}
	l.tail = q
}

func (l *requestList) pushFront(q *Request) {
	if q.next = l.head; l.head == nil {
		l.tail = q
	}
	l.head = q
}

func (l *requestList) pop() *Request {
	q := l.head
	if q != nil {
		l.head, q.next = q.next, nil
	}
	return q
}
