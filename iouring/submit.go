package iouring

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	abi "github.com/iceber/iouring-go/syscall"
)

// Bits of an entry's user data below the slot's index.
const (
	stageData = 0
	stageSync = 1
	stageBits = 1
	// stopMark is the user data of the entry that ends a blocking wait.
	stopMark = ^uint64(0)
)

// retryDelay is how long a submission waits that the kernel had no memory for while
// no completion is to come that would trigger it.
const retryDelay = time.Millisecond

// Submit starts the requests, with one system call if nobody else is submitting
// just now and with none if somebody is: that goroutine then does it. It does
// not wait for the disk or for a full ring. If the ring is closed or has failed,
// Done is called before Submit returns.
func (r *Ring) Submit(reqs ...*Request) {
	for _, req := range reqs {
		req.check()
		req.N, req.Err, req.syncOnly = 0, nil, false
	}
	r.mu.Lock()
	if err := r.refusal(); err != nil {
		r.mu.Unlock()
		for _, req := range reqs {
			req.Err = err
			req.Done(req)
		}
		return
	}
	for _, req := range reqs {
		r.pending.push(req)
	}
	r.outstanding += len(reqs)
	lost := r.flush()
	r.mu.Unlock()
	r.finish(lost)
}

// refusal is why the ring takes no requests, nil if it does.
func (r *Ring) refusal() error {
	if r.failed != nil {
		return r.failed
	}
	if r.closed {
		return ErrClosed
	}
	return nil
}

// flush moves pending requests into the submission queue and has the kernel take
// them. mu is held, but not during the system call, so that other goroutines
// can add entries meanwhile. It returns the requests that failed.
func (r *Ring) flush() (lost requestList) {
	if r.entering || r.failed != nil {
		return lost
	}
	r.entering = true
	defer r.entered()
	for {
		r.fill()
		count := r.q.tail() - r.q.head()
		if count == 0 {
			return lost
		}
		r.mu.Unlock()
		_, err := r.enter(r.fd, count, 0, 0)
		r.mu.Lock()
		r.repairSplit()
		switch errnoOf(err) {
		case 0:
			if err != nil {
				return r.fail(err)
			}
		case syscall.EAGAIN, syscall.EBUSY:
			// No memory, or completions to be taken first: when some are, this is
			// called again.
			r.retryLater()
			return lost
		default:
			return r.fail(err)
		}
	}
}

// entered ends what flush began; Close may be waiting for it. mu is held.
func (r *Ring) entered() {
	r.entering = false
	if r.closed {
		r.idle.Broadcast()
	}
}

// fill gives slots and entries to pending requests while there are any.
func (r *Ring) fill() {
	tail, room := r.q.tail(), r.q.room()
	for r.pending.head != nil && len(r.free) > 0 && room >= r.pending.head.entries() {
		req := r.pending.pop()
		index := r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		n := req.entries()
		r.slots[index] = slot{req: req, end: tail + n, left: uint8(n)}
		r.prepEntries(req, uint64(index)<<stageBits, tail)
		tail, room = tail+n, room-n
	}
	r.q.publish(tail)
}

// prepEntries writes the request's entries at position pos.
func (r *Ring) prepEntries(req *Request, userData uint64, pos uint32) {
	if req.Op == Sync || req.syncOnly {
		r.prepSync(req, userData, pos)
		return
	}
	e := r.q.entry(pos)
	e.SetUserData(userData | stageData)
	if req.Op == Nop {
		e.PrepOperation(abi.IORING_OP_NOP, -1, 0, 0, 0)
		return
	}
	addr := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(req.Buf))))
	e.PrepOperation(req.opcode(), int32(req.Fd), addr, uint32(len(req.Buf)), uint64(req.Off))
	if req.Buffer != 0 {
		e.SetBufIndex(uint16(req.Buffer - 1))
	}
	setFile(e, req)
	if req.Op == WriteSync {
		// Soft: a write that fails or is short cancels the sync.
		e.SetFlags(abi.IOSQE_FLAGS_IO_LINK)
		r.prepSync(req, userData, pos+1)
	}
}

