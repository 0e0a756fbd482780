package engine

import (
	"fmt"
	"sync"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/groups"
)

// Groups is the coordinator of consumer groups.
func (e *Engine) Groups() *groups.Coordinator { return e.groups }

// offsetsTopic makes __consumer_offsets when it is first needed.
type offsetsTopic struct {
	mu       sync.Mutex
	creating bool
	waiting  []func(error)
}

// EnsureOffsetsTopic makes __consumer_offsets if there is none yet. done may be
// called before it returns.
func (e *Engine) EnsureOffsetsTopic(done func(error)) {
	o := &e.offsets
	o.mu.Lock()
	if !o.creating && e.catalog.Topic(catalog.OffsetsTopic) != nil {
		o.mu.Unlock()
		done(nil)
		return
	}
	o.waiting = append(o.waiting, done)
	start := !o.creating
	o.creating = true
	o.mu.Unlock()
	if !start {
		return
	}
	compact := "compact"
	e.CreateTopic(catalog.TopicSpec{Name: catalog.OffsetsTopic, Internal: true, ReplicationFactor: -1,
		Partitions: e.groups.Partitions(), Configs: map[string]*string{"cleanup.policy": &compact}},
		func(_ *catalog.Topic, err error) {
			if catalog.KindOf(err) == catalog.TopicExists {
				err = nil
			}
			// Who comes while the first ones are called queues behind them: appends
			// must not overtake each other.
			o.mu.Lock()
			for len(o.waiting) > 0 {
				f := o.waiting[0]
				o.waiting = o.waiting[1:]
				o.mu.Unlock()
				f(err)
				o.mu.Lock()
			}
			o.waiting, o.creating = nil, false
			o.mu.Unlock()
		})
}

// offsetsLog stores the groups' records.
type offsetsLog struct{ e *Engine }

// offsetsAppend is one batch of records on its way.
type offsetsAppend struct {
	req  AppendRequest
	done func(error)
}

// Append implements groups.Log.
func (l offsetsLog) Append(partition int32, records []groups.Record, done func(error)) {
	l.e.EnsureOffsetsTopic(func(err error) {
		p := l.e.Partition(catalog.OffsetsTopic, partition)
		if err == nil && p == nil {
			err = fmt.Errorf("%s has no partition %d", catalog.OffsetsTopic, partition)
		}
		if err != nil {
			done(err)
			return
		}
		w := batch.NewBuilder(batch.NewOptions())
		now := l.e.now().UnixMilli()
		for _, r := range records {
			w.Append(now, r.Key, r.Value)
		}
		a := &offsetsAppend{done: done}
		a.req = AppendRequest{Records: w.Finish(), Internal: true, User: a, Done: offsetsDone}
		p.Append(&a.req)
	})
}

func offsetsDone(r *AppendRequest) { r.User.(*offsetsAppend).done(r.Err) }

// openGroups makes the coordinator and replays __consumer_offsets into it.
func (e *Engine) openGroups() error {
	c := e.opt.Config
	partitions := int32(c.Int("offsets.topic.num.partitions"))
	t := e.catalog.Topic(catalog.OffsetsTopic)
	if t != nil {
		partitions = t.Partitions()
	}
	e.groups = groups.New(groups.Options{
		Log: offsetsLog{e}, Partitions: partitions, Now: e.now, Logger: e.log,
		Exists:           func(topic string, p int32) bool { return e.Partition(topic, p) != nil },
		InitialDelayMs:   c.Int("group.initial.rebalance.delay.ms"),
		MinSessionMs:     c.Int("group.min.session.timeout.ms"),
		MaxSessionMs:     c.Int("group.max.session.timeout.ms"),
		MaxGroupSize:     int(c.Int("group.max.size")),
		MaxMetadataBytes: int(c.Int("offset.metadata.max.bytes")),
		RetentionMs:      c.Int("offsets.retention.minutes") * 60_000,
		SweepMs:          c.Int("offsets.retention.check.interval.ms"),
	})
	for i := range partitions {
		p := e.Partition(catalog.OffsetsTopic, i)
		if p == nil {
			continue
		}
		err := readAll(p, func(r *batch.Record) error {
			if err := e.groups.Replay(r.Key, r.Value); err != nil {
				// One record nobody can read must not keep the rest from serving.
				e.log.Error("group record cannot be read and is passed over", "partition", i, "offset", r.Offset, "error", err)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s partition %d: %w", catalog.OffsetsTopic, i, err)
		}
	}
	e.groups.Start()
	return nil
}

// rollOffsets appends what is in force in one partition of __consumer_offsets
// and tells where that begins; -1 if it cannot be done now.
func (e *Engine) rollOffsets(p *Partition, done func(base int64, err error)) {
	r := &rollout{left: 1, base: -1, done: done}
	ok := e.groups.Snapshot(p.index, func(records []groups.Record) {
		r.base = p.LogEnd()
		now := e.now().UnixMilli()
		for len(records) > 0 {
			n := min(len(records), rollBatchEvents)
			w := batch.NewBuilder(batch.NewOptions())
			for _, rec := range records[:n] {
				w.Append(now, rec.Key, rec.Value)
			}
			r.add(p, w.Finish())
			records = records[n:]
		}
		p.vol.log.Kick()
		r.finish(nil)
	})
	if !ok {
		r.finish(nil)
	}
}
