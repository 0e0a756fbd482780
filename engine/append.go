package engine

import (
	"errors"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/txn"
)

// Append validates and stores a batch. It never waits; r.Done tells the outcome.
func (p *Partition) Append(r *AppendRequest) {
	if err := p.appendOne(r); err != nil {
		r.Err = err
		r.Done(r)
		return
	}
	p.vol.log.Kick()
}

// AppendAll appends several requests, to any partitions of one engine, with a
// single look at the log: what belongs to one client request shares a group.
func AppendAll(parts []*Partition, reqs []*AppendRequest) {
	var logs [4]*commitlog.Log
	kick := logs[:0]
	for i, r := range reqs {
		if err := parts[i].appendOne(r); err != nil {
			r.Err = err
			r.Done(r)
			continue
		}
		l := parts[i].vol.log
		known := false
		for _, k := range kick {
			known = known || k == l
		}
		if !known {
			kick = append(kick, l)
		}
	}
	for _, l := range kick {
		l.Kick()
	}
}

// appendOne queues a batch in the log, or says why not. A duplicate is answered
// at once if the original is visible, else after it.
func (p *Partition) appendOne(r *AppendRequest) error {
	ts := p.topic.Load()
	now := p.vol.engine.now().UnixMilli()
	res, err := batch.Validate(r.Records, batch.Options{Policy: &ts.policy, NowMs: now,
		Internal: r.Internal, RefuseZstd: r.RefuseZstd})
	if err != nil {
		return err
	}
	r.part = p
	r.LogAppendTime = -1
	if ts.policy.LogAppendTime {
		r.LogAppendTime = now
	}
	b := res.Batch
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.admitLocked(len(b)); err != nil {
		return err
	}
	if dup, err := p.sequenceLocked(r, b, now); dup || err != nil {
		return err
	}
	r.BaseOffset = p.next
	r.LogStart = p.ix.LogStart
	b.SetBaseOffset(p.next)
	epoch := p.LeaderEpoch()
	b.SetLeaderEpoch(epoch)
	span := b.LastOffsetDelta() + 1
	p.next += int64(span)
	r.entry = commitlog.Entry{Stream: p.stream, BaseOffset: r.BaseOffset, MaxTimestamp: res.MaxTimestamp,
		Span: uint32(span), LeaderEpoch: epoch, Kind: commitlog.KindBatch, Payload: b,
		Durability: p.durabilityLocked(ts.durability), Owner: (*appendEntry)(r)}
	p.vol.log.Append(&r.entry)
	return nil
}

// durabilityLocked gives an entry at least the durability of those before it,
// so that a partition's records become visible in order.
func (p *Partition) durabilityLocked(d commitlog.Durability) commitlog.Durability {
	if p.waiting > 0 && p.strict < d {
		d = p.strict
	}
	p.strict = d
	p.waiting++
	return d
}

func (p *Partition) admitLocked(n int) error {
	if p.deleted {
		return ErrDeleted
	}
	return storageError(p.vol.log.Admit(n, false))
}

// storageError gives a log's error the name that protocols know.
func storageError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, commitlog.ErrFull):
		return ErrDiskFull
	case errors.Is(err, commitlog.ErrClosed):
		return ErrShutdown
	case errors.Is(err, commitlog.ErrTooLarge):
		return &batch.Error{Kind: batch.TooLarge, Message: "batch does not fit into a log segment"}
	}
	return ErrStorage
}

// sequenceLocked checks an idempotent producer's sequence at the moment that
// decides the order (not when the batch is durable: several may be in flight).
func (p *Partition) sequenceLocked(r *AppendRequest, b batch.Batch, now int64) (dup bool, err error) {
	if b.ProducerID() < 0 {
		return false, nil
	}
	if p.prod == nil {
		p.prod = txn.NewProducers(txn.DefaultMaxProducers)
	}
	m := batchMeta(b, p.next, now)
	v := p.prod.Check(m)
	switch v.Outcome {
	case txn.Refuse:
		return false, v.Err
	case txn.Accept:
		p.prod.Append(m)
		return false, nil
	}
	r.BaseOffset, r.LogStart = v.BaseOffset, p.ix.LogStart
	if r.LogAppendTime >= 0 {
		r.LogAppendTime = v.Timestamp
	}
	if v.BaseOffset < p.hw {
		r.Done(r)
		return true, nil
	}
	// The original is not durable yet: answer behind it.
	r.entry = commitlog.Entry{Stream: p.stream, BaseOffset: p.next, Kind: kindNothing,
		Durability: p.durabilityLocked(commitlog.Fsync), Owner: (*appendEntry)(r)}
	p.vol.log.Append(&r.entry)
	return true, nil
}

// batchMeta is what the producer table needs to know of a batch.
func batchMeta(b batch.Batch, base, now int64) txn.BatchMeta {
	m := txn.BatchMeta{ProducerID: b.ProducerID(), Epoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence(),
		Count: b.Count(), BaseOffset: base, Timestamp: -1, NowMs: now,
		Transactional: b.Transactional(), Marker: b.Control()}
	if b.TimestampType() {
		m.Timestamp = b.MaxTimestamp()
	}
	return m
}

// kindNothing is an entry that only holds a place in the order of completion.
const kindNothing commitlog.Kind = 3

// appendEntry makes an AppendRequest the owner of its log entry.
type appendEntry AppendRequest

// Sealed indexes the batch. It is not visible before Completed.
func (a *appendEntry) Sealed(e *commitlog.Entry) {
	if e.Kind != commitlog.KindBatch {
		return
	}
	p := a.part
	seg := commitlog.Segment(e.LSN)
	p.mu.Lock()
	if p.prod != nil && batch.Batch(e.Payload).ProducerID() >= 0 {
		p.touched = seg
	}
	if !p.deleted {
		p.indexLocked(seg, e)
	}
	p.mu.Unlock()
}

// Completed makes the batch visible and answers its producer.
func (a *appendEntry) Completed(e *commitlog.Entry) {
	r, p := (*AppendRequest)(a), a.part
	p.mu.Lock()
	p.waiting--
	if e.Err == nil && e.Kind == commitlog.KindBatch {
		p.hw = e.BaseOffset + int64(e.Span)
	}
	r.LogStart = p.ix.LogStart
	wake := len(p.waiters) > 0
	p.mu.Unlock()
	r.Err = storageError(e.Err)
	r.entry.Payload = nil
	r.Done(r)
	if wake {
		p.wakeAll()
	}
}
