package commitlog

import (
	"hash/crc32"
	"slices"
	"time"

	"github.com/spatemq/spate/engine/cache"
	"github.com/spatemq/spate/engine/disk"
)

// group is one block on its way to the disk.
type group struct {
	log       *Log
	entries   []*Entry
	lsn, prev uint64
	block     []byte
	slab      *cache.Slab
	op        disk.Op
	sync      bool // synced, not only written
	write     bool // has entries that complete when written
	memory    bool // has entries that complete when sealed
	done      bool // the disk is through with it
	err       error
	holds     int // deliveries that still look at it, under log.mu
}

// build lays the block out: entries sorted by stream, in order of arrival
// within one, so that each partition has one run.
func (g *group) build(nonce, durable uint64) (payload int) {
	g.sync, g.write, g.memory = false, false, false
	if len(g.entries) > 1 {
		slices.SortStableFunc(g.entries, func(a, b *Entry) int {
			switch {
			case a.Stream < b.Stream:
				return -1
			case a.Stream > b.Stream:
				return 1
			}
			return 0
		})
	}
	b := g.block
	dirEnd := headerBytes + len(g.entries)*entryBytes
	pos := dirEnd
	for i, e := range g.entries {
		n := copy(b[pos:], e.Payload)
		d := DirEntry{Stream: e.Stream, BaseOffset: e.BaseOffset, MaxTimestamp: e.MaxTimestamp,
			Pos: uint32(pos), Bytes: uint32(n), Span: e.Span, LeaderEpoch: e.LeaderEpoch, Kind: e.Kind,
			CRC: crc32.Checksum(b[pos:pos+n], castagnoli)}
		d.put(b[headerBytes+i*entryBytes:])
		e.LSN = g.lsn + uint64(pos)
		payload += n
		g.sync = g.sync || e.Durability == Fsync
		g.write = g.write || e.Durability == Write
		g.memory = g.memory || e.Durability == Memory
		pos += n
	}
	dir := b[headerBytes:dirEnd]
	trail := b[len(b)-headerBytes:]
	again := b[len(b)-headerBytes-len(dir) : len(b)-headerBytes]
	clear(b[pos : len(b)-headerBytes-len(dir)])
	copy(again, dir)
	h := blockHead{lsn: g.lsn, durable: durable, prev: g.prev, bytes: uint32(len(b)),
		entries: uint32(len(g.entries)), sealed: time.Now().UnixMilli()}
	h.put(b, magicHead, nonce, dir)
	h.put(trail, magicTrail, nonce, dir)
	return payload
}

func (g *group) hold() *group { g.holds++; return g }

func groupDone(op *disk.Op) {
	g := op.User.(*group)
	g.err = op.Err
	g.log.finished(g)
}

func groupWritten(op *disk.Op) {
	g := op.User.(*group)
	g.log.written(g)
}

// delivery is one message to owners, in log order.
type delivery struct {
	group  *group // complete entries of this group that ask for stage or less
	stage  Durability
	one    *Entry // a failed entry
	sealed uint32 // a segment is complete
	failed error  // the log is out of service
}

// runDeliveries passes messages on, in order, unless another goroutine is at it.
func (l *Log) runDeliveries() {
	l.mu.Lock()
	if l.delivering {
		l.mu.Unlock()
		return
	}
	l.delivering = true
	var batch []delivery
	for len(l.deliver) > 0 {
		batch, l.deliver = l.deliver, batch[:0]
		l.mu.Unlock()
		for i := range batch {
			l.deliverOne(&batch[i])
			batch[i] = delivery{}
		}
		l.mu.Lock()
	}
	if cap(batch) > cap(l.deliver) {
		l.deliver = batch[:0]
	}
	l.delivering = false
	l.mu.Unlock()
}

func (l *Log) deliverOne(d *delivery) {
	switch {
	case d.group != nil:
		g := d.group
		for i, e := range g.entries {
			// An owner may reuse a completed entry at once: look at each once.
			if e == nil || e.Durability < d.stage {
				continue
			}
			g.entries[i] = nil
			// Before the final stage the disk may still be setting the group's error.
			if d.stage == Fsync {
				e.Err = g.err
			}
			e.Owner.Completed(e)
		}
		l.release(g, d.stage == Fsync)
	case d.one != nil:
		d.one.Owner.Completed(d.one)
	case d.failed != nil:
		if l.opt.Failed != nil {
			l.opt.Failed(d.failed)
		}
	default:
		l.segs.mu.Lock()
		g := l.segs.byID[d.sealed]
		l.segs.mu.Unlock()
		l.segs.unuse(g)
		if l.opt.SegmentSealed != nil {
			l.opt.SegmentSealed(d.sealed)
		}
	}
}

// release gives a group back when its last delivery is through. The slab goes
// with the final one, when the disk no longer reads it.
func (l *Log) release(g *group, final bool) {
	if final {
		g.slab.Release()
		g.slab = nil
	}
	l.mu.Lock()
	g.holds--
	free := g.holds == 0
	l.mu.Unlock()
	if free {
		clear(g.entries)
		g.block = nil
		l.groups.Put(g)
	}
}
