package engine

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/engine/index"
)

// VerifyReport is what Verify found.
type VerifyReport struct {
	Segments, Blocks, Indexes int
	Entries, Records          int64
	Bytes                     int64
	// TornAt is where an unacknowledged end begins that the next start cuts; 0: none.
	TornAt uint64
	// Problems are sentences, worst first come. At most maxProblems are kept.
	Problems []string
	// Count is the number of problems, also of those not kept.
	Count int
}

const maxProblems = 1000

// Verify checks every block, batch and index file of a data directory whose
// broker is stopped, and changes nothing. An error means that it could not look.
func Verify(dir disk.Dir, progress func(bytes int64)) (VerifyReport, error) {
	lock, err := dir.Lock(lockName)
	if errors.Is(err, disk.ErrLocked) {
		return VerifyReport{}, fmt.Errorf("data directory %s is in use; stop its broker first", dir.Path())
	} else if err != nil {
		return VerifyReport{}, err
	}
	defer lock.Close()
	if text, err := disk.ReadFile(dir, metaName); err != nil || string(text) != metaText {
		return VerifyReport{}, fmt.Errorf("%s is not a data directory of this spate's format", dir.Path())
	}
	v := &verifier{dir: dir, ends: map[uint64]int64{}, parts: map[uint64]*index.Stream{}}
	rep, slots, err := commitlog.Scan(dir, v.block, func(seg uint32, bytes int64) {
		v.index(seg)
		if progress != nil {
			progress(bytes)
		}
	})
	if err != nil {
		return v.rep, err
	}
	v.rep.Segments, v.rep.Blocks, v.rep.TornAt = rep.Segments, rep.Blocks, rep.CutFrom
	for _, d := range slots {
		v.problem("%s: %v", d.Name, d.Err)
	}
	for _, d := range rep.Damages {
		v.problem("%s", d)
	}
	return v.rep, nil
}

// verifier collects what a scan shows.
type verifier struct {
	dir   disk.Dir
	rep   VerifyReport
	ends  map[uint64]int64         // next offset by stream
	parts map[uint64]*index.Stream // of the segment being scanned
}

func (v *verifier) problem(format string, args ...any) {
	v.rep.Count++
	if len(v.rep.Problems) < maxProblems {
		v.rep.Problems = append(v.rep.Problems, fmt.Sprintf(format, args...))
	}
}

func (v *verifier) block(b *commitlog.Block) {
	v.rep.Bytes += int64(b.Bytes)
	for i := range b.Entries {
		v.rep.Entries++
		if d := &b.Entries[i]; d.Kind == commitlog.KindBatch {
			v.batch(b, i, d)
		}
	}
}

func (v *verifier) batch(b *commitlog.Block, i int, d *commitlog.DirEntry) {
	where := fmt.Sprintf("segment %d byte %d, stream %d, offsets %d-%d", commitlog.Segment(b.LSN),
		commitlog.Offset(b.LSN)+d.Pos, d.Stream, d.BaseOffset, d.BaseOffset+int64(d.Span)-1)
	if end, seen := v.ends[d.Stream]; seen && d.BaseOffset != end {
		v.problem("%s: offset %d was expected; those between are missing", where, end)
	}
	v.ends[d.Stream] = d.BaseOffset + int64(d.Span)
	run := index.Run{Base: d.BaseOffset, LSN: b.LSN + uint64(d.Pos), MaxTime: d.MaxTimestamp, Bytes: d.Bytes, Epoch: d.LeaderEpoch}
	if b.Bad != nil && b.Bad[i] {
		v.problem("%s: bytes are damaged", where)
	} else if err := checkStored(batch.Batch(b.Payload(i)), d); err != nil {
		v.problem("%s: %v", where, err)
	} else {
		v.rep.Records += int64(batch.Batch(b.Payload(i)).Count())
	}
	s := v.parts[d.Stream]
	if s == nil {
		s = &index.Stream{}
		v.parts[d.Stream] = s
	}
	s.Add(commitlog.Segment(b.LSN), run, d.BaseOffset+int64(d.Span))
}

// checkStored compares a batch with its directory entry.
func checkStored(p batch.Batch, d *commitlog.DirEntry) error {
	switch {
	case len(p) < batch.HeaderBytes || p.LengthBytes() != len(p):
		return errors.New("batch length does not match its entry")
	case p.CRC() != p.ComputeCRC():
		return errors.New("batch CRC does not match")
	case p.BaseOffset() != d.BaseOffset || uint32(p.LastOffsetDelta()+1) != d.Span:
		return fmt.Errorf("batch says offsets %d-%d", p.BaseOffset(), p.LastOffset())
	case p.LeaderEpoch() != d.LeaderEpoch:
		return fmt.Errorf("batch says leader epoch %d, its entry %d", p.LeaderEpoch(), d.LeaderEpoch)
	}
	return nil
}

// index compares a segment's index file, if it has one, with its blocks.
func (v *verifier) index(seg uint32) {
	parts := v.parts
	v.parts = map[uint64]*index.Stream{}
	name := index.FileName(seg)
	text, err := disk.ReadFile(v.dir, name)
	if errors.Is(err, disk.ErrNotExist) {
		return
	}
	var f *index.File
	if err == nil {
		f, err = index.Decode(text)
	}
	if err != nil {
		v.problem("%s: %v (it is made again at the next start)", name, err)
		return
	}
	v.rep.Indexes++
	for i := range f.Streams {
		s := &f.Streams[i]
		if s.Part.Count == 0 {
			continue
		}
		found := parts[s.ID]
		if found == nil || len(found.Parts) == 0 {
			v.problem("%s: stream %d is not in the segment", name, s.ID)
			continue
		}
		p := &found.Parts[0]
		if p.End != s.Part.End || !reflect.DeepEqual(p.Runs, lastRuns(f.Runs(s.Part.First, s.Part.Count), p)) {
			v.problem("%s: stream %d: index says offsets %d-%d in %d runs, the segment %d-%d in %d", name, s.ID,
				s.Part.Base, s.Part.End-1, s.Part.Count, p.Base, p.End-1, len(p.Runs))
		}
	}
}

// lastRuns leaves out a leading run of lost offsets, which only the index knows
// of: they were lost before this segment.
func lastRuns(runs []index.Run, p *index.Part) []index.Run {
	if len(runs) > 0 && runs[0].Bytes == 0 && len(p.Runs) > 0 && p.Runs[0].Base > runs[0].Base {
		return runs[1:]
	}
	return runs
}
