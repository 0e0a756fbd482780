package engine

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/cache"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/index"
	"github.com/spatemq/spate/engine/txn"
)

// Errors of partition operations; protocols map them to their own codes.
// Refusals of record batches are *batch.Error, those of sequence numbers
// package txn's; test with errors.Is.
var (
	// ErrOffsetOutOfRange: below the log start or above the high watermark.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrStorage: the volume has failed and is out of service.
	ErrStorage = errors.New("volume is out of service")
	// ErrDiskFull: the disk-full watermark is reached; writes are refused,
	// reads go on.
	ErrDiskFull = errors.New("disk is full")
	// ErrCorrupt: the stored bytes of the wanted offset are damaged.
	ErrCorrupt = errors.New("stored record is corrupt")
	// ErrDeleted: the topic has been deleted.
	ErrDeleted = errors.New("topic has been deleted")
	// ErrShutdown: the engine is closing.
	ErrShutdown = errors.New("engine is shutting down")
	// ErrPolicy: the topic's cleanup policy does not allow the operation.
	ErrPolicy = errors.New("not allowed by the topic's cleanup policy")
)

// AppendRequest appends one record batch v2 to one partition.
type AppendRequest struct {
	// Records is exactly one batch. The engine stamps base offset, leader epoch
	// and, for LogAppendTime, timestamps in place; the bytes must stay untouched
	// by the caller until Done.
	Records []byte
	// Internal marks batches that spate itself writes: control batches are
	// allowed and size limits do not apply.
	Internal bool
	// RefuseZstd: the client's protocol version cannot have zstd.
	RefuseZstd bool
	// NoAck: nobody waits (acks=0); Done is still called.
	NoAck bool
	// Done is called exactly once, when the batch is as durable as its topic
	// asks or has been refused. It may run before Append returns and on any
	// goroutine; it must not block.
	Done func(*AppendRequest)
	// User is the caller's.
	User any

	// Results, valid in Done.
	Err           error
	BaseOffset    int64 // of the original batch for a deduplicated retry
	LogAppendTime int64 // ms; -1 with CreateTime
	LogStart      int64

	entry commitlog.Entry
	part  *Partition
}

// ReadRequest asks for record batches of one partition.
type ReadRequest struct {
	Offset int64
	// MaxBytes limits the result, except that with AtLeastOne the first batch is
	// returned whole whatever its size.
	MaxBytes   int
	AtLeastOne bool
	// Committed bounds the read by the last stable offset and fills Aborted.
	Committed bool
}

// ReadResult is what a read gives. Bufs are references into the engine's
// caches; they stay valid and unchanged until Release.
type ReadResult struct {
	Err           error
	HighWatermark int64
	LastStable    int64
	LogStart      int64
	Bufs          [][]byte // whole batches, in offset order
	Bytes         int
	Aborted       []AbortedTxn

	slabs   []*cache.Slab
	release []func()
}

// Release gives the references back; call it exactly once after a read that
// returned bytes (harmless otherwise).
func (r *ReadResult) Release() {
	for _, s := range r.slabs {
		s.Release()
	}
	for _, f := range r.release {
		f()
	}
	clear(r.Bufs)
	r.slabs, r.release, r.Bufs = r.slabs[:0], r.release[:0], r.Bufs[:0]
	r.Bytes = 0
}

// AbortedTxn is an aborted transaction overlapping a read.
type AbortedTxn struct {
	ProducerID  int64
	FirstOffset int64
}

// TimeOffset is the answer of a lookup by time.
type TimeOffset struct {
	Offset      int64 // -1: none
	Timestamp   int64 // ms, of that record; -1: none
	LeaderEpoch int32 // -1: none
}

// Waiter is woken when a partition it waits on may have something new: the
// high watermark or log start moved, the topic was deleted, the volume failed.
// Wake runs on an engine goroutine and must not block. A waiter stays
// registered until it is removed.
type Waiter interface{ Wake(p *Partition) }

// Partition is one partition of a topic on this node. All methods are safe for
// concurrent use and none waits for the disk unless it says so.
type Partition struct {
	vol    *volume
	index  int32
	stream uint64
	topic  atomic.Pointer[topicState]

	mu      sync.Mutex
	ix      index.Stream
	next    int64 // offset of the next record to be appended
	hw      int64 // offset of the next record to become visible
	waiting int   // entries appended and not completed
	strict  commitlog.Durability
	prod    *txn.Producers // nil: none yet
	touched uint32         // segment in which the producer state last changed
	waiters []Waiter
	deleted bool
	rolling bool // being rewritten at the log's end
}

// topicState is what a partition needs of its topic, replaced as a whole when
// the topic's settings change.
type topicState struct {
	topic      *catalog.Topic
	policy     batch.Policy
	durability commitlog.Durability
}

// Topic is the topic as it is now.
func (p *Partition) Topic() *catalog.Topic { return p.topic.Load().topic }

// Index is the partition's number in its topic.
func (p *Partition) Index() int32 { return p.index }

// LogStart is the first offset that can be read.
func (p *Partition) LogStart() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ix.LogStart
}

// HighWatermark is the offset after the last visible record.
func (p *Partition) HighWatermark() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hw
}

// LastStable is the offset up to which read_committed consumers may read.
func (p *Partition) LastStable() int64 { return p.HighWatermark() }

// LogEnd is the offset of the next record to be appended; it counts what is not
// yet durable.
func (p *Partition) LogEnd() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

// Offsets gives log start, high watermark and last stable offset of one moment.
func (p *Partition) Offsets() (logStart, highWatermark, lastStable int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ix.LogStart, p.hw, p.hw
}

// LeaderEpoch is the epoch that batches appended now get.
func (p *Partition) LeaderEpoch() int32 { return p.vol.engine.catalog.LeaderEpoch() }

// EpochEnd gives the largest leader epoch not above the given one that the
// partition has records of, and the offset after its last one; -1, -1 if it has
// none (KIP-101, KIP-279).
func (p *Partition) EpochEnd(epoch int32) (int32, int64) {
	current := p.LeaderEpoch()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ix.EpochEnd(epoch, current, p.hw)
}

// SizeBytes is the size of the stored batches that can be read, without what
// the log adds.
func (p *Partition) SizeBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ix.Bytes
}

// Err is why the partition is out of service; nil if it is not.
func (p *Partition) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deleted {
		return ErrDeleted
	}
	if p.vol.failed.Load() != nil {
		return ErrStorage
	}
	return nil
}

// AddWaiter registers w to be woken until it is removed.
func (p *Partition) AddWaiter(w Waiter) {
	p.mu.Lock()
	p.waiters = append(p.waiters, w)
	p.mu.Unlock()
}

// RemoveWaiter undoes one AddWaiter. A Wake under way may still arrive.
func (p *Partition) RemoveWaiter(w Waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.waiters {
		if x == w {
			last := len(p.waiters) - 1
			p.waiters[i] = p.waiters[last]
			p.waiters[last] = nil
			p.waiters = p.waiters[:last]
			return
		}
	}
}

// wakeAll wakes the waiters; called without p.mu.
func (p *Partition) wakeAll() {
	p.mu.Lock()
	if len(p.waiters) == 0 {
		p.mu.Unlock()
		return
	}
	list := append(make([]Waiter, 0, 8), p.waiters...)
	p.mu.Unlock()
	for _, w := range list {
		w.Wake(p)
	}
}
