package index

import "sort"

// Run is a contiguous piece of the log with consecutive batches of one stream.
type Run struct {
	Base    int64  // first offset
	LSN     uint64 // of the first byte
	MaxTime int64  // largest record timestamp, ms
	Bytes   uint32 // 0: the offsets existed but their bytes are lost
	Epoch   int32  // leader epoch
}

// Part is what one segment holds of a stream.
type Part struct {
	Seg     uint32
	Base    int64
	End     int64 // one past the last offset
	MaxTime int64
	Bytes   int64
	// Runs is nil when they are only in the segment's index file, at First.
	Runs  []Run
	First uint32
	Count uint32
}

// EpochStart says where a leader epoch begins.
type EpochStart struct {
	Epoch int32
	Start int64
}

// Stream is the index of one partition. It is not safe for concurrent use.
type Stream struct {
	ID       uint64
	LogStart int64
	// LogStartSeg is the segment that holds the newest log start entry, 0 if
	// none does.
	LogStartSeg uint32
	// End is the next offset after everything indexed.
	End    int64
	Parts  []Part
	Epochs []EpochStart
	Bytes  int64 // payload of all parts
}

// Add indexes a piece of n bytes at r.LSN with offsets r.Base to end-1. Pieces
// come in log order. It tells whether the segment is new to the stream.
func (s *Stream) Add(seg uint32, r Run, end int64) (newPart bool) {
	k := len(s.Parts) - 1
	if k < 0 || s.Parts[k].Seg != seg {
		s.Parts = append(s.Parts, Part{Seg: seg, Base: r.Base, End: r.Base, MaxTime: r.MaxTime, Runs: make([]Run, 0, 1)})
		k++
		newPart = true
	}
	p := &s.Parts[k]
	if r.Base > s.End {
		s.gap(p, r)
	}
	if n := len(p.Runs); n > 0 && r.Bytes > 0 {
		l := &p.Runs[n-1]
		if l.Bytes > 0 && l.LSN+uint64(l.Bytes) == r.LSN && l.Epoch == r.Epoch && p.End == r.Base {
			l.Bytes += r.Bytes
			l.MaxTime = max(l.MaxTime, r.MaxTime)
			s.grow(p, r, end)
			return newPart
		}
	}
	p.Runs = append(p.Runs, r)
	s.grow(p, r, end)
	return newPart
}

// gap notes that offsets are missing before r. They are dense when they are
// given out, so between known ones they are lost; before everything known
// they have been deleted.
func (s *Stream) gap(p *Part, r Run) {
	if len(s.Parts) == 1 && p.Count == 0 && len(p.Runs) == 0 && s.End <= s.LogStart {
		s.LogStart = r.Base
		return
	}
	lost := Run{Base: s.End, MaxTime: r.MaxTime, Epoch: r.Epoch}
	p.Runs = append(p.Runs, lost)
	p.Base = min(p.Base, lost.Base)
	p.End = r.Base
}

func (s *Stream) grow(p *Part, r Run, end int64) {
	p.End = end
	p.MaxTime = max(p.MaxTime, r.MaxTime)
	p.Bytes += int64(r.Bytes)
	s.Bytes += int64(r.Bytes)
	s.End = max(s.End, end)
	s.addEpoch(r.Epoch, r.Base)
}

func (s *Stream) addEpoch(epoch int32, start int64) {
	if n := len(s.Epochs); n == 0 || s.Epochs[n-1].Epoch < epoch {
		s.Epochs = append(s.Epochs, EpochStart{epoch, start})
	}
}

// AddPart adds what a segment index file says; parts come in segment order.
func (s *Stream) AddPart(p Part, epochs []EpochStart) {
	s.Parts = append(s.Parts, p)
	s.Bytes += p.Bytes
	s.End = max(s.End, p.End)
	for _, e := range epochs {
		s.addEpoch(e.Epoch, e.Start)
	}
}

// Find gives the part that holds offset, or the first one after it; -1 past the
// end.
func (s *Stream) Find(offset int64) int {
	i := sort.Search(len(s.Parts), func(i int) bool { return s.Parts[i].End > offset })
	if i == len(s.Parts) {
		return -1
	}
	return i
}

// FindRun gives the run that holds offset, or the first one after it.
func FindRun(runs []Run, offset int64) int {
	i := sort.Search(len(runs), func(i int) bool { return runs[i].Base > offset })
	return max(i-1, 0)
}

// RunEnd is one past the last offset of run i of part p.
func (p *Part) RunEnd(runs []Run, i int) int64 {
	if i+1 < len(runs) {
		return runs[i+1].Base
	}
	return p.End
}

// FindTime gives the first part with a record of time ts or later and offset
// from or higher; -1 if none.
func (s *Stream) FindTime(ts, from int64) int {
	for i := range s.Parts {
		if p := &s.Parts[i]; p.MaxTime >= ts && p.End > from {
			return i
		}
	}
	return -1
}

// MaxTime gives the part with the largest timestamp; -1 for an empty stream.
func (s *Stream) MaxTime() int {
	best := -1
	for i := range s.Parts {
		if s.Parts[i].End > s.LogStart && (best < 0 || s.Parts[i].MaxTime > s.Parts[best].MaxTime) {
			best = i
		}
	}
	return best
}

// EpochEnd answers OffsetForLeaderEpoch: the largest epoch not above the given
// one and where it ends; -1, -1 if there is none. current is the stream's epoch now.
func (s *Stream) EpochEnd(epoch, current int32, end int64) (int32, int64) {
	if epoch == current {
		return epoch, end
	}
	if epoch > current || epoch < 0 {
		return -1, -1
	}
	i := sort.Search(len(s.Epochs), func(i int) bool { return s.Epochs[i].Epoch > epoch })
	if i == len(s.Epochs) {
		if i == 0 {
			return -1, -1
		}
		return s.Epochs[i-1].Epoch, end
	}
	if i == 0 {
		// Before everything known: Kafka answers the epoch asked for, ending
		// where the first known one starts.
		return epoch, s.Epochs[0].Start
	}
	return s.Epochs[i-1].Epoch, s.Epochs[i].Start
}

// Trim moves the log start and drops parts that are wholly below it, whose
// segments it returns.
func (s *Stream) Trim(logStart int64) (dropped []uint32) {
	if logStart <= s.LogStart {
		logStart = s.LogStart
	}
	s.LogStart = logStart
	s.End = max(s.End, logStart)
	n := 0
	for n < len(s.Parts) && s.Parts[n].End <= logStart {
		dropped = append(dropped, s.Parts[n].Seg)
		s.Bytes -= s.Parts[n].Bytes
		n++
	}
	if n > 0 {
		s.Parts = append(s.Parts[:0:0], s.Parts[n:]...)
	}
	e := 0
	for e+1 < len(s.Epochs) && s.Epochs[e+1].Start <= logStart {
		e++
	}
	if e > 0 {
		s.Epochs = append(s.Epochs[:0:0], s.Epochs[e:]...)
	}
	if len(s.Epochs) > 0 && s.Epochs[0].Start < logStart {
		s.Epochs[0].Start = logStart
	}
	return dropped
}
