package engine

import (
	"fmt"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/index"
)

// coldReadBytes bounds what one cold read of one partition brings at a time,
// beyond its first batch.
const coldReadBytes = 1 << 20

// Read fills r from memory and returns true; or false when the wanted records
// are not (all) in memory, and ReadCold must be used. It never waits.
func (p *Partition) Read(q ReadRequest, r *ReadResult) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.boundsLocked(q, r) {
		return true
	}
	k := p.ix.Find(q.Offset)
	if k < 0 {
		return true
	}
	for ; k < len(p.ix.Parts); k++ {
		part := &p.ix.Parts[k]
		if part.Runs == nil {
			return r.Bytes > 0
		}
		if done, hot := p.readRunsLocked(part, q, r); done {
			return hot
		}
	}
	return true
}

// boundsLocked fills the offsets and checks the wanted one; false if there is
// nothing to read.
func (p *Partition) boundsLocked(q ReadRequest, r *ReadResult) bool {
	r.HighWatermark, r.LastStable, r.LogStart = p.hw, p.hw, p.ix.LogStart
	switch {
	case p.deleted:
		r.Err = ErrDeleted
	case q.Offset < p.ix.LogStart || q.Offset > p.hw:
		r.Err = ErrOffsetOutOfRange
	default:
		return q.Offset < p.hw && (q.MaxBytes > 0 || q.AtLeastOne)
	}
	return false
}

// readRunsLocked takes what it can of one part. done: nothing more is to be
// read; hot: what was read is all that there is in memory's way.
func (p *Partition) readRunsLocked(part *index.Part, q ReadRequest, r *ReadResult) (done, hot bool) {
	runs := part.Runs
	for i := index.FindRun(runs, q.Offset); i < len(runs); i++ {
		run := &runs[i]
		if run.Base >= p.hw {
			return true, true
		}
		if run.Bytes == 0 {
			if q.Offset < part.RunEnd(runs, i) && r.Bytes == 0 {
				r.Err = ErrCorrupt
			}
			return true, true
		}
		buf, slab := p.vol.log.Hot(run.LSN, int(run.Bytes))
		if buf == nil {
			return true, r.Bytes > 0
		}
		take, full := pick(buf, q, p.hw, r.Bytes)
		if len(take) == 0 {
			slab.Release()
		} else {
			r.Bufs = append(r.Bufs, take)
			r.Bytes += len(take)
			r.slabs = append(r.slabs, slab)
		}
		if full {
			return true, true
		}
	}
	return false, true
}

// pick gives the whole batches of a run from the one that holds q.Offset on,
// below limit and within q.MaxBytes given that have bytes were taken before.
// full tells that one did not fit or is not visible yet.
func pick(run []byte, q ReadRequest, limit int64, have int) (take []byte, full bool) {
	from, to := -1, 0
	for len(run)-to >= batch.HeaderBytes {
		b := batch.Batch(run[to:])
		n := b.LengthBytes()
		if n < batch.HeaderBytes || n > len(run)-to {
			break
		}
		if last := b.LastOffset(); last < q.Offset {
			to += n
			continue
		} else if last >= limit {
			full = true
			break
		}
		if from < 0 {
			from = to
		}
		total := have + to - from + n
		if total > q.MaxBytes && !(q.AtLeastOne && total == n) {
			full = true
			break
		}
		to += n
	}
	if from < 0 {
		return nil, full
	}
	return run[from:to:to], full
}

// ReadCold reads like Read, from the disk where it must, and calls done exactly
// once on another goroutine. It brings at most 1 MiB beyond the first batch.
func (p *Partition) ReadCold(q ReadRequest, r *ReadResult, done func()) {
	p.vol.engine.cold.run(func() {
		p.readCold(q, r)
		done()
	})
}

func (p *Partition) readCold(q ReadRequest, r *ReadResult) {
	p.mu.Lock()
	if !p.boundsLocked(q, r) {
		p.mu.Unlock()
		return
	}
	k := p.ix.Find(q.Offset)
	if k < 0 {
		p.mu.Unlock()
		return
	}
	part := p.ix.Parts[k]
	hw := p.hw
	p.mu.Unlock()
	runs, err := p.vol.runs(&part)
	if err != nil {
		r.Err = p.vol.readFailed(p, q.Offset, err)
		return
	}
	q.MaxBytes = min(q.MaxBytes, coldReadBytes)
	p.vol.readAhead(runs, index.FindRun(runs, q.Offset), q.MaxBytes)
	for i := index.FindRun(runs, q.Offset); i < len(runs) && runs[i].Base < hw; i++ {
		if runs[i].Bytes == 0 {
			if r.Bytes == 0 && q.Offset < part.RunEnd(runs, i) {
				r.Err = ErrCorrupt
			}
			return
		}
		if r.Bytes > 0 && r.Bytes+int(runs[i].Bytes) > q.MaxBytes {
			return
		}
		if !p.readRunCold(&runs[i], q, hw, r) {
			return
		}
	}
}

