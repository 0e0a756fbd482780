package commitlog

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/spatemq/spate/engine/cache"
	"github.com/spatemq/spate/engine/disk"
)

// Errors of a log.
var (
	// ErrFailed: a write or sync failed; the volume is out of service until it
	// is opened again.
	ErrFailed = errors.New("commit log has failed")
	// ErrFull: no segment can be had; existing data can be read.
	ErrFull = errors.New("no space for another log segment")
	// ErrClosed: the log is closed.
	ErrClosed = errors.New("commit log is closed")
	// ErrTooLarge: the entry does not fit into a segment.
	ErrTooLarge = errors.New("entry is larger than a segment")
)

// Options of a log. Sizes are in bytes.
type Options struct {
	Dir disk.Dir
	// SegmentBytes is the size of new slot files, 1 MiB to 2 GiB, a multiple of 4096.
	SegmentBytes int64
	// GroupMaxBytes is where a group is cut; one larger entry makes a larger group.
	GroupMaxBytes int
	// GroupsInFlight is how many groups may be on their way to the disk.
	GroupsInFlight int
	// HotBytes of memory hold the tail of the log.
	HotBytes int
	// ColdBytes of memory cache what is read back, in chunks of ReadSlotBytes
	// with ReadSlots reads in flight.
	ColdBytes, ReadSlotBytes, ReadSlots int
	// SpareSegments is how many free slot files are kept for reuse.
	SpareSegments int
	// ReserveBytes of the filesystem stay free: a new slot file is not made past it.
	ReserveBytes uint64
	Logger       *slog.Logger
	// SegmentSealed is called, one at a time and in order, when every block of a
	// segment is complete and no more will be written to it.
	SegmentSealed func(id uint32)
	// Failed is called once when the log goes out of service.
	Failed func(error)
}

// Durability says when an entry is complete.
type Durability uint8

const (
	// Fsync: written and synced. Survives a power cut.
	Fsync Durability = iota
	// Write: written. Survives a killed process.
	Write
	// Memory: in the hot tail. Survives nothing.
	Memory
)

// Entry is one thing to append. The appender fills the first part and must
// leave it, and Payload's bytes, alone until Completed.
type Entry struct {
	Stream       uint64
	BaseOffset   int64
	MaxTimestamp int64
	Span         uint32
	LeaderEpoch  int32
	Kind         Kind
	Durability   Durability
	Payload      []byte
	Owner        Owner

	// LSN is the payload's position, valid from Sealed on.
	LSN uint64
	// Err is why the entry was not stored; valid in Completed.
	Err error
}

// Owner learns what becomes of its entries. The calls for all entries of a log
// come in log order, Sealed calls and Completed calls each from one goroutine
// at a time; they must not block, and may append but not wait.
type Owner interface {
	// Sealed: the entry has a position and its bytes are in the hot tail. Not
	// called for an entry that fails before.
	Sealed(*Entry)
	// Completed: the entry is as durable as it asked for, or Err is set.
	Completed(*Entry)
}

// Log is the commit log of one volume.
type Log struct {
	opt  Options
	hot  *cache.Hot
	cold *cache.Cold
	segs *segments

	mu         sync.Mutex
	pending    []*Entry // control entries first, then the others in order
	controls   int      // control entries in pending
	pendBytes  int64    // of pending payloads
	sealing    bool
	inflight   []*group // in log order
	active     *segment
	next       *segment // prepared; nil while the preparer works
	tail       uint64   // position of the next block
	prev       uint64   // position of the last block
	durable    uint64   // everything below is synced
	complete   uint64   // everything below is written (readable from the disk)
	full       bool
	prefilling bool // zeros are being written to next
	err        error
	closed     bool
	started    bool

	deliver    []delivery
	delivering bool

	prepare chan struct{}
	stop    chan struct{}
	wg      sync.WaitGroup
	groups  sync.Pool
	stats   Stats
}

// Stats counts since start. Bytes are those of blocks, padding included.
type Stats struct {
	Groups, Entries, Bytes, PayloadBytes, Syncs uint64
	Pending, InFlight                           int
	PendingBytes                                int64
	Segments, FreeSegments                      int
	Cold                                        cache.ColdStats
}

// Tail is the position of the next block.
func (l *Log) Tail() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tail
}

// Err is why the log is out of service, nil if it is not.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Stats returns the counters.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	s := l.stats
	s.Pending, s.PendingBytes, s.InFlight = len(l.pending), l.pendBytes, len(l.inflight)
	l.mu.Unlock()
	s.Segments, s.FreeSegments = l.segs.count()
	s.Cold = l.cold.Stats()
	return s
}

