package commitlog

import (
	"log/slog"

	"github.com/spatemq/spate/engine/disk"
)

// Scan reads every block of the log in dir, in order, and changes nothing.
// progress, if not nil, is called with the bytes of each segment when it has
// been read. The log must not be open.
func Scan(dir disk.Dir, fn func(*Block), progress func(segment uint32, bytes int64)) (Report, []DamagedSlot, error) {
	segs, damaged, err := loadSegments(dir)
	if err != nil {
		return Report{}, nil, err
	}
	l := &Log{opt: Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)}, segs: segs}
	ids := segs.ids()
	rep := Report{Segments: len(ids)}
	r := &reader{l: l}
	defer r.close()
	firsts := make([]blockHead, len(ids))
	for i, id := range ids {
		if firsts[i], err = r.firstBlock(id); err != nil {
			return rep, damaged, err
		}
	}
	var prev uint64
	for i, id := range ids {
		var follow blockHead
		for j := i + 1; j < len(ids) && follow.bytes == 0; j++ {
			follow = firsts[j]
		}
		s := &scanner{r: r, seg: id, follow: follow, rep: &rep, fn: fn, prev: prev, look: true}
		if err := s.run(); err != nil {
			return rep, damaged, err
		}
		prev = s.prev
		rep.Scanned++
		if progress != nil {
			progress(id, l.SegmentBytes(id))
		}
		if s.cut != 0 {
			break
		}
	}
	return rep, damaged, nil
}

// TotalBytes is the size of all segments in dir, for a progress display.
func TotalBytes(dir disk.Dir) (total int64, err error) {
	list, err := dir.List(logDir)
	for _, f := range list {
		if _, ok := parseSlotName(f.Name); ok {
			total += f.Size
		}
	}
	return total, err
}
