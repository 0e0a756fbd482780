package engine

import (
	"github.com/spatemq/spate/engine/catalog"
)

// rollBatchEvents is how many events of a snapshot go into one batch.
const rollBatchEvents = 500

// rollInternal looks for the oldest sealed segment in which nothing lives but
// internal topics, and rewrites those at the log's end so that it can go. Without
// this a few old group offsets would keep every segment for ever.
func (j *janitor) rollInternal() {
	v := j.e.vol
	active := v.log.ActiveSegment()
	for _, id := range v.log.Segments() {
		if id >= active || v.failed.Load() != nil {
			return
		}
		v.mu.Lock()
		s := v.segs[id]
		live := 0
		if s != nil && s.sealed && s.indexed && !s.dying {
			live = s.live
		}
		v.mu.Unlock()
		if live == 0 {
			continue
		}
		in := j.internalIn(id)
		if len(in) != live {
			continue
		}
		for _, p := range in {
			j.roll(p)
		}
	}
}

// internalIn lists the internal partitions with records in a segment.
func (j *janitor) internalIn(id uint32) []*Partition {
	j.e.mu.RLock()
	parts := []*Partition{j.e.metaPart}
	parts = append(parts, j.e.byName[catalog.OffsetsTopic]...)
	j.e.mu.RUnlock()
	var in []*Partition
	for _, p := range parts {
		p.mu.Lock()
		for i := range p.ix.Parts {
			if p.ix.Parts[i].Seg == id {
				in = append(in, p)
				break
			}
		}
		p.mu.Unlock()
	}
	return in
}

func (j *janitor) roll(p *Partition) {
	p.mu.Lock()
	busy := p.rolling
	p.rolling = true
	p.mu.Unlock()
	if busy {
		return
	}
	done := func(base int64, err error) {
		if err != nil {
			j.e.log.Warn("internal topic cannot be rewritten; its old segments stay", "stream", p.stream, "error", err)
		}
		if err != nil || base < 0 {
			p.rolled()
			return
		}
		p.moveLogStart(base, func(int64, error) { p.rolled() })
	}
	if p == j.e.metaPart {
		j.e.meta.roll(done)
		return
	}
	j.e.rollOffsets(p, done)
}

func (p *Partition) rolled() {
	p.mu.Lock()
	p.rolling = false
	p.mu.Unlock()
}

// roll appends a snapshot of the metadata and tells where it begins.
func (m *metadata) roll(done func(base int64, err error)) {
	m.mu.Lock()
	events := m.planned.Snapshot()
	now := m.e.now().UnixMilli()
	base := m.part.LogEnd()
	r := &rollout{left: 1, base: base, done: done}
	for len(events) > 0 {
		n := min(len(events), rollBatchEvents)
		r.add(m.part, encodeEvents(events[:n], now))
		events = events[n:]
	}
	m.mu.Unlock()
	m.part.vol.log.Kick()
	r.finish(nil)
}