// controlReserve is the part of the last segment that a full disk leaves to
// control entries: without them nothing could be deleted to make space.
const controlReserve = 256 << 10

// Admit tells whether an entry of n payload bytes may be appended now: nil, or
// ErrFull, ErrFailed, ErrClosed or ErrTooLarge. To be asked before offsets are given out,
// since an entry that has one is never refused for space.
func (l *Log) Admit(n int, control bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		return l.err
	case l.closed:
		return ErrClosed
	case int64(n) > l.opt.SegmentBytes-segHeadBytes-2*align:
		return ErrTooLarge
	case !l.full || l.next != nil:
		return nil
	}
	room := l.active.bytes - int64(Offset(l.tail)) - int64(2*align) - int64(n)
	// Every pending entry may become a block of its own.
	if control {
		room -= int64(l.controls) * align
	} else {
		room -= controlReserve + l.pendBytes + int64(len(l.pending))*align
	}
	if room < 0 {
		return ErrFull
	}
	return nil
}

// Append queues an entry; Kick must follow, once for any number of entries,
// without locks that an Owner takes. Batches of one stream are stored in the order
// of their Append calls. Control entries overtake what is queued: on a full disk
// they are what makes space.
func (l *Log) Append(e *Entry) {
	l.mu.Lock()
	err := l.err
	if err == nil && l.closed {
		err = ErrClosed
	}
	if err != nil {
		e.Err = err
		l.deliver = append(l.deliver, delivery{one: e})
		l.mu.Unlock()
		return
	}
	if e.Kind == KindLogStart {
		l.pending = slices.Insert(l.pending, l.controls, e)
		l.controls++
	} else {
		l.pending = append(l.pending, e)
	}
	l.pendBytes += int64(len(e.Payload))
	l.mu.Unlock()
}

// Kick seals and submits groups as far as groups in flight, memory and segments
// allow, on the calling goroutine. It never waits for the disk.
func (l *Log) Kick() {
	l.mu.Lock()
	for !l.sealing && l.started && l.err == nil && len(l.pending) > 0 && len(l.inflight) < l.opt.GroupsInFlight {
		l.sealing = true
		ok := l.sealOne()
		l.sealing = false
		if !ok {
			break
		}
	}
	l.mu.Unlock()
	l.runDeliveries()
}

// sealOne makes one group of what is pending and submits it. Called with mu,
// which it gives up while it copies. False when there is no room.
func (l *Log) sealOne() bool {
	n, size := l.measure(len(l.pending))
	if !l.fits(size, l.controls < n) && !l.rollSegment() {
		// No segment is ready: what makes space goes all the same.
		if n, size = l.measure(l.controls); n == 0 || !l.fits(size, false) {
			return false
		}
	}
	lsn := l.tail
	buf, slab := l.hot.Reserve(lsn, size)
	if buf == nil {
		return false
	}
	g := l.newGroup(lsn, buf, slab, n)
	l.tail, l.prev = lsn+uint64(size), lsn
	durable := l.durable
	l.inflight = append(l.inflight, g)
	l.stats.Groups++
	l.stats.Entries += uint64(n)
	l.stats.Bytes += uint64(size)
	l.mu.Unlock()

	payload := g.build(l.segs.nonce, durable)
	for _, e := range g.entries {
		e.Owner.Sealed(e)
	}
	g.op.Kind = disk.OpWrite
	if g.sync {
		g.op.Kind = disk.OpWriteSync
	}

	l.mu.Lock()
	l.stats.PayloadBytes += uint64(payload)
	if g.sync {
		l.stats.Syncs++
	}
	if g.memory {
		l.deliver = append(l.deliver, delivery{group: g.hold(), stage: Memory})
	}
	l.mu.Unlock()
	l.opt.Dir.Submit(&g.op)
	l.mu.Lock()
	return true
}

// fits tells whether a block goes into the active segment. While no other one is
// ready the last part of it is kept for control entries.
func (l *Log) fits(size int, ordinary bool) bool {
	room := l.active.bytes - int64(Offset(l.tail))
	if ordinary && l.next == nil {
		room -= controlReserve
	}
	return int64(size) <= room
}

// measure tells how many of the first most pending entries the next group takes
// and the size of their block.
func (l *Log) measure(most int) (n, size int) {
	bytes := 0
	for n < most {
		p := len(l.pending[n].Payload)
		if n > 0 && overhead(n+1)+bytes+p > l.opt.GroupMaxBytes {
			break
		}
		bytes += p
		n++
	}
	return n, roundUp(overhead(n) + bytes)
}

