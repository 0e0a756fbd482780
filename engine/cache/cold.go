package cache

import (
	"container/list"
	"errors"
	"fmt"
	"sync"

	"github.com/spatemq/spate/engine/disk"
)

// ErrGone is the error of a read whose segment has been recycled.
var ErrGone = errors.New("log position is gone")

// Source is where a Cold reads from: the log's segments.
type Source interface {
	// StartRead reads len(buf) bytes at position lsn and calls done exactly once
	// on any goroutine. lsn and len(buf) are multiples of disk.BlockSize.
	StartRead(lsn uint64, buf []byte, done func(error))
	// Readable is the position up to which the segment of lsn can be read now,
	// a multiple of disk.BlockSize; 0 when the segment is gone.
	Readable(lsn uint64) uint64
}

// Cold caches what has been read back from the log in chunks of the profile's
// slot size, and is the volume's read scheduler: at most slots chunk reads are
// in flight, in order of arrival, whoever asks. Readers that want the same chunk
// share one read. Readers copy out of a chunk, so that no slow consumer can
// hold the cache's memory.
type Cold struct {
	src        Source
	dir        disk.Dir
	chunkBytes int
	maxChunks  int
	slots      int

	mu     sync.Mutex
	chunks map[uint64]*chunk
	lru    *list.List // of *chunk; front is the oldest; loaded ones only
	queue  []*chunk   // waiting for a slot, in order
	busy   int        // slots in use
	total  int        // arenas made
	free   []*disk.Arena
	closed bool
	idle   *sync.Cond // signalled when busy falls
	stats  ColdStats
}

// ColdStats counts since start, and what is going on now.
type ColdStats struct {
	Hits, Misses, ReadBytes uint64
	Queued, Busy            int
}

// chunk is one aligned range of the log. It is either queued or loading (has
// waiters), or loaded (in the LRU list).
type chunk struct {
	at      uint64 // position of mem.Buf[0]
	mem     *disk.Arena
	valid   int   // bytes loaded
	noMem   error // there was no memory to load it into
	waiters []*coldRead
	elem    *list.Element
}

// coldRead is one ReadInto in progress.
type coldRead struct {
	lsn  uint64
	buf  []byte // what is still to be filled
	done func(error)
}

// NewCold makes a cache of at most totalBytes in chunks of chunkBytes (a
// multiple of disk.BlockSize) with the given number of read slots. Memory is
// taken as it is needed.
func NewCold(dir disk.Dir, src Source, totalBytes, chunkBytes, slots int) *Cold {
	slots = max(slots, 1)
	c := &Cold{src: src, dir: dir, chunkBytes: chunkBytes, slots: slots,
		maxChunks: max(totalBytes/chunkBytes, slots+1), chunks: map[uint64]*chunk{}, lru: list.New()}
	c.idle = sync.NewCond(&c.mu)
	return c
}

// ReadInto fills buf with the log's bytes at position lsn and calls done exactly
// once, on any goroutine, possibly before it returns. buf is the reader's and
// must stay until then.
func (c *Cold) ReadInto(lsn uint64, buf []byte, done func(error)) {
	c.step(&coldRead{lsn: lsn, buf: buf, done: done})
}

// step copies from loaded chunks until one is missing, for which it queues.
func (c *Cold) step(r *coldRead) {
	c.mu.Lock()
	for len(r.buf) > 0 {
		if c.closed {
			c.mu.Unlock()
			r.done(disk.ErrClosed)
			return
		}
		at := c.chunkAt(r.lsn)
		ch := c.chunks[at]
		if ch != nil && ch.elem != nil {
			if r.copyFrom(ch, c.chunkBytes) {
				c.stats.Hits++
				c.lru.MoveToBack(ch.elem)
				continue
			}
			// Loaded while the segment was still growing: read it again.
			c.drop(ch)
			ch = nil
		}
		if ch == nil {
			ch = &chunk{at: at}
			c.chunks[at] = ch
			c.queue = append(c.queue, ch)
			c.stats.Misses++
		}
		ch.waiters = append(ch.waiters, r)
		// The slot goes from one chunk to the next without waiting for a reader
		// to ask again.
		c.queueRange(at+uint64(c.chunkBytes), r.lsn+uint64(len(r.buf)))
		start := c.schedule()
		c.mu.Unlock()
		c.start(start)
		return
	}
	c.mu.Unlock()
	r.done(nil)
}

// Prefetch has n bytes at lsn read ahead, as far as memory allows. A reader that
// comes for them later finds them or waits for the same reading.
func (c *Cold) Prefetch(lsn uint64, n int) {
	c.mu.Lock()
	if !c.closed {
		c.queueRange(c.chunkAt(lsn), lsn+uint64(n))
	}
	start := c.schedule()
	c.mu.Unlock()
	c.start(start)
}

// chunkAt is where the chunk that holds lsn begins. Chunks are counted from the
// start of their segment: one that straddled two of them could not be read.
func (c *Cold) chunkAt(lsn uint64) uint64 {
	return lsn - uint64(uint32(lsn))%uint64(c.chunkBytes)
}

