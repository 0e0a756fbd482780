package iouring

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	abi "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// queues is the memory shared with the kernel.
//
//	submission: we write sqes[tail&mask] and move tail, the kernel moves head
//	completion: the kernel writes cqes[tail&mask] and moves tail, we move head
//
// The array between the submission queue and its entries is set once to the
// identity, so that entry i is always at place i.
type queues struct {
	ringMem, sqeMem []byte

	sqHead, sqTail *uint32
	sqMask         uint32
	sqes           []sqe

	cqHead, cqTail *uint32
	cqMask         uint32
	cqes           []cqe
}

func mapQueues(fd int, p *abi.IOURingParams) (*queues, error) {
	if p.Features&abi.IORING_FEAT_SINGLE_MMAP == 0 || p.Features&abi.IORING_FEAT_NODROP == 0 {
		return nil, fmt.Errorf("%w: features %#x lack SINGLE_MMAP or NODROP", ErrUnsupported, p.Features)
	}
	// One mapping holds both queues; the kernel makes it as large as the larger.
	size := max(
		uint64(p.SQOffset.Array)+uint64(p.SQEntries)*4,
		uint64(p.CQOffset.Cqes)+uint64(p.CQEntries)*uint64(unsafe.Sizeof(cqe{})),
	)
	ringMem, err := mapRing(fd, abi.IORING_OFF_SQ_RING, size)
	if err != nil {
		return nil, err
	}
	sqeMem, err := mapRing(fd, abi.IORING_OFF_SQES, uint64(p.SQEntries)*uint64(unsafe.Sizeof(sqe{})))
	if err != nil {
		unix.Munmap(ringMem)
		return nil, err
	}
	word := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&ringMem[off])) }
	q := &queues{
		ringMem: ringMem, sqeMem: sqeMem,
		sqHead: word(p.SQOffset.Head), sqTail: word(p.SQOffset.Tail), sqMask: *word(p.SQOffset.RingMask),
		cqHead: word(p.CQOffset.Head), cqTail: word(p.CQOffset.Tail), cqMask: *word(p.CQOffset.RingMask),
		sqes: unsafe.Slice((*sqe)(unsafe.Pointer(&sqeMem[0])), p.SQEntries),
		cqes: unsafe.Slice((*cqe)(unsafe.Pointer(&ringMem[p.CQOffset.Cqes])), p.CQEntries),
	}
	array := unsafe.Slice(word(p.SQOffset.Array), p.SQEntries)
	for i := range array {
		array[i] = uint32(i)
	}
	return q, nil
}

func mapRing(fd int, off, size uint64) ([]byte, error) {
	mem, err := unix.Mmap(fd, int64(off), int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map the ring's queues: %w", sysError("mmap", err))
	}
	return mem, nil
}

func (q *queues) unmap() {
	unix.Munmap(q.ringMem)
	unix.Munmap(q.sqeMem)
}

// head is how far the kernel has taken the submission queue.
func (q *queues) head() uint32 { return atomic.LoadUint32(q.sqHead) }

// tail is how far we have filled it. Only the holder of the ring's mu moves it.
func (q *queues) tail() uint32 { return *q.sqTail }

// room is the number of free submission entries.
func (q *queues) room() uint32 { return uint32(len(q.sqes)) - (q.tail() - q.head()) }

// entry is the cleared submission entry at position pos.
func (q *queues) entry(pos uint32) *sqe {
	e := &q.sqes[pos&q.sqMask]
	e.Reset()
	return e
}

// publish shows the entries below tail to the kernel.
func (q *queues) publish(tail uint32) { atomic.StoreUint32(q.sqTail, tail) }

// completion is one entry of the completion queue.
type completion struct {
	userData uint64
	res      int32
}

// next takes the oldest completion, if there is one. Only the completion goroutine
// calls it.
func (q *queues) next() (c completion, ok bool) {
	head := *q.cqHead
	if head == atomic.LoadUint32(q.cqTail) {
		return c, false
	}
	e := &q.cqes[head&q.cqMask]
	c = completion{userData: e.UserData(), res: e.Result()}
	atomic.StoreUint32(q.cqHead, head+1)
	return c, true
}

// enter calls io_uring_enter. EINTR is not passed on: submission did nothing
// then, and a wait is repeated by its caller.
func enter(fd int, toSubmit, minComplete, flags uint32) (int, error) {
	n, err := abi.IOURingEnter(fd, toSubmit, minComplete, flags, nil)
	if err != nil && errnoOf(err) == syscall.EINTR {
		return 0, nil
	}
	return n, err
}
