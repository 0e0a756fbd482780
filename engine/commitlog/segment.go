package commitlog

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spatemq/spate/engine/disk"
)

const logDir = "log"

// maxOpenSegments bounds the slot files that are open for reading at a time.
const maxOpenSegments = 64

// segment is one slot file that is in use.
type segment struct {
	slot  int
	id    uint32
	bytes int64

	// Under segments.mu:
	file  disk.File
	uses  int  // reads in flight, and 1 while the writer has it
	dying bool // freed as soon as uses is 0
	used  uint64
	freed func()
}

// segments is the table of slot files.
type segments struct {
	dir   disk.Dir
	nonce uint64

	mu       sync.Mutex
	byID     map[uint32]*segment
	free     []freeSlot
	nextSlot int
	nextID   uint32
	open     int
	clock    uint64
}

type freeSlot struct {
	slot  int
	bytes int64
}

func slotName(slot int) string { return path.Join(logDir, fmt.Sprintf("%06d.seg", slot)) }

// DamagedSlot is a slot file whose header cannot be read.
type DamagedSlot struct {
	Name string
	Err  error
}

// loadSegments reads the headers of all slot files.
func loadSegments(dir disk.Dir) (*segments, []DamagedSlot, error) {
	s := &segments{dir: dir, byID: map[uint32]*segment{}, nextID: 1}
	if err := dir.MkdirAll(logDir); err != nil {
		return nil, nil, err
	}
	if err := dir.SyncDir(""); err != nil {
		return nil, nil, err
	}
	list, err := dir.List(logDir)
	if err != nil {
		return nil, nil, err
	}
	mem, err := dir.Arena(2 * align)
	if err != nil {
		return nil, nil, err
	}
	defer mem.Free()
	var damaged []int
	sizes := map[int]int64{}
	for _, e := range list {
		slot, ok := parseSlotName(e.Name)
		if !ok {
			continue
		}
		s.nextSlot = max(s.nextSlot, slot+1)
		sizes[slot] = e.Size
		bad, err := s.loadSlot(slot, e.Size, mem.Buf)
		if err != nil {
			return nil, nil, err
		}
		if bad {
			damaged = append(damaged, slot)
		}
	}
	if s.nonce == 0 {
		var b [8]byte
		rand.Read(b[:])
		s.nonce = binary.LittleEndian.Uint64(b[:]) | 1
	}
	return s, s.salvage(damaged, sizes, mem.Buf), nil
}

func parseSlotName(name string) (int, bool) {
	base, ok := strings.CutSuffix(name, ".seg")
	n, err := strconv.Atoi(base)
	return n, ok && err == nil && n >= 0
}

// loadSlot reads one slot's header; bad means that it makes no sense.
func (s *segments) loadSlot(slot int, size int64, buf []byte) (bad bool, err error) {
	if size < segHeadBytes {
		// Made but not filled when spate was killed: no block can be in it.
		s.free = append(s.free, freeSlot{slot, size})
		return false, nil
	}
	f, err := s.dir.Open(slotName(slot), disk.Direct)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.ReadAt(buf[:segHeadBytes], 0); err != nil {
		return true, nil
	}
	var h segHead
	switch err := h.decode(buf); {
	case errors.Is(err, ErrNewerFormat):
		return false, fmt.Errorf("%s: %w", slotName(slot), err)
	case err != nil && allZero(buf[:segHeadBytes]):
		s.free = append(s.free, freeSlot{slot, size})
		return false, nil
	case err != nil:
		return true, nil
	}
	s.nonce = h.nonce
	if h.id == 0 {
		s.free = append(s.free, freeSlot{slot, size})
		return false, nil
	}
	s.nextID = max(s.nextID, h.id+1)
	s.byID[h.id] = &segment{slot: slot, id: h.id, bytes: size &^ (align - 1)}
	return false, nil
}

// salvage finds the id of a slot with a damaged header from its first block.
func (s *segments) salvage(slots []int, sizes map[int]int64, buf []byte) (bad []DamagedSlot) {
	for _, slot := range slots {
		err := func() error {
			f, err := s.dir.Open(slotName(slot), disk.Direct)
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := f.ReadAt(buf[:align], segHeadBytes); err != nil {
				return err
			}
			lsn := le.Uint64(buf[8:])
			if _, _, err := parseHead(buf[:align], lsn, s.nonce); err != nil || Offset(lsn) != segHeadBytes {
				return errBadSegment
			}
			id := Segment(lsn)
			if s.byID[id] != nil {
				return errBadSegment
			}
			s.nextID = max(s.nextID, id+1)
			s.byID[id] = &segment{slot: slot, id: id, bytes: sizes[slot] &^ (align - 1)}
			return nil
		}()
		if err != nil {
			bad = append(bad, DamagedSlot{slotName(slot), err})
		}
	}
	return bad
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// ids lists the segments in order.
func (s *segments) ids() []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]uint32, 0, len(s.byID))
	for id := range s.byID {
		out = append(out, id)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func (s *segments) count() (used, free int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID), len(s.free)
}

// use opens a segment for one more read; nil when it is gone.
func (s *segments) use(id uint32) (*segment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.byID[id]
	if g == nil || g.dying {
		return nil, nil
	}
	if g.file == nil {
		if err := s.openLocked(g); err != nil {
			return nil, err
		}
	}
	g.uses++
	s.clock++
	g.used = s.clock
	return g, nil
}

