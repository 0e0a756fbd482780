package engine

import (
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/commitlog"
)

// DeleteRecords moves the log start to before, -1 for the high watermark. done
// is called when the move is durable, with the log start then in force; on any
// goroutine.
func (p *Partition) DeleteRecords(before int64, done func(logStart int64, err error)) {
	t := p.topic.Load().topic
	if p.stream == catalog.MetadataStream || t.Settings.CleanupCompact && !t.Settings.CleanupDelete {
		done(-1, ErrPolicy)
		return
	}
	p.mu.Lock()
	if before == -1 {
		before = p.hw
	}
	start, hw := p.ix.LogStart, p.hw
	p.mu.Unlock()
	switch {
	case before < 0 || before > hw:
		done(-1, ErrOffsetOutOfRange)
	case before <= start:
		done(start, nil)
	default:
		p.moveLogStart(before, done)
	}
}

// startMove is the owner of a log start entry.
type startMove struct {
	p     *Partition
	entry commitlog.Entry
	done  func(int64, error)
}

// moveLogStart makes a new log start durable and then drops what is below it.
func (p *Partition) moveLogStart(to int64, done func(int64, error)) {
	m := &startMove{p: p, done: done}
	p.mu.Lock()
	if err := p.vol.log.Admit(0, true); err != nil || p.deleted {
		if p.deleted {
			err = ErrDeleted
		}
		p.mu.Unlock()
		done(-1, storageError(err))
		return
	}
	m.entry = commitlog.Entry{Stream: p.stream, BaseOffset: to, Kind: commitlog.KindLogStart,
		LeaderEpoch: p.LeaderEpoch(), Owner: m, Durability: p.durabilityLocked(commitlog.Fsync)}
	p.vol.log.Append(&m.entry)
	p.mu.Unlock()
	p.vol.log.Kick()
}

// Sealed remembers which segment holds the partition's log start.
func (m *startMove) Sealed(e *commitlog.Entry) {
	p := m.p
	seg := commitlog.Segment(e.LSN)
	p.mu.Lock()
	p.ix.LogStartSeg = seg
	p.mu.Unlock()
	p.vol.touch(seg, p, false)
}

// Completed drops what is below the new log start.
func (m *startMove) Completed(e *commitlog.Entry) {
	p := m.p
	p.mu.Lock()
	p.waiting--
	var dead []uint32
	if e.Err == nil {
		dead = p.ix.Trim(e.BaseOffset)
	}
	start := p.ix.LogStart
	p.mu.Unlock()
	p.vol.dropped(dead)
	p.wakeAll()
	if m.done != nil {
		m.done(start, storageError(e.Err))
	}
}