func (r *Ring) prepSync(req *Request, userData uint64, pos uint32) {
	e := r.q.entry(pos)
	e.PrepOperation(abi.IORING_OP_FSYNC, int32(req.Fd), 0, 0, 0)
	e.SetOpFlags(abi.IORING_FSYNC_DATASYNC)
	e.SetUserData(userData | stageSync)
	setFile(e, req)
}

func setFile(e *sqe, req *Request) {
	if req.File != 0 {
		e.SetFdIndex(int32(req.File - 1))
	}
}

// opcode is the operation that moves the request's data.
func (q *Request) opcode() uint8 {
	switch {
	case q.Op == Read && q.Buffer != 0:
		return abi.IORING_OP_READ_FIXED
	case q.Op == Read:
		return abi.IORING_OP_READ
	case q.Buffer != 0:
		return abi.IORING_OP_WRITE_FIXED
	default:
		return abi.IORING_OP_WRITE
	}
}

// repairSplit finds the pair of entries of which the kernel took only the first
// (it does so when it runs out of memory between them, and then has forgotten
// the link). The sync would not wait for the write, so it becomes a Nop, and a
// sync of its own follows when the write is done. mu is held.
func (r *Ring) repairSplit() {
	head := r.q.head()
	if head == r.q.tail() {
		return
	}
	e := &r.q.sqes[head&r.q.sqMask]
	if e.Opcode() != abi.IORING_OP_FSYNC {
		return
	}
	for i := range r.slots {
		s := &r.slots[i]
		if s.req != nil && s.end == head+1 && s.req.entries() == 2 {
			s.split = true
			e.Reset()
			e.PrepOperation(abi.IORING_OP_NOP, -1, 0, 0, 0)
			e.SetUserData(uint64(i)<<stageBits | stageSync)
			return
		}
	}
}

// retryLater sees to it that flush is called again although nothing is with the
// kernel whose completion would do that. mu is held.
func (r *Ring) retryLater() {
	if r.retrying {
		return
	}
	r.retrying = true
	time.AfterFunc(retryDelay, func() {
		r.mu.Lock()
		r.retrying = false
		lost := r.flush()
		r.idle.Broadcast()
		r.mu.Unlock()
		r.finish(lost)
	})
}

// fail gives up submitting: the kernel answered with an error that no retry
// cures. Requests it has not taken are returned with the error; those it has
// are completed as usual. mu is held.
func (r *Ring) fail(err error) (lost requestList) {
	r.failed = fmt.Errorf("the ring failed: %w", err)
	head := r.q.head()
	for i := range r.slots {
		s := &r.slots[i]
		if s.req == nil || int32(head-s.end) >= 0 {
			continue
		}
		if untaken := s.end - head; s.left == 2 && untaken == 1 {
			// Its write is with the kernel, so the buffer is in use: the write's
			// completion ends it.
			s.left, s.req.Err = 1, r.failed
			continue
		}
		s.req.Err = r.failed
		lost.push(s.req)
		r.release(uint32(i))
	}
	for req := r.pending.pop(); req != nil; req = r.pending.pop() {
		req.Err = r.failed
		lost.push(req)
	}
	// Nothing may come of the entries left, whose buffers are given back.
	for pos := head; pos != r.q.tail(); pos++ {
		prepStop(r.q.entry(pos))
	}
	return lost
}

// prepStop makes an entry that does nothing but complete.
func prepStop(e *sqe) {
	e.PrepOperation(abi.IORING_OP_NOP, -1, 0, 0, 0)
	e.SetUserData(stopMark)
}

// release frees a slot. mu is held.
func (r *Ring) release(index uint32) {
	r.slots[index] = slot{}
	r.free = append(r.free, index)
}

// finish hands requests back. mu is not held.
func (r *Ring) finish(done requestList) {
	n := 0
	for req := done.pop(); req != nil; req = done.pop() {
		req.Done(req)
		n++
	}
	if n == 0 {
		return
	}
	r.mu.Lock()
	if r.outstanding -= n; r.outstanding == 0 {
		r.idle.Broadcast()
	}
	r.mu.Unlock()
}