func (l *Log) newGroup(lsn uint64, buf []byte, slab *cache.Slab, n int) *group {
	g := l.groups.Get().(*group)
	g.entries = append(g.entries[:0], l.pending[:n]...)
	rest := copy(l.pending, l.pending[n:])
	clear(l.pending[rest:])
	l.pending = l.pending[:rest]
	l.controls -= min(l.controls, n)
	for _, e := range g.entries {
		l.pendBytes -= int64(len(e.Payload))
	}
	g.log, g.lsn, g.prev, g.block, g.slab = l, lsn, l.prev, buf, slab
	g.done, g.err, g.holds = false, nil, 1
	g.op = disk.Op{File: l.active.file, Buf: buf, Off: int64(Offset(lsn)), Done: groupDone, Written: groupWritten, User: g}
	return g
}

// rollSegment moves the tail to the prepared segment; false if it is not ready.
func (l *Log) rollSegment() bool {
	if l.next == nil || l.prefilling {
		return false
	}
	l.active, l.next = l.next, nil
	l.tail = LSN(l.active.id, segHeadBytes)
	select {
	case l.prepare <- struct{}{}:
	default:
	}
	return true
}

// finished takes note of a group that the disk is done with and passes on what
// is complete up to there, in order.
func (l *Log) finished(g *group) {
	l.mu.Lock()
	g.done = true
	if g.err != nil && l.err == nil {
		l.failLocked(g.err)
	}
	k := 0
	for ; k < len(l.inflight) && l.inflight[k].done; k++ {
		h := l.inflight[k]
		if l.err != nil {
			// Also what came through after a failure: the log has a hole before it.
			h.err = l.err
		} else {
			l.advance(h)
		}
		l.deliver = append(l.deliver, delivery{group: h, stage: Fsync})
	}
	rest := copy(l.inflight, l.inflight[k:])
	clear(l.inflight[rest:])
	l.inflight = l.inflight[:rest]
	l.mu.Unlock()
	l.Kick()
}

func (l *Log) advance(h *group) {
	end := h.lsn + uint64(len(h.block))
	if was := Segment(l.complete); was != Segment(end) {
		l.deliver = append(l.deliver, delivery{sealed: was})
	}
	l.complete = end
	if h.sync {
		l.durable = end
	}
}

// written lets entries that only ask for it complete before the sync, provided
// that nothing before them is still open.
func (l *Log) written(g *group) {
	l.mu.Lock()
	if len(l.inflight) > 0 && l.inflight[0] == g && l.err == nil && g.write {
		l.deliver = append(l.deliver, delivery{group: g.hold(), stage: Write})
	}
	l.mu.Unlock()
	l.runDeliveries()
}

// failLocked takes the log out of service.
func (l *Log) failLocked(cause error) {
	l.err = fmt.Errorf("%w: %w", ErrFailed, cause)
	l.opt.Logger.Error("commit log is out of service; restart spate when the disk is well again",
		"dir", l.opt.Dir.Path(), "error", cause)
	for _, e := range l.pending {
		e.Err = l.err
		l.deliver = append(l.deliver, delivery{one: e})
	}
	l.pending, l.pendBytes, l.controls = nil, 0, 0
	l.deliver = append(l.deliver, delivery{failed: l.err})
}

// Sync appends nothing but waits until everything appended before is complete.
func (l *Log) Sync(timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		l.mu.Lock()
		idle, err := len(l.pending) == 0 && len(l.inflight) == 0 && len(l.deliver) == 0 && !l.delivering, l.err
		l.mu.Unlock()
		if err != nil {
			return err
		}
		if idle {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("commit log in %s still busy after %v", l.opt.Dir.Path(), timeout)
		}
		l.Kick()
		time.Sleep(time.Millisecond)
	}
}

// Close waits for groups in flight, fails what is still pending and closes the
// files. No read may be in progress.
func (l *Log) Close() error {
	err := l.Sync(10 * time.Second)
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	for _, e := range l.pending {
		e.Err = ErrClosed
		l.deliver = append(l.deliver, delivery{one: e})
	}
	l.pending = nil
	l.mu.Unlock()
	l.runDeliveries()
	close(l.stop)
	l.wg.Wait()
	l.cold.Close()
	for !l.quiet() {
		time.Sleep(time.Millisecond)
	}
	l.hot.Close()
	l.segs.close()
	return err
}

func (l *Log) quiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.inflight) == 0
}
