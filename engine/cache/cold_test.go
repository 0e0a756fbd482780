package cache

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/spatemq/spate/engine/disk"
)

const chunkSize = 2 * page

// source is a log whose reads finish when the test says so.
type source struct {
	mu    sync.Mutex
	end   map[uint32]uint64 // readable end of each segment
	reads []*pendingRead
	most  int // reads in flight at once
	auto  bool
	total int
}

type pendingRead struct {
	lsn  uint64
	buf  []byte
	done func(error)
}

func at(segment uint32, off int) uint64 { return uint64(segment)<<32 | uint64(off) }

func content(lsn uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		p := lsn + uint64(i)
		b[i] = byte(p ^ p>>8 ^ p>>16 ^ p>>32)
	}
	return b
}

func (s *source) Readable(lsn uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end[uint32(lsn>>32)]
}

func (s *source) StartRead(lsn uint64, buf []byte, done func(error)) {
	s.mu.Lock()
	s.total++
	if s.auto {
		s.mu.Unlock()
		copy(buf, content(lsn, len(buf)))
		done(nil)
		return
	}
	s.reads = append(s.reads, &pendingRead{lsn, buf, done})
	s.most = max(s.most, len(s.reads))
	s.mu.Unlock()
}

func (s *source) set(segment uint32, end int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end[segment] = at(segment, end)
}

// finish ends the oldest read and tells its position.
func (s *source) finish(t *testing.T, err error) uint64 {
	t.Helper()
	s.mu.Lock()
	if len(s.reads) == 0 {
		s.mu.Unlock()
		t.Fatal("no read in flight")
	}
	r := s.reads[0]
	s.reads = s.reads[1:]
	s.mu.Unlock()
	if err == nil {
		copy(r.buf, content(r.lsn, len(r.buf)))
	}
	r.done(err)
	return r.lsn
}

func (s *source) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.reads)
}

func newCold(t *testing.T, chunks, slots int) (*Cold, *source) {
	t.Helper()
	d := disk.NewMem(1)
	s := &source{end: map[uint32]uint64{1: at(1, 64*chunkSize)}}
	c := NewCold(d, s, chunks*chunkSize, chunkSize, slots)
	t.Cleanup(func() { c.Close(); d.Close() })
	return c, s
}

// read is one ReadInto.
type read struct {
	lsn  uint64
	buf  []byte
	done chan error
}

func (c *Cold) readAt(lsn uint64, n int) *read {
	r := &read{lsn, make([]byte, n), make(chan error, 2)}
	c.ReadInto(lsn, r.buf, func(err error) { r.done <- err })
	return r
}

