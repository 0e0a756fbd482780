package engine

import "errors"

// Errors of partition operations; protocols map them to their own codes.
// Validation errors of record batches are package batch's, sequence errors
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
	RecordErrors  []RecordError // with Err of batch validation, may be empty
}

// RecordError names one record that made a batch be refused.
type RecordError struct {
	Index   int32 // position in the batch
	Message string
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

	release []func()
}

// Release gives the references back; call it exactly once after a read that
// returned bytes (harmless otherwise).
func (r *ReadResult) Release() {
	for _, f := range r.release {
		f()
	}
	r.release, r.Bufs = nil, nil
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

/* The API of Partition that protocols use (package engine, other files):

func (p *Partition) Topic() *catalog.Topic   // immutable snapshot at the time of the call
func (p *Partition) Index() int32
func (p *Partition) LogStart() int64
func (p *Partition) HighWatermark() int64    // next offset after the last visible record
func (p *Partition) LastStable() int64
func (p *Partition) LogEnd() int64           // includes what is not yet durable
func (p *Partition) LeaderEpoch() int32
func (p *Partition) EpochEnd(epoch int32) (e int32, end int64) // OffsetForLeaderEpoch; -1,-1 if unknown
func (p *Partition) SizeBytes() int64
func (p *Partition) Append(r *AppendRequest)
func (p *Partition) Read(q ReadRequest, r *ReadResult) (hot bool)  // never blocks; false: not in memory, use ReadCold
func (p *Partition) ReadCold(q ReadRequest, r *ReadResult, done func()) // done on any goroutine, exactly once
func (p *Partition) AddWaiter(w Waiter)
func (p *Partition) RemoveWaiter(w Waiter)
func (p *Partition) OffsetForTime(ts int64, done func(TimeOffset, error))
func (p *Partition) OffsetForMaxTime(done func(TimeOffset, error))
func (p *Partition) DeleteRecords(before int64, done func(logStart int64, err error)) // before -1: high watermark

func Open(o Options) (*Engine, error)
func (e *Engine) Close() error
func (e *Engine) Partition(topic string, index int32) *Partition          // nil: unknown
func (e *Engine) PartitionByID(id catalog.TopicID, index int32) *Partition
func (e *Engine) Catalog() *catalog.Catalog
func (e *Engine) CreateTopic(s catalog.TopicSpec, done func(*catalog.Topic, error))
func (e *Engine) DeleteTopic(id catalog.TopicID, done func(error))
func (e *Engine) AddPartitions(id catalog.TopicID, total int32, done func(error))
func (e *Engine) AlterConfigs(r catalog.Resource, set map[string]*string, done func(error)) // nil value: delete
func (e *Engine) AllocateProducerID(done func(id int64, err error))
func (e *Engine) LogDirs() []LogDir  // path, error, total, usable bytes, sizes by partition
*/

// Partition is one partition of a topic on this node.
type Partition struct{}