// queueRange queues the chunks from at to end that are neither there nor on
// their way, never more than half of the memory at once.
func (c *Cold) queueRange(at, end uint64) {
	for ; at < end && len(c.queue) < c.maxChunks/2; at += uint64(c.chunkBytes) {
		if c.chunks[at] == nil {
			ch := &chunk{at: at}
			c.chunks[at] = ch
			c.queue = append(c.queue, ch)
		}
	}
}

// copyFrom takes the chunk's part of the wanted range; false if it is not there.
func (r *coldRead) copyFrom(ch *chunk, chunkBytes int) bool {
	from := int(r.lsn - ch.at)
	want := min(len(r.buf), chunkBytes-from)
	if from+want > ch.valid {
		return false
	}
	copy(r.buf[:want], ch.mem.Buf[from:])
	r.buf = r.buf[want:]
	r.lsn += uint64(want)
	return true
}

// drop forgets a loaded chunk and keeps its memory for the next.
func (c *Cold) drop(ch *chunk) {
	c.lru.Remove(ch.elem)
	ch.elem = nil
	delete(c.chunks, ch.at)
	c.free = append(c.free, ch.mem)
	ch.mem = nil
}

// schedule gives queued chunks slots and memory; the caller starts them when it
// has let go of the lock.
func (c *Cold) schedule() []*chunk {
	var start []*chunk
	for c.busy < c.slots && len(c.queue) > 0 {
		mem, err := c.memory()
		if err != nil && c.busy > 0 {
			break // what is being read now will leave its memory
		}
		ch := c.queue[0]
		c.queue[0] = nil
		c.queue = c.queue[1:]
		ch.mem, ch.noMem = mem, err
		c.busy++
		start = append(start, ch)
	}
	return start
}

// memory takes a chunk's memory: unused, new, or the oldest loaded chunk's. There
// are more chunks than slots, so it fails only when the machine has no memory and
// no chunk is loaded.
func (c *Cold) memory() (*disk.Arena, error) {
	var err error
	if len(c.free) == 0 && c.total < c.maxChunks {
		var m *disk.Arena
		if m, err = c.dir.Arena(c.chunkBytes); err == nil {
			c.total++
			return m, nil
		}
	}
	if len(c.free) == 0 {
		e := c.lru.Front()
		if e == nil {
			return nil, err
		}
		c.drop(e.Value.(*chunk))
	}
	n := len(c.free) - 1
	m := c.free[n]
	c.free = c.free[:n]
	return m, nil
}

func (c *Cold) start(chunks []*chunk) {
	for _, ch := range chunks {
		if ch.noMem != nil {
			c.finish(ch, 0, fmt.Errorf("read cache chunk of %d bytes: %w", c.chunkBytes, ch.noMem))
			continue
		}
		end := min(c.src.Readable(ch.at), ch.at+uint64(c.chunkBytes))
		if end <= ch.at {
			c.finish(ch, 0, ErrGone)
			continue
		}
		n := int(end - ch.at)
		c.src.StartRead(ch.at, ch.mem.Buf[:n], func(err error) { c.finish(ch, n, err) })
	}
}

// finish ends a chunk's reading, lets its waiters take what they came for and
// gives the slot to the next.
func (c *Cold) finish(ch *chunk, n int, err error) {
	c.mu.Lock()
	c.busy--
	waiters := ch.waiters
	ch.waiters = nil
	if err != nil {
		delete(c.chunks, ch.at)
		if ch.mem != nil {
			c.free = append(c.free, ch.mem)
		}
		ch.mem = nil
	} else {
		ch.valid = n
		c.stats.ReadBytes += uint64(n)
		ch.elem = c.lru.PushBack(ch)
	}
	short := make([]bool, len(waiters))
	for i, r := range waiters {
		short[i] = err == nil && !r.copyFrom(ch, c.chunkBytes)
	}
	start := c.schedule()
	c.idle.Broadcast()
	c.mu.Unlock()
	c.start(start)
	for i, r := range waiters {
		switch {
		case err != nil:
			r.done(err)
		case short[i] && !c.readable(r):
			r.done(ErrGone)
		default:
			c.step(r)
		}
	}
}

// readable tells whether what r needs next can be read now. The segment may have
// grown since the reading of the chunk that r waited for began.
func (c *Cold) readable(r *coldRead) bool {
	end := min(r.lsn+uint64(len(r.buf)), c.chunkAt(r.lsn)+uint64(c.chunkBytes))
	return c.src.Readable(r.lsn) >= end
}

// Stats returns the counters.
func (c *Cold) Stats() ColdStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Queued, s.Busy = len(c.queue), c.busy
	return s
}

// Close fails what is queued, waits for what is in flight and frees the memory.
func (c *Cold) Close() {
	c.mu.Lock()
	c.closed = true
	queued := c.queue
	c.queue = nil
	for c.busy > 0 {
		c.idle.Wait()
	}
	for e := c.lru.Front(); e != nil; e = c.lru.Front() {
		c.drop(e.Value.(*chunk))
	}
	for _, m := range c.free {
		m.Free()
	}
	c.free = nil
	c.mu.Unlock()
	for _, ch := range queued {
		for _, r := range ch.waiters {
			r.done(disk.ErrClosed)
		}
	}
}
