package kafka

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/catalog"
)

// memoryAdmin is an admin whose catalog is the real one and whose log is
// memory: events take effect when they are planned.
type memoryAdmin struct {
	t       testing.TB
	mu      sync.Mutex
	catalog *catalog.Catalog
	ends    map[string]int64 // high watermark of partition 0 by topic; log starts are 0
}

func newMemoryAdmin(t testing.TB) *memoryAdmin {
	a := &memoryAdmin{t: t, catalog: catalog.New(catalog.Options{Random: rand.NewChaCha8([32]byte{1}),
		Static: map[string]string{"num.partitions": "1"}}), ends: map[string]int64{}}
	a.apply(a.catalog.PlanCreateCluster("", 1))
	return a
}

func (a *memoryAdmin) apply(events []catalog.Event, err error) error {
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := a.catalog.Apply(e); err != nil {
			a.t.Error(err)
		}
	}
	return nil
}

// later runs done as the engine does: on another goroutine.
func (a *memoryAdmin) later(step func() error, done func(error)) {
	go func() {
		a.mu.Lock()
		err := step()
		a.mu.Unlock()
		done(err)
	}()
}

func (a *memoryAdmin) Catalog() *catalog.Catalog { return a.catalog }

func (a *memoryAdmin) CreateTopic(spec catalog.TopicSpec, done func(*catalog.Topic, error)) {
	var topic *catalog.Topic
	a.later(func() error {
		t, events, err := a.catalog.PlanCreateTopic(spec)
		topic = t
		return a.apply(events, err)
	}, func(err error) { done(topic, err) })
}

func (a *memoryAdmin) DeleteTopic(id catalog.TopicID, done func(error)) {
	a.later(func() error { return a.apply(a.catalog.PlanDeleteTopic(id)) }, done)
}

func (a *memoryAdmin) AddPartitions(id catalog.TopicID, total int32, done func(error)) {
	a.later(func() error { return a.apply(a.catalog.PlanAddPartitions(id, total, nil)) }, done)
}

func (a *memoryAdmin) AlterConfigs(r catalog.Resource, set map[string]*string, done func(error)) {
	a.later(func() error { return a.apply(a.catalog.PlanAlterConfigs(r, set)) }, done)
}

func (a *memoryAdmin) DeleteRecords(topic string, partition int32, before int64, done func(int64, error)) {
	var start int64
	a.later(func() error {
		hw := int64(0)
		if partition == 0 {
			hw = a.ends[topic]
		}
		if start = before; before == -1 {
			start = hw
		}
		if start < 0 || start > hw {
			return engine.ErrOffsetOutOfRange
		}
		return nil
	}, func(err error) { done(start, err) })
}

func (a *memoryAdmin) LogDirs() []engine.LogDir {
	d := engine.LogDir{Path: "/data", TotalBytes: 1000, UsableBytes: 400}
	for _, t := range a.catalog.Topics() {
		for p := range t.Partitions() {
			d.Partitions = append(d.Partitions, engine.PartitionSize{Topic: t.Name, Partition: p})
		}
	}
	return []engine.LogDir{d}
}
