package cache

import (
	"fmt"
	"sort"
	"sync"

	"github.com/spatemq/spate/engine/disk"
)

// Hot is the tail of one log in memory. The log's writer builds blocks in it
// and writes them to the disk from there; readers at the tail get references to
// the same bytes. Memory is divided into slabs, each of which mirrors one
// contiguous range of the log, so that many small blocks share a slab.
//
// The oldest slab without references is reused first. When all slabs are
// referenced, extra ones are made up to a limit; past it Reserve refuses and
// onFree is called when memory has come back.
type Hot struct {
	dir       disk.Dir
	slabBytes int
	maxSlabs  int
	onFree    func()

	mu      sync.Mutex
	arena   *disk.Arena
	free    [][]byte // slabs of the arena not in use
	live    []*Slab  // ascending base
	extra   int      // bytes of slabs outside the arena
	starved bool
}

// Slab is a reference-counted piece of a Hot. A reference keeps the bytes
// from being reused.
type Slab struct {
	h     *Hot
	base  uint64 // position of buf[0]
	buf   []byte
	used  int
	refs  int
	arena *disk.Arena // of its own, for extra and oversize slabs
	dead  bool        // no longer in live; memory goes back with the last reference
}

// NewHot takes totalBytes of memory from dir in slabs of slabBytes (both
// multiples of disk.BlockSize). onFree is called, without locks, when memory
// has come back after Reserve refused.
func NewHot(dir disk.Dir, totalBytes, slabBytes int, onFree func()) (*Hot, error) {
	n := max(totalBytes/slabBytes, 2)
	a, err := dir.Arena(n * slabBytes)
	if err != nil {
		return nil, fmt.Errorf("hot cache of %d bytes: %w", n*slabBytes, err)
	}
	h := &Hot{dir: dir, slabBytes: slabBytes, maxSlabs: n, onFree: onFree, arena: a}
	for i := n - 1; i >= 0; i-- {
		h.free = append(h.free, a.Buf[i*slabBytes:(i+1)*slabBytes:(i+1)*slabBytes])
	}
	return h, nil
}

// Reserve gives n bytes to build the block that will stand at position lsn, with
// a reference that the writer releases when the block is on the disk. It
// returns nil when all memory is referenced. One caller at a time, positions
// ascending.
func (h *Hot) Reserve(lsn uint64, n int) ([]byte, *Slab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.live) > 0 {
		s := h.live[len(h.live)-1]
		if s.base+uint64(s.used) == lsn && s.used+n <= len(s.buf) {
			return s.take(n), s
		}
	}
	if k := len(h.live); k > 0 && h.live[k-1].refs == 0 && h.live[k-1].arena != nil {
		// Kept only as the newest. It must go before its memory is counted against
		// the new one, or nothing would ever give it back.
		h.drop(h.live[k-1])
	}
	s := h.newSlab(n)
	if s == nil {
		h.starved = true
		return nil, nil
	}
	s.base = lsn
	h.live = append(h.live, s)
	return s.take(n), s
}

func (s *Slab) take(n int) []byte {
	b := s.buf[s.used : s.used+n : s.used+n]
	s.used += n
	s.refs++
	return b
}

func (h *Hot) newSlab(n int) *Slab {
	if n > h.slabBytes {
		return h.extraSlab((n + disk.BlockSize - 1) &^ (disk.BlockSize - 1))
	}
	if len(h.free) == 0 {
		h.evict()
	}
	if k := len(h.free); k > 0 {
		s := &Slab{h: h, buf: h.free[k-1]}
		h.free = h.free[:k-1]
		return s
	}
	return h.extraSlab(h.slabBytes)
}

// extraSlab makes a slab outside the arena. Together such slabs take no more
// memory than the arena, but one is always allowed: a block may be larger.
func (h *Hot) extraSlab(n int) *Slab {
	if h.extra > 0 && h.extra+n > h.maxSlabs*h.slabBytes {
		return nil
	}
	a, err := h.dir.Arena(n)
	if err != nil {
		return nil
	}
	h.extra += n
	return &Slab{h: h, buf: a.Buf, arena: a}
}

// evict retires the oldest slab that nobody refers to, never the newest one,
// which the writer may still extend.
func (h *Hot) evict() {
	for i := 0; i < len(h.live)-1; i++ {
		if s := h.live[i]; s.refs == 0 {
			h.live = append(h.live[:i], h.live[i+1:]...)
			h.retire(s)
			return
		}
	}
}

func (h *Hot) retire(s *Slab) {
	s.dead = true
	if s.refs > 0 {
		return
	}
	if s.arena != nil {
		h.extra -= len(s.buf)
		s.arena.Free()
	} else {
		h.free = append(h.free, s.buf)
	}
	s.buf = nil
}

// Get returns a reference to n bytes at position lsn, or nil when they are not
// (all) in memory.
func (h *Hot) Get(lsn uint64, n int) ([]byte, *Slab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := sort.Search(len(h.live), func(i int) bool { return h.live[i].base > lsn }) - 1
	if i < 0 {
		return nil, nil
	}
	s := h.live[i]
	from := lsn - s.base
	if from+uint64(n) > uint64(s.used) {
		return nil, nil
	}
	s.refs++
	return s.buf[from : from+uint64(n) : from+uint64(n)], s
}

// Has tells whether n bytes at lsn are in memory, without taking a reference.
func (h *Hot) Has(lsn uint64, n int) bool {
	b, s := h.Get(lsn, n)
	if s != nil {
		s.Release()
	}
	return b != nil
}

// Release gives one reference back.
func (s *Slab) Release() {
	h := s.h
	h.mu.Lock()
	if s.refs--; s.refs < 0 {
		h.mu.Unlock()
		panic("BUG: slab released twice")
	}
	wake := false
	if s.refs == 0 {
		if s.dead {
			h.retire(s)
		} else if s.arena != nil && len(h.live) > 0 && h.live[len(h.live)-1] != s {
			h.drop(s)
		}
		wake = h.starved
		h.starved = false
	}
	h.mu.Unlock()
	if wake && h.onFree != nil {
		h.onFree()
	}
}

// drop retires an extra slab early: extra memory is only for emergencies.
func (h *Hot) drop(s *Slab) {
	for i, t := range h.live {
		if t == s {
			h.live = append(h.live[:i], h.live[i+1:]...)
			h.retire(s)
			return
		}
	}
}

// Close frees all memory. No reference may be left.
func (h *Hot) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.live {
		if s.arena != nil {
			s.arena.Free()
		}
	}
	h.live, h.free = nil, nil
	h.arena.Free()
}
