package engine

import (
	"math/bits"
	"sync"
)

// bufPool keeps buffers for cold reads in classes of powers of two from 4 KiB
// to 4 MiB; larger ones are left to the collector.
type bufPool struct{ class [11]sync.Pool }

func (b *bufPool) get(n int) []byte {
	c := bufClass(n)
	if c < 0 {
		return make([]byte, n)
	}
	if p, ok := b.class[c].Get().(*[]byte); ok {
		return (*p)[:n]
	}
	return make([]byte, n, 4096<<c)
}

func (b *bufPool) put(buf []byte) {
	if c := bufClass(cap(buf)); c >= 0 && cap(buf) == 4096<<c {
		buf = buf[:cap(buf)]
		b.class[c].Put(&buf)
	}
}

func bufClass(n int) int {
	c := max(bits.Len(uint(max(n, 1)-1))-12, 0)
	if c > 10 {
		return -1
	}
	return c
}

// workers runs blocking work on at most limit goroutines, first come first
// served.
type workers struct {
	mu    sync.Mutex
	queue []func()
	busy  int
	limit int
}

func (w *workers) run(f func()) {
	w.mu.Lock()
	w.queue = append(w.queue, f)
	start := w.busy < w.limit
	if start {
		w.busy++
	}
	w.mu.Unlock()
	if start {
		go w.work()
	}
}

func (w *workers) work() {
	w.mu.Lock()
	for len(w.queue) > 0 {
		f := w.queue[0]
		w.queue[0] = nil
		w.queue = w.queue[1:]
		w.mu.Unlock()
		f()
		w.mu.Lock()
	}
	w.busy--
	w.mu.Unlock()
}
