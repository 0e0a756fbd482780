package txn

import (
	"fmt"
	"math"
	"slices"
)

// Window is how many of a producer's last batches are remembered for each
// partition.
const Window = 5

// DefaultMaxProducers is how many producers a partition remembers.
const DefaultMaxProducers = 10000

const (
	noEpoch    int16 = -1
	noSequence int32 = -1
	noOffset   int64 = -1
)

// BatchMeta is what producer state needs to know of a batch.
type BatchMeta struct {
	ProducerID   int64 // ≥ 0
	Epoch        int16
	BaseSequence int32 // ≥ 0; ignored for markers
	Count        int32 // records, > 0
	// BaseOffset is where the batch has been put; only Append looks at it.
	BaseOffset int64
	// Timestamp in ms is what a retry is answered with: the time of append under
	// LogAppendTime, else -1 or the producer's.
	Timestamp int64
	// NowMs is when the batch is appended; expiry counts from it.
	NowMs         int64
	Transactional bool
	// Marker is set for a transaction marker (control batch), which ends the
	// producer's open transaction.
	Marker           bool
	CoordinatorEpoch int32 // of a marker
}

func (m *BatchMeta) lastSequence() int32 { return addSequence(m.BaseSequence, m.Count-1) }

// addSequence wraps from 2^31-1 to 0.
func addSequence(s, n int32) int32 { return int32((int64(s) + int64(n)) & math.MaxInt32) }

// Outcome is what Check decides.
type Outcome uint8

// Outcomes.
const (
	// Accept: append the batch.
	Accept Outcome = iota + 1
	// Duplicate: the batch is in the log; acknowledge it with the values of the
	// Verdict.
	Duplicate
	// Refuse: answer with the Verdict's error.
	Refuse
)

// Verdict is the answer of Check.
type Verdict struct {
	Outcome    Outcome
	BaseOffset int64 // of a Duplicate
	Timestamp  int64 // of a Duplicate, as given to Append
	Err        error // of Refuse
}

// batch is one remembered batch.
type batch struct {
	lastSequence int32
	count        int32
	baseOffset   int64
	timestamp    int64
}

func (b *batch) firstSequence() int32 {
	return int32((int64(b.lastSequence) - int64(b.count) + 1) & math.MaxInt32)
}

// entry is one producer.
type entry struct {
	id               int64
	lastUsed         int64 // ms
	txnFirst         int64 // first offset of the open transaction, or noOffset
	coordinatorEpoch int32
	epoch            int16
	batches          uint8              // remembered ones
	newest           batch              // valid if batches > 0
	older            *[Window - 1]batch // newest first; nil up to the first
}

func (e *entry) lastSequence() int32 {
	if e.batches == 0 {
		return noSequence
	}
	return e.newest.lastSequence
}

func (e *entry) find(first, last int32) *batch {
	for i := range int(e.batches) {
		b := &e.newest
		if i > 0 {
			b = &e.older[i-1]
		}
		if b.lastSequence == last && b.firstSequence() == first {
			return b
		}
	}
	return nil
}

func (e *entry) push(b batch) {
	if e.batches > 0 {
		if e.older == nil {
			e.older = new([Window - 1]batch)
		}
		copy(e.older[1:], e.older[:])
		e.older[0] = e.newest
	}
	e.newest = b
	e.batches = min(e.batches+1, Window)
}

func (e *entry) forget() { e.batches, e.newest, e.older = 0, batch{}, nil }

// Producers is the producer state of one partition. The zero value is ready and
// remembers DefaultMaxProducers.
type Producers struct {
	entries []entry
	index   map[int64]int32 // producer id to position, from mapFrom entries on
	max     int
	open    int // open transactions
}

// mapFrom: up to as many entries, looking at each is faster than a map and
// saves its memory.
const mapFrom = 16

// NewProducers is an empty state for at most maxProducers > 0 producers.
func NewProducers(maxProducers int) *Producers { return &Producers{max: maxProducers} }

// Len is the number of producers remembered.
func (p *Producers) Len() int { return len(p.entries) }

// Check decides on a batch and changes nothing.
func (p *Producers) Check(m BatchMeta) Verdict {
	e := p.find(m.ProducerID)
	if e == nil {
		return p.checkNew(&m)
	}
	if m.Marker {
		return e.checkMarker(&m)
	}
	if m.Epoch == e.epoch {
		if b := e.find(m.BaseSequence, m.lastSequence()); b != nil {
			return Verdict{Outcome: Duplicate, BaseOffset: b.baseOffset, Timestamp: b.timestamp}
		}
	}
	switch {
	case m.Epoch < e.epoch:
		return e.refuse(&m, ErrInvalidProducerEpoch)
	case m.Epoch > e.epoch && m.BaseSequence != 0 && e.epoch != noEpoch:
		return e.refuse(&m, ErrOutOfOrderSequence)
	case m.Epoch == e.epoch && e.epoch != noEpoch && m.BaseSequence != e.expected():
		return e.refuse(&m, ErrOutOfOrderSequence)
	case e.txnFirst != noOffset && !m.Transactional:
		return e.refuse(&m, ErrInvalidTxnState)
	}
	return Verdict{Outcome: Accept}
}