// readAhead has the log read on behind run i when the partition's runs lie close
// together there: then what is read in passing is what is wanted next. For a
// partition among many it would only cost the others their slots.
func (v *volume) readAhead(runs []index.Run, i, want int) {
	if i >= len(runs) || v.log.IsHot(runs[i].LSN, int(runs[i].Bytes)) {
		return
	}
	first, bytes := runs[i].LSN, 0
	last := first
	for ; i < len(runs) && bytes < 2*want; i++ {
		bytes += int(runs[i].Bytes)
		last = runs[i].LSN + uint64(runs[i].Bytes)
	}
	if span := last - first; span < 2*uint64(bytes) {
		v.log.Prefetch(first, int(span))
	}
}

// readRunCold adds one run's batches to r; false when there is no need to go on.
func (p *Partition) readRunCold(run *index.Run, q ReadRequest, hw int64, r *ReadResult) bool {
	buf, free, err := p.vol.readRun(run)
	if err != nil {
		if r.Bytes == 0 {
			r.Err = p.vol.readFailed(p, q.Offset, err)
		}
		return false
	}
	take, full := pick(buf, q, hw, r.Bytes)
	ok := soundBatches(take)
	if len(ok) < len(take) {
		p.vol.damaged(p, run, len(ok))
		if len(ok) == 0 && r.Bytes == 0 {
			r.Err = ErrCorrupt
		}
		full = true
	}
	if len(ok) == 0 {
		free()
		return !full
	}
	r.Bufs = append(r.Bufs, ok)
	r.Bytes += len(ok)
	r.release = append(r.release, free)
	return !full
}

// soundBatches is the leading part of buf whose batches have the right CRC: what
// comes from the disk is checked before anybody gets it.
func soundBatches(buf []byte) []byte {
	n := 0
	for len(buf)-n >= batch.HeaderBytes {
		b := batch.Batch(buf[n:])
		size := b.LengthBytes()
		if size < batch.HeaderBytes || size > len(buf)-n {
			break
		}
		if b = b[:size]; b.Magic() != 2 || b.CRC() != b.ComputeCRC() {
			break
		}
		n += size
	}
	return buf[:n]
}

// readRun brings one whole run into memory of its own, from the hot tail or the
// disk. It may wait for the disk.
func (v *volume) readRun(run *index.Run) (buf []byte, free func(), err error) {
	if b, slab := v.log.Hot(run.LSN, int(run.Bytes)); b != nil {
		return b, slab.Release, nil
	}
	buf = v.engine.bufs.get(int(run.Bytes))
	wait := make(chan error, 1)
	v.log.ReadCold(run.LSN, buf, func(err error) { wait <- err })
	if err := <-wait; err != nil {
		v.engine.bufs.put(buf)
		return nil, nil, err
	}
	return buf, func() { v.engine.bufs.put(buf) }, nil
}

// runs gives a part's runs; it may read the segment's index file.
func (v *volume) runs(part *index.Part) ([]index.Run, error) {
	if part.Runs != nil {
		return part.Runs, nil
	}
	return v.store.Runs(part)
}

// readFailed names a read error. The records are unreadable, which is not the
// same as absent.
func (v *volume) readFailed(p *Partition, offset int64, err error) error {
	p.mu.Lock()
	deleted, start := p.deleted, p.ix.LogStart
	p.mu.Unlock()
	if deleted {
		return ErrDeleted
	}
	if offset < start {
		return ErrOffsetOutOfRange
	}
	v.engine.log.Error("records cannot be read from the disk", "dir", v.dir.Path(),
		"topic", p.Topic().Name, "partition", p.index, "offset", offset, "error", err)
	return fmt.Errorf("%w: %w", ErrStorage, err)
}

func (v *volume) damaged(p *Partition, run *index.Run, sound int) {
	v.engine.log.Error("stored records are damaged; the rest of the partition is served", "dir", v.dir.Path(),
		"topic", p.Topic().Name, "partition", p.index, "base_offset", run.Base,
		"segment", commitlog.Segment(run.LSN), "position", uint64(commitlog.Offset(run.LSN))+uint64(sound))
}
