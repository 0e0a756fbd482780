package engine

import (
	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/index"
)

// OffsetForTime finds the first record, in offset order, of the first batch
// that reaches ts (ms), with a timestamp of ts or later. done is called once on
// another goroutine, with offset -1 if there is none.
func (p *Partition) OffsetForTime(ts int64, done func(TimeOffset, error)) {
	p.vol.engine.cold.run(func() { done(p.offsetForTime(ts)) })
}

// OffsetForMaxTime finds the record with the largest timestamp. Like
// OffsetForTime otherwise.
func (p *Partition) OffsetForMaxTime(done func(TimeOffset, error)) {
	p.vol.engine.cold.run(func() { done(p.offsetForMaxTime()) })
}

var noTime = TimeOffset{Offset: -1, Timestamp: -1, LeaderEpoch: -1}

func (p *Partition) offsetForTime(ts int64) (TimeOffset, error) {
	p.mu.Lock()
	start, hw := p.ix.LogStart, p.hw
	var parts []index.Part
	if k := p.ix.FindTime(ts, start); k >= 0 {
		parts = append(parts, p.ix.Parts[k:]...)
	}
	p.mu.Unlock()
	for i := range parts {
		if parts[i].MaxTime < ts {
			continue
		}
		runs, err := p.vol.runs(&parts[i])
		if err != nil {
			return noTime, p.vol.readFailed(p, parts[i].Base, err)
		}
		for j := range runs {
			if runs[j].MaxTime < ts || runs[j].Bytes == 0 || runs[j].Base >= hw || parts[i].RunEnd(runs, j) <= start {
				continue
			}
			if t, found, err := p.searchRun(&runs[j], ts, start, hw); found || err != nil {
				return t, err
			}
		}
	}
	return noTime, nil
}

// searchRun looks for a record of time ts or later in one run.
func (p *Partition) searchRun(run *index.Run, ts, start, hw int64) (TimeOffset, bool, error) {
	buf, free, err := p.vol.readRun(run)
	if err != nil {
		return noTime, false, p.vol.readFailed(p, run.Base, err)
	}
	defer free()
	for rest := soundBatches(buf); len(rest) > 0; {
		b, more, err := batch.Next(rest)
		if err != nil || b.LastOffset() >= hw {
			break
		}
		rest = more
		if b.MaxTimestamp() < ts || b.LastOffset() < start {
			continue
		}
		off, at, ok := findTime(b, ts, start)
		if ok {
			return TimeOffset{Offset: off, Timestamp: at, LeaderEpoch: b.LeaderEpoch()}, true, nil
		}
	}
	return noTime, false, nil
}

// findTime finds the first record of a batch with a timestamp of ts or later
// and an offset of start or higher.
func findTime(b batch.Batch, ts, start int64) (offset, timestamp int64, ok bool) {
	it := batch.Records(b)
	defer it.Close()
	var r batch.Record
	for it.Next(&r) {
		if r.Timestamp >= ts && r.Offset >= start {
			return r.Offset, r.Timestamp, true
		}
	}
	return -1, -1, false
}

func (p *Partition) offsetForMaxTime() (TimeOffset, error) {
	p.mu.Lock()
	start, hw := p.ix.LogStart, p.hw
	k := p.ix.MaxTime()
	if k < 0 || start == hw {
		p.mu.Unlock()
		return noTime, nil
	}
	part := p.ix.Parts[k]
	p.mu.Unlock()
	runs, err := p.vol.runs(&part)
	if err != nil {
		return noTime, p.vol.readFailed(p, part.Base, err)
	}
	best := -1
	for j := range runs {
		if runs[j].Bytes > 0 && runs[j].Base < hw && part.RunEnd(runs, j) > start && (best < 0 || runs[j].MaxTime > runs[best].MaxTime) {
			best = j
		}
	}
	if best < 0 {
		return noTime, nil
	}
	t, _, err := p.searchRun(&runs[best], runs[best].MaxTime, start, hw)
	return t, err
}