func (p *Producers) checkNew(m *BatchMeta) Verdict {
	if p.open >= p.limit() {
		return Verdict{Outcome: Refuse, Err: fmt.Errorf("%w: %d transactions are open on the partition", ErrTooManyProducers, p.open)}
	}
	return Verdict{Outcome: Accept}
}

// expected is the sequence that follows; 0 in an epoch without batches.
func (e *entry) expected() int32 {
	if e.batches == 0 {
		return 0
	}
	return addSequence(e.newest.lastSequence, 1)
}

func (e *entry) checkMarker(m *BatchMeta) Verdict {
	switch {
	case m.Epoch < e.epoch:
		return e.refuse(m, ErrInvalidProducerEpoch)
	case m.CoordinatorEpoch < e.coordinatorEpoch:
		return e.refuse(m, ErrCoordinatorFenced)
	}
	return Verdict{Outcome: Accept}
}

func (e *entry) refuse(m *BatchMeta, err error) Verdict {
	return Verdict{Outcome: Refuse, Err: fmt.Errorf("%w: producer %d, epoch %d, sequence %d; current epoch %d, last sequence %d",
		err, m.ProducerID, m.Epoch, m.BaseSequence, e.epoch, e.lastSequence())}
}

// Append records a batch that Check has accepted, or that recovery finds in the
// log, where it counts as accepted whatever it says.
func (p *Producers) Append(m BatchMeta) {
	e := p.find(m.ProducerID)
	if e == nil {
		e = p.add(m.ProducerID, m.NowMs)
	}
	if m.Epoch != e.epoch {
		e.epoch = m.Epoch
		e.forget()
	}
	e.lastUsed = m.NowMs
	if m.Marker {
		e.coordinatorEpoch = m.CoordinatorEpoch
		if e.txnFirst != noOffset {
			e.txnFirst = noOffset
			p.open--
		}
		return
	}
	if m.Transactional && e.txnFirst == noOffset {
		p.open++
		e.txnFirst = m.BaseOffset
	}
	e.push(batch{m.lastSequence(), m.Count, m.BaseOffset, m.Timestamp})
}

// OldestOpenTxn is the first offset of the oldest open transaction; -1: none is
// open.
func (p *Producers) OldestOpenTxn() int64 {
	oldest := noOffset
	if p.open == 0 {
		return oldest
	}
	for i := range p.entries {
		if f := p.entries[i].txnFirst; f != noOffset && (oldest == noOffset || f < oldest) {
			oldest = f
		}
	}
	return oldest
}

// Expire forgets producers that have not written for expirationMs
// (producer.id.expiration.ms) and have no transaction open, and tells how many.
func (p *Producers) Expire(nowMs, expirationMs int64) int {
	return p.remove(func(e *entry) bool { return nowMs-e.lastUsed >= expirationMs })
}

func (p *Producers) find(id int64) *entry {
	if p.index != nil {
		if i, ok := p.index[id]; ok {
			return &p.entries[i]
		}
		return nil
	}
	for i := range p.entries {
		if p.entries[i].id == id {
			return &p.entries[i]
		}
	}
	return nil
}

func (p *Producers) limit() int {
	if p.max == 0 {
		return DefaultMaxProducers
	}
	return p.max
}

func (p *Producers) add(id, nowMs int64) *entry {
	if len(p.entries) >= p.limit() {
		p.evict()
	}
	p.entries = append(p.entries, entry{id: id, epoch: noEpoch, lastUsed: nowMs, txnFirst: noOffset, coordinatorEpoch: -1})
	switch {
	case p.index != nil:
		p.index[id] = int32(len(p.entries) - 1)
	case len(p.entries) > mapFrom:
		p.reindex()
	}
	return &p.entries[len(p.entries)-1]
}

// evict forgets the eighth that has been unused for longest, so that the cost is
// shared by many additions. Producers with an open transaction stay, since
// forgetting them would expose uncommitted data; checkNew bounds their number.
func (p *Producers) evict() {
	used := make([]int64, 0, len(p.entries))
	for i := range p.entries {
		if p.entries[i].txnFirst == noOffset {
			used = append(used, p.entries[i].lastUsed)
		}
	}
	if len(used) == 0 {
		return
	}
	slices.Sort(used)
	n := max(len(used)/8, 1)
	limit := used[n-1]
	p.remove(func(e *entry) bool {
		if n == 0 || e.lastUsed > limit {
			return false
		}
		n--
		return true
	})
}

func (p *Producers) remove(when func(*entry) bool) int {
	before := len(p.entries)
	p.entries = slices.DeleteFunc(p.entries, func(e entry) bool { return e.txnFirst == noOffset && when(&e) })
	removed := before - len(p.entries)
	if removed == 0 {
		return 0
	}
	if len(p.entries) < cap(p.entries)/4 {
		p.entries = slices.Clip(slices.Clone(p.entries))
	}
	p.reindex()
	return removed
}

func (p *Producers) reindex() {
	p.index = nil
	if len(p.entries) <= mapFrom {
		return
	}
	p.index = make(map[int64]int32, len(p.entries))
	for i := range p.entries {
		p.index[p.entries[i].id] = int32(i)
	}
}