// openLocked opens a slot file, closing the one that was not read for longest
// when there are too many.
func (s *segments) openLocked(g *segment) error {
	if s.open >= maxOpenSegments {
		var oldest *segment
		for _, o := range s.byID {
			if o.file != nil && o.uses == 0 && (oldest == nil || o.used < oldest.used) {
				oldest = o
			}
		}
		if oldest != nil {
			oldest.file.Close()
			oldest.file = nil
			s.open--
		}
	}
	f, err := s.dir.Open(slotName(g.slot), disk.Direct)
	if err != nil {
		return err
	}
	g.file = f
	s.open++
	return nil
}

func (s *segments) unuse(g *segment) {
	s.mu.Lock()
	g.uses--
	var f func()
	if g.uses == 0 && g.dying {
		f, g.freed = g.freed, nil
	}
	s.mu.Unlock()
	if f != nil {
		f()
	}
}

// create makes the next segment ready to be written: from a free slot, or as a
// new slot file of size bytes, fresh. Its header is durable when create returns.
func (s *segments) create(size int64, reserve uint64) (g *segment, fresh bool, err error) {
	s.mu.Lock()
	id := s.nextID
	s.nextID++
	slot := -1
	if n := len(s.free); n > 0 {
		slot, size = s.free[n-1].slot, max(s.free[n-1].bytes, size)
		fresh = s.free[n-1].bytes < size
		s.free = s.free[:n-1]
	}
	s.mu.Unlock()
	g = &segment{slot: slot, id: id, bytes: size, uses: 1}
	if slot < 0 {
		fresh = true
		g.file, err = s.newSlot(g, reserve)
	} else {
		g.file, err = s.dir.Open(slotName(slot), disk.Direct)
		if err == nil && fresh {
			err = g.file.Allocate(size)
		}
	}
	if err == nil {
		err = s.writeHead(g.file, id, g.bytes)
	}
	if err != nil {
		if g.file != nil {
			g.file.Close()
		}
		s.giveBack(g, slot >= 0)
		return nil, false, err
	}
	s.mu.Lock()
	s.byID[id] = g
	s.open++
	s.mu.Unlock()
	return g, fresh, nil
}

func (s *segments) giveBack(g *segment, reused bool) {
	if reused {
		s.mu.Lock()
		s.free = append(s.free, freeSlot{g.slot, 0})
		s.mu.Unlock()
	} else if g.slot >= 0 {
		s.dir.Remove(slotName(g.slot))
	}
}

func (s *segments) newSlot(g *segment, reserve uint64) (disk.File, error) {
	u, err := s.dir.Usage()
	if err != nil {
		return nil, err
	}
	if u.Free < reserve+uint64(g.bytes) {
		return nil, fmt.Errorf("%w: %d MiB free, a segment takes %d MiB and %d MiB stay in reserve",
			disk.ErrNoSpace, u.Free>>20, g.bytes>>20, reserve>>20)
	}
	s.mu.Lock()
	g.slot = s.nextSlot
	s.nextSlot++
	s.mu.Unlock()
	f, err := s.dir.Create(slotName(g.slot), disk.Direct)
	if err != nil {
		return nil, err
	}
	if err := f.Allocate(g.bytes); err != nil {
		return f, err
	}
	return f, s.dir.SyncDir(logDir)
}

// writeHead makes a slot belong to segment id (0: free), durably.
func (s *segments) writeHead(f disk.File, id uint32, size int64) error {
	mem, err := s.dir.Arena(align)
	if err != nil {
		return err
	}
	defer mem.Free()
	h := segHead{nonce: s.nonce, id: id, bytes: uint64(size), created: time.Now().UnixMilli()}
	h.encode(mem.Buf)
	if _, err := f.WriteAt(mem.Buf[:segHeadBytes], 0); err != nil {
		return err
	}
	return f.Sync()
}

// recycle frees a segment's slot as soon as nobody reads it: keeps the file
// while there are fewer than spare free ones, else gives its space back. done
// is called when that has happened.
func (s *segments) recycle(id uint32, spare int, done func(error)) {
	s.mu.Lock()
	g := s.byID[id]
	if g == nil || g.dying {
		s.mu.Unlock()
		done(nil)
		return
	}
	g.dying = true
	finish := func() { done(s.release(g, spare)) }
	if g.uses > 0 {
		g.freed = finish
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	finish()
}

func (s *segments) release(g *segment, spare int) error {
	s.mu.Lock()
	f := g.file
	g.file = nil
	if f != nil {
		s.open--
	}
	keep := len(s.free) < spare
	s.mu.Unlock()
	var err error
	if f == nil {
		if f, err = s.dir.Open(slotName(g.slot), disk.Direct); err != nil {
			return err
		}
	}
	err = s.writeHead(f, 0, g.bytes)
	f.Close()
	if err != nil {
		return err
	}
	if !keep {
		if err = s.dir.Remove(slotName(g.slot)); err == nil {
			err = s.dir.SyncDir(logDir)
		}
	}
	s.mu.Lock()
	delete(s.byID, g.id)
	if keep {
		s.free = append(s.free, freeSlot{g.slot, g.bytes})
	}
	s.mu.Unlock()
	return err
}

func (s *segments) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.byID {
		if g.file != nil {
			g.file.Close()
			g.file = nil
		}
	}
}
