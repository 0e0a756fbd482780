package engine

import (
	"errors"
	"time"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/engine/index"
)

// janitor applies retention and gives dead segments' space back.
type janitor struct {
	e    *Engine
	wake chan struct{}
}

func newJanitor(e *Engine) *janitor { return &janitor{e: e, wake: make(chan struct{}, 1)} }

// poke has dead segments looked for soon.
func (j *janitor) poke() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

func (j *janitor) run(stop <-chan struct{}) {
	every := time.Duration(j.e.opt.Config.Int("log.retention.check.interval.ms")) * time.Millisecond
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			j.retain()
			j.expireProducers()
		case <-j.wake:
		case <-stop:
			return
		}
		j.sweep()
		j.rollInternal()
	}
}

// retain moves the log starts that time and size limits move.
func (j *janitor) retain() {
	now := j.e.now().UnixMilli()
	for _, p := range j.e.allPartitions() {
		if to := p.retainedFrom(now); to > p.LogStart() {
			p.moveLogStart(to, nil)
		}
	}
}

func (j *janitor) expireProducers() {
	now := j.e.now().UnixMilli()
	ms := j.e.opt.Config.Int("producer.id.expiration.ms")
	for _, p := range j.e.allPartitions() {
		p.mu.Lock()
		if p.prod != nil {
			p.prod.Expire(now, ms)
			if p.prod.Len() == 0 {
				p.prod = nil
			}
		}
		p.mu.Unlock()
	}
}

// retainedFrom is where the log should start by the topic's retention. As in
// Kafka whole segments go, here the partition's parts of the log's segments; in the one
// being written its runs, which nothing else would ever end.
func (p *Partition) retainedFrom(now int64) int64 {
	t := p.Topic()
	p.mu.Lock()
	defer p.mu.Unlock()
	from := p.ix.LogStart
	if p.stream == catalog.MetadataStream || !t.Settings.CleanupDelete {
		return from
	}
	if ms := t.Settings.RetentionMs; ms >= 0 {
		from = max(from, p.expiredLocked(now-ms))
	}
	if limit := t.Settings.RetentionBytes; limit >= 0 {
		from = max(from, p.oversizeLocked(limit))
	}
	return min(from, p.hw)
}

func (p *Partition) expiredLocked(before int64) int64 {
	from := p.ix.LogStart
	for i := range p.ix.Parts {
		part := &p.ix.Parts[i]
		if part.MaxTime < before {
			from = part.End
			continue
		}
		for r := range part.Runs {
			if part.Runs[r].MaxTime >= before {
				break
			}
			from = max(from, part.RunEnd(part.Runs, r))
		}
		break
	}
	return from
}

func (p *Partition) oversizeLocked(limit int64) int64 {
	from, total := p.ix.LogStart, p.ix.Bytes
	for i := range p.ix.Parts {
		part := &p.ix.Parts[i]
		if total-part.Bytes < limit {
			return p.oversizeRuns(part, from, total, limit)
		}
		total -= part.Bytes
		from = part.End
	}
	return from
}

func (p *Partition) oversizeRuns(part *index.Part, from, total, limit int64) int64 {
	for r := range part.Runs {
		if total -= int64(part.Runs[r].Bytes); total < limit {
			break
		}
		from = max(from, part.RunEnd(part.Runs, r))
	}
	return from
}

// sweep recycles segments in which nothing can be read any more.
func (j *janitor) sweep() {
	v := j.e.vol
	active := v.log.ActiveSegment()
	for _, id := range v.log.Segments() {
		if id >= active || v.failed.Load() != nil {
			return
		}
		v.mu.Lock()
		s := v.segs[id]
		dead := s != nil && s.sealed && s.indexed && s.live == 0 && !s.dying
		if dead {
			s.dying = true
		}
		v.mu.Unlock()
		if dead {
			j.recycle(id)
		}
	}
}

// recycle moves log start entries that are still needed out of the segment and
// then frees it.
func (j *janitor) recycle(id uint32) {
	v := j.e.vol
	for _, p := range j.e.allPartitions() {
		p.mu.Lock()
		again, start := p.ix.LogStartSeg == id && !p.deleted, p.ix.LogStart
		p.mu.Unlock()
		if !again {
			continue
		}
		wait := make(chan error, 1)
		p.moveLogStart(start, func(_ int64, err error) { wait <- err })
		if err := <-wait; err != nil && !errors.Is(err, ErrDeleted) {
			v.mu.Lock()
			v.segs[id].dying = false
			v.mu.Unlock()
			return
		}
	}
	v.log.Recycle(id, func(err error) {
		if err != nil {
			j.e.log.Error("segment cannot be freed; it is tried again at the next start", "dir", v.dir.Path(), "segment", id, "error", err)
			return
		}
		v.store.Forget(id)
		v.mu.Lock()
		delete(v.segs, id)
		v.mu.Unlock()
		if err := v.dir.Remove(index.FileName(id)); err != nil && !errors.Is(err, disk.ErrNotExist) {
			j.e.log.Warn("index of a freed segment cannot be removed; the next start removes it", "segment", id, "error", err)
		}
	})
}