func (r *read) want(t *testing.T, want error) {
	t.Helper()
	select {
	case err := <-r.done:
		if !errors.Is(err, want) {
			t.Fatalf("read at %#x: %v, want %v", r.lsn, err, want)
		}
		if err == nil && !bytes.Equal(r.buf, content(r.lsn, len(r.buf))) {
			t.Fatalf("read at %#x: wrong bytes", r.lsn)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("read at %#x hangs", r.lsn)
	}
}

func (r *read) wantOpen(t *testing.T) {
	t.Helper()
	if len(r.done) > 0 {
		t.Fatalf("read at %#x is over: %v", r.lsn, <-r.done)
	}
}

func TestColdAcrossChunks(t *testing.T) {
	c, s := newCold(t, 4, 1)
	s.auto = true
	c.readAt(at(1, chunkSize-100), 3*chunkSize).want(t, nil)
	c.readAt(at(1, page+5), 40*chunkSize).want(t, nil) // more than the cache holds
	c.readAt(at(1, 7), 0).want(t, nil)
}

func TestColdSharedRead(t *testing.T) {
	c, s := newCold(t, 4, 2)
	a, b := c.readAt(at(1, 10), 20), c.readAt(at(1, 500), 1000)
	a.wantOpen(t)
	s.finish(t, nil)
	a.want(t, nil)
	b.want(t, nil)
	c.readAt(at(1, 0), chunkSize).want(t, nil)
	if st := c.Stats(); s.total != 1 || st.Misses != 1 || st.Hits != 1 || st.ReadBytes != chunkSize {
		t.Fatalf("%d reads, %+v", s.total, st)
	}
}

func TestColdSlots(t *testing.T) {
	c, s := newCold(t, 16, 2)
	var reads []*read
	for i := range 6 {
		reads = append(reads, c.readAt(at(1, i*chunkSize), page))
	}
	if st := c.Stats(); st.Busy != 2 || st.Queued != 4 {
		t.Fatalf("%+v", st)
	}
	for i, r := range reads {
		if lsn := s.finish(t, nil); lsn != at(1, i*chunkSize) {
			t.Fatalf("read %d was at %#x: not in order", i, lsn)
		}
		r.want(t, nil)
	}
	if s.most != 2 {
		t.Fatalf("%d reads at once", s.most)
	}
}

func TestColdEvictsLeastRecentlyUsed(t *testing.T) {
	c, s := newCold(t, 3, 1)
	s.auto = true
	get := func(i, reads int) {
		t.Helper()
		before := s.total
		c.readAt(at(1, i*chunkSize), page).want(t, nil)
		if s.total-before != reads {
			t.Fatalf("chunk %d: %d reads, want %d", i, s.total-before, reads)
		}
	}
	for i := range 3 {
		get(i, 1)
	}
	get(0, 0) // now 1 is the oldest
	get(3, 1)
	get(0, 0)
	get(2, 0)
	get(1, 1)
}

// TestColdGrowingSegment: a chunk that was cut at the end of what was written is
// read again when there is more, also for one who waited for the short reading.
func TestColdGrowingSegment(t *testing.T) {
	c, s := newCold(t, 4, 1)
	s.set(1, page)
	early := c.readAt(at(1, 0), page)
	s.set(1, 2*page)
	late := c.readAt(at(1, page), page) // joins the reading of one page
	s.finish(t, nil)
	early.want(t, nil)
	late.wantOpen(t)
	s.finish(t, nil)
	late.want(t, nil)

	s.set(1, chunkSize+page)
	r := c.readAt(at(1, chunkSize), page)
	s.finish(t, nil)
	r.want(t, nil)
	r = c.readAt(at(1, chunkSize), 2*page) // not written yet
	s.finish(t, nil)
	r.want(t, ErrGone)
	s.set(1, 2*chunkSize)
	r = c.readAt(at(1, chunkSize), 2*page)
	s.finish(t, nil)
	r.want(t, nil)
}

func TestColdReadError(t *testing.T) {
	c, s := newCold(t, 4, 1)
	bad := errors.New("bad sector")
	a, b, other := c.readAt(at(1, 0), 10), c.readAt(at(1, 50), 10), c.readAt(at(1, chunkSize), 10)
	s.finish(t, bad)
	a.want(t, bad)
	b.want(t, bad)
	s.finish(t, nil)
	other.want(t, nil)
	a = c.readAt(at(1, 0), 10)
	s.finish(t, nil)
	a.want(t, nil)
}

func TestColdGone(t *testing.T) {
	c, s := newCold(t, 4, 1)
	c.readAt(at(9, 0), 10).want(t, ErrGone)
	busy, gone, after := c.readAt(at(1, 0), 10), c.readAt(at(9, 0), 10), c.readAt(at(1, chunkSize), 10)
	s.finish(t, nil)
	busy.want(t, nil)
	gone.want(t, ErrGone)
	s.finish(t, nil)
	after.want(t, nil)
}

// TestColdSegmentStart: chunks are counted from the segment's start also where
// their size is no power of two.
func TestColdSegmentStart(t *testing.T) {
	d := disk.NewMem(1)
	defer d.Close()
	s := &source{auto: true, end: map[uint32]uint64{5: at(5, 30*page)}}
	c := NewCold(d, s, 12*page, 3*page, 1)
	defer c.Close()
	c.readAt(at(5, 0), 30*page).want(t, nil)
	c.Prefetch(at(5, 10), page)
}

func TestColdPrefetchBounds(t *testing.T) {
	c, s := newCold(t, 8, 1)
	c.Prefetch(at(1, 100), 30*chunkSize)
	if st := c.Stats(); st.Queued+st.Busy > 5 || st.Busy != 1 {
		t.Fatalf("%+v: more than half of the memory", st)
	}
	r := c.readAt(at(1, 0), chunkSize) // finds the reading that is on its way
	if s.finish(t, nil) != at(1, 0) {
		t.Fatal("wrong order")
	}
	r.want(t, nil)
	for s.inFlight() > 0 {
		s.finish(t, nil)
	}
	total := s.total
	c.Prefetch(at(1, 0), 2*chunkSize) // there already
	if s.total != total || c.Stats().Busy != 0 {
		t.Fatal("read twice")
	}
}

func TestColdClose(t *testing.T) {
	c, s := newCold(t, 4, 1)
	inFlight, queued := c.readAt(at(1, 0), 10), c.readAt(at(1, chunkSize), 10)
	closed := make(chan struct{})
	go func() { c.Close(); close(closed) }()
	for !c.isClosed() {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-closed:
		t.Fatal("closed under a read")
	default:
	}
	s.finish(t, nil)
	<-closed
	inFlight.want(t, nil)
	queued.want(t, disk.ErrClosed)
	c.readAt(at(1, 0), 10).want(t, disk.ErrClosed)
	c.Prefetch(at(1, 0), 10)
	if s.total != 1 {
		t.Fatalf("%d reads", s.total)
	}
}

func (c *Cold) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// noMemory has only so many arenas.
type noMemory struct {
	disk.Dir
	left int
}

var errNoMemory = errors.New("no memory")

func (d *noMemory) Arena(n int) (*disk.Arena, error) {
	if d.left--; d.left < 0 {
		return nil, errNoMemory
	}
	return d.Dir.Arena(n)
}

// TestColdNoMemory: a reader is told; with some memory the cache is only smaller.
func TestColdNoMemory(t *testing.T) {
	for left := range 2 {
		d := &noMemory{disk.NewMem(1), left}
		s := &source{auto: true, end: map[uint32]uint64{1: at(1, 64*chunkSize)}}
		c := NewCold(d, s, 4*chunkSize, chunkSize, 2)
		want := errNoMemory
		if left > 0 {
			want = nil
		}
		c.readAt(at(1, 0), 10).want(t, want)
		c.readAt(at(1, 0), 4*chunkSize).want(t, want)
		c.Close()
		d.Close()
	}
}
