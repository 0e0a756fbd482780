package netpoll

import (
	"math/bits"
	"sync"
)

// Budget is the memory that all frames of a server may take together. A
// connection whose next frame does not fit waits its turn.
type Budget struct {
	limit int64

	mu      sync.Mutex
	used    int64
	waiters []budgetWaiter
}

type budgetWaiter struct {
	n     int64
	grant func()
}

// NewBudget allows limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Used is the memory handed out, in bytes.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// take reserves n bytes. If they are not to be had now it returns false and
// calls grant later, in order, with the bytes reserved. One frame alone may be
// larger than the limit when nothing else is used, so that nobody waits for ever.
func (b *Budget) take(n int64, grant func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) == 0 && b.fits(n) {
		b.used += n
		return true
	}
	b.waiters = append(b.waiters, budgetWaiter{n, grant})
	return false
}

func (b *Budget) fits(n int64) bool { return b.used == 0 || b.used+n <= b.limit }

// give returns n bytes.
func (b *Budget) give(n int64) {
	b.mu.Lock()
	b.used -= n
	var ready []func()
	for len(b.waiters) > 0 && b.fits(b.waiters[0].n) {
		b.used += b.waiters[0].n
		ready = append(ready, b.waiters[0].grant)
		b.waiters = b.waiters[1:]
	}
	b.mu.Unlock()
	for _, f := range ready {
		f()
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
	c := bits.Len(uint(size)) - 1 - minClassBits
	if p, ok := framePools[c].Get().(*[]byte); ok {
		return (*p)[:n]
	}
	return make([]byte, n, size)
}

func putFrame(buf []byte) {
	size := cap(buf)
	if size > 1<<maxClassBits || size < 1<<minClassBits || size&(size-1) != 0 {
		return
	}
	buf = buf[:size]
	framePools[bits.Len(uint(size))-1-minClassBits].Put(&buf)
}
