package commitlog

import (
	"fmt"
	"log/slog"

	"github.com/spatemq/spate/engine/cache"
)

// Open reads the headers of the log's segments. Recover and then Start must
// follow before anything is appended or read.
func Open(o Options) (*Log, error) {
	if o.SegmentBytes < 1<<20 || o.SegmentBytes > 2<<30 || o.SegmentBytes%align != 0 {
		return nil, fmt.Errorf("segment size %d: must be 1 MiB to 2 GiB and a multiple of %d", o.SegmentBytes, align)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.GroupsInFlight = max(o.GroupsInFlight, 1)
	o.GroupMaxBytes = max(o.GroupMaxBytes, align)
	l := &Log{opt: o, prepare: make(chan struct{}, 1), stop: make(chan struct{})}
	l.groups.New = func() any { return new(group) }
	segs, damaged, err := loadSegments(o.Dir)
	if err != nil {
		return nil, err
	}
	for _, d := range damaged {
		o.Logger.Error("segment header is damaged and its segment unknown; what it held is lost", "file", d.Name, "error", d.Err)
	}
	l.segs = segs
	slab := max(1<<20, roundUp(o.GroupMaxBytes))
	if l.hot, err = cache.NewHot(o.Dir, o.HotBytes, slab, l.Kick); err != nil {
		return nil, err
	}
	l.cold = cache.NewCold(o.Dir, l, o.ColdBytes, roundUp(max(o.ReadSlotBytes, 64<<10)), o.ReadSlots)
	return l, nil
}

// Start makes the first segments ready and lets appends begin.
func (l *Log) Start() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == nil {
		g, _, err := l.segs.create(l.opt.SegmentBytes, l.opt.ReserveBytes)
		if err != nil {
			return fmt.Errorf("first log segment in %s: %w", l.opt.Dir.Path(), err)
		}
		l.active = g
		l.tail = LSN(g.id, segHeadBytes)
		l.complete, l.durable = l.tail, l.tail
	}
	l.started = true
	l.wg.Add(1)
	go l.preparer()
	return nil
}

// Segments lists the ids of the segments in use, oldest first.
func (l *Log) Segments() []uint32 { return l.segs.ids() }

// SegmentBytes is the size of a segment's slot file; 0 if it is not in use.
func (l *Log) SegmentBytes(id uint32) int64 {
	l.segs.mu.Lock()
	defer l.segs.mu.Unlock()
	if g := l.segs.byID[id]; g != nil {
		return g.bytes
	}
	return 0
}

// ActiveSegment is the id of the segment that is written now.
func (l *Log) ActiveSegment() uint32 { return Segment(l.Tail()) }

// Recycle gives a dead segment's space back: all its entries must be
// unreachable for good, durably. done is called once no reader is left
// and the slot is free; with an error the segment stays as it is until restart.
func (l *Log) Recycle(id uint32, done func(error)) {
	l.segs.recycle(id, l.opt.SpareSegments, func(err error) {
		if err == nil {
			select {
			case l.prepare <- struct{}{}:
			default:
			}
		}
		done(err)
	})
}
