package netpoll

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Budget is the memory that all frames of a server may take together. A
// connection whose next frame does not fit waits its turn.
type Budget struct {
	limit int64

	// kept is what connections that may not go on have read and not looked at,
	// in bytes. It is not part of used: a connection that waits for memory keeps
	// some, and must not be what it waits for.
	kept    atomic.Int64
	waiting atomic.Int64 // len(queue)

	mu    sync.Mutex
	used  int64
	queue []*budgetWaiter // oldest first
}

// budgetWaiter is one connection's claim; it is used again for each frame.
type budgetWaiter struct {
	grant func() // called without locks when the bytes have been reserved
	n     int64
	state waiterState
}

type waiterState uint8

const (
	waiterIdle    waiterState = iota
	waiterQueued              // in Budget.queue
	waiterGranted             // bytes reserved; accept has not been called yet
)

// NewBudget allows limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Used is the memory handed out, in bytes.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// short tells that memory is short: connections should read no more than they
// have a place for, and those that hold memory and do nothing should go.
func (b *Budget) short() bool {
	return b.waiting.Load() > 0 || b.kept.Load() > b.limit/8
}

// take reserves n bytes. If they are not to be had now it returns false and
// calls w.grant later, in order, with the bytes reserved; then accept or cancel
// must be called. One frame alone may be larger than the limit when nothing else
// is used, so that nobody waits for ever.
func (b *Budget) take(w *budgetWaiter, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.state != waiterIdle {
		panic("BUG: a connection waits for memory twice")
	}
	if len(b.queue) == 0 && b.fits(n) {
		b.used += n
		return true
	}
	w.n, w.state = n, waiterQueued
	b.queue = append(b.queue, w)
	b.waiting.Add(1)
	return false
}

// accept takes over the bytes that were granted.
func (b *Budget) accept(w *budgetWaiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.state != waiterGranted {
		panic("BUG: memory accepted that was not granted")
	}
	w.state = waiterIdle
}

// cancel gives up a claim, whether it waits, has been granted or is none. Its
// connection has ended; others that waited behind it may now have their turn.
func (b *Budget) cancel(w *budgetWaiter) {
	b.mu.Lock()
	switch w.state {
	case waiterQueued:
		i := slices.Index(b.queue, w)
		b.queue = slices.Delete(b.queue, i, i+1)
		b.waiting.Add(-1)
	case waiterGranted:
		b.used -= w.n
	}
	w.state = waiterIdle
	b.grantUnlock()
}

// give returns n bytes.
func (b *Budget) give(n int64) {
	b.mu.Lock()
	b.used -= n
	if b.used < 0 {
		b.mu.Unlock()
		panic("BUG: more frame memory returned than taken; a frame was freed twice")
	}
	b.grantUnlock()
}

func (b *Budget) fits(n int64) bool { return b.used == 0 || b.used+n <= b.limit }

// grantUnlock grants what fits, in order, and unlocks.
func (b *Budget) grantUnlock() {
	n := 0
	for n < len(b.queue) && b.fits(b.queue[n].n) {
		b.used += b.queue[n].n
		b.queue[n].state = waiterGranted
		n++
	}
	if n == 0 {
		b.mu.Unlock()
		return
	}
	ready := slices.Clone(b.queue[:n])
	b.queue = slices.Delete(b.queue, 0, n)
	b.waiting.Add(-int64(n))
	b.mu.Unlock()
	for _, w := range ready {
		w.grant()
	}
}

// Frame buffers come in classes of powers of two; those up to 4 MiB are kept for
// reuse.
const (
	minClassBits = 9
	maxClassBits = 22
)

var framePools [maxClassBits - minClassBits + 1]sync.Pool

// frameBytes is the memory that a frame of n bytes takes.
func frameBytes(n int) int {
	if n > 1<<maxClassBits {
		return n
	}
	return 1 << max(bits.Len(uint(max(n, 1)-1)), minClassBits)
}

func getFrame(n int) []byte {
	size := frameBytes(n)
	if size > 1<<maxClassBits {
		return make([]byte, n)
	}
	if p, ok := framePools[frameClass(size)].Get().(*byte); ok {
		return unsafe.Slice(p, size)[:n]
	}
	return make([]byte, n, size)
}

func putFrame(buf []byte) {
	size := cap(buf)
	if size > 1<<maxClassBits || size < 1<<minClassBits || size&(size-1) != 0 {
		return
	}
	// The pointer alone goes into the pool: a slice would be allocated for it.
	framePools[frameClass(size)].Put(unsafe.SliceData(buf))
}

func frameClass(size int) int { return bits.Len(uint(size)) - 1 - minClassBits }
