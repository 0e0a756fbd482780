package engine

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/config"
	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/engine/groups"
)

// Options of an engine.
type Options struct {
	// Dir is the data directory; the engine closes it.
	Dir disk.Dir
	// Config are the broker's settings.
	Config *config.Broker
	// Tuning comes from the hardware profile.
	Tuning Tuning
	Logger *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Tuning are the knobs of a hardware profile, in bytes and counts.
type Tuning struct {
	GroupMaxBytes  int
	GroupsInFlight int
	SegmentBytes   int64
	HotBytes       int
	ColdBytes      int
	ReadSlots      int
	ReadSlotBytes  int
}

// Engine is spate's storage: all topics of one node.
type Engine struct {
	opt     Options
	log     *slog.Logger
	now     func() time.Time
	vol     *volume
	catalog *catalog.Catalog // what is durable and visible
	meta    *metadata
	cold    workers
	bufs    bufPool
	janitor *janitor
	report  RecoveryReport

	mu       sync.RWMutex
	byTopic  map[catalog.TopicID][]*Partition
	byName   map[string][]*Partition
	metaPart *Partition

	producerIDs idBlock
	groups      *groups.Coordinator
	offsets     offsetsTopic
	closed      atomic.Bool
	stop        chan struct{}
	wg          sync.WaitGroup
}

// coldWorkers bounds the goroutines that wait for cold reads.
const coldWorkers = 64

// Open opens the data directory, recovering what a crash left, and starts the
// engine. Errors name the directory and what to do.
func Open(o Options) (*Engine, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &Engine{opt: o, log: o.Logger, now: o.Now, stop: make(chan struct{}),
		byTopic: map[catalog.TopicID][]*Partition{}, byName: map[string][]*Partition{}}
	e.cold.limit = coldWorkers
	e.janitor = newJanitor(e)
	v, err := e.openVolume(o.Dir)
	if err != nil {
		return nil, err
	}
	e.vol = v
	if err := e.recover(); err != nil {
		v.abandon()
		return nil, fmt.Errorf("data directory %s: %w", o.Dir.Path(), err)
	}
	e.wg.Add(2)
	go func() { defer e.wg.Done(); v.indexer(e.stop) }()
	go func() { defer e.wg.Done(); e.janitor.run(e.stop) }()
	err = e.settle()
	if err == nil {
		err = e.openGroups()
	}
	if err != nil {
		e.Close()
		return nil, fmt.Errorf("data directory %s: %w", o.Dir.Path(), err)
	}
	return e, nil
}

// Close finishes what is in flight and closes the volume. Appends after it are
// refused with ErrShutdown.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return nil
	}
	if e.groups != nil {
		e.groups.Close()
	}
	err := e.vol.log.Sync(10 * time.Second)
	close(e.stop)
	e.wg.Wait()
	if cerr := e.vol.log.Close(); err == nil {
		err = cerr
	}
	e.vol.lock.Close()
	if cerr := e.vol.dir.Close(); err == nil {
		err = cerr
	}
	return err
}

// Catalog is the metadata as it is durable. It is read only: changes go through
// the engine.
func (e *Engine) Catalog() *catalog.Catalog { return e.catalog }

// Partition finds a partition by name, nil if there is none.
func (e *Engine) Partition(topic string, index int32) *Partition {
	e.mu.RLock()
	parts := e.byName[topic]
	e.mu.RUnlock()
	return at(parts, index)
}

// PartitionByID finds a partition by its topic's id, nil if there is none.
func (e *Engine) PartitionByID(id catalog.TopicID, index int32) *Partition {
	e.mu.RLock()
	parts := e.byTopic[id]
	e.mu.RUnlock()
	return at(parts, index)
}

func at(parts []*Partition, i int32) *Partition {
	if i < 0 || int(i) >= len(parts) {
		return nil
	}
	return parts[i]
}

func (e *Engine) allPartitions() []*Partition {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var out []*Partition
	for _, parts := range e.byTopic {
		out = append(out, parts...)
	}
	return out
}

// Stats of the commit log.
func (e *Engine) Stats() commitlog.Stats { return e.vol.log.Stats() }

// Recovery says what Open found.
func (e *Engine) Recovery() RecoveryReport { return e.report }

// LogDir is one data directory as DescribeLogDirs shows it.
type LogDir struct {
	Path        string
	Err         error
	TotalBytes  int64
	UsableBytes int64
	Partitions  []PartitionSize
}

// PartitionSize is what one partition's readable batches take.
type PartitionSize struct {
	Topic     string
	Partition int32
	Bytes     int64
}

// LogDirs describes the data directories.
func (e *Engine) LogDirs() []LogDir {
	v := e.vol
	d := LogDir{Path: v.dir.Path(), TotalBytes: -1, UsableBytes: -1}
	if u, err := v.dir.Usage(); err == nil {
		d.TotalBytes, d.UsableBytes = int64(u.Total), int64(u.Free)
	}
	if v.failed.Load() != nil {
		d.Err = ErrStorage
	}
	for _, p := range e.allPartitions() {
		if t := p.Topic(); t != nil {
			d.Partitions = append(d.Partitions, PartitionSize{t.Name, p.index, p.SizeBytes()})
		}
	}
	return []LogDir{d}
}
