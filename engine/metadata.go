package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/config"
)

// metadata writes the catalog's events. A change is planned against the state
// that all changes before it lead to, durable or not; it becomes visible to
// readers when it is durable. A write that fails takes the volume out of
// service, so that the two states never come apart.
type metadata struct {
	e    *Engine
	part *Partition

	mu      sync.Mutex
	planned *catalog.Catalog
}

// metaBatch is one change on its way to the disk.
type metaBatch struct {
	req    AppendRequest
	meta   *metadata
	events []catalog.Event
	done   func(error)
}

// change plans and writes one change; done is called when it is visible or has
// been refused.
func (m *metadata) change(plan func(c *catalog.Catalog) ([]catalog.Event, error), done func(error)) {
	m.mu.Lock()
	events, err := plan(m.planned)
	if err == nil && len(events) > 0 {
		err = storageError(m.part.vol.log.Admit(0, false))
	}
	if err != nil || len(events) == 0 {
		m.mu.Unlock()
		done(err)
		return
	}
	b := &metaBatch{meta: m, events: events, done: done}
	b.req = AppendRequest{Records: encodeEvents(events, m.e.now().UnixMilli()), Internal: true, Done: metaDone, User: b}
	for _, ev := range events {
		if err := m.planned.Apply(ev); err != nil {
			panic(fmt.Sprintf("BUG: planned event cannot be applied: %v", err))
		}
	}
	err = m.part.appendOne(&b.req)
	m.mu.Unlock()
	if err != nil {
		// Planned but never to be written: no further change can be right.
		m.part.vol.fail(fmt.Errorf("metadata change refused: %w", err))
		done(err)
		return
	}
	m.part.vol.log.Kick()
}

func encodeEvents(events []catalog.Event, now int64) []byte {
	w := batch.NewBuilder(batch.NewOptions())
	for _, ev := range events {
		k, v := ev.Encode()
		w.Append(now, k, v)
	}
	return w.Finish()
}

func metaDone(r *AppendRequest) {
	b := r.User.(*metaBatch)
	if r.Err == nil {
		for _, ev := range b.events {
			b.meta.e.apply(ev)
		}
	}
	b.done(r.Err)
}

// apply makes one durable event visible.
func (e *Engine) apply(ev catalog.Event) {
	var gone *catalog.Topic
	if d, ok := ev.Body.(catalog.TopicDeleted); ok {
		gone = e.catalog.TopicByID(d.ID)
	}
	if err := e.catalog.Apply(ev); err != nil {
		panic(fmt.Sprintf("BUG: durable event cannot be applied: %v", err))
	}
	switch b := ev.Body.(type) {
	case catalog.ClusterCreated:
		e.install(e.catalog.TopicByID(catalog.MetadataTopicID), nil)
	case catalog.TopicCreated:
		e.install(e.catalog.TopicByID(b.ID), nil)
	case catalog.PartitionsAdded:
		e.install(e.catalog.TopicByID(b.ID), nil)
	case catalog.TopicDeleted:
		e.uninstall(gone)
		if e.groups != nil {
			e.groups.TopicDeleted(gone.Name)
		}
	case catalog.ConfigSet:
		e.refresh()
	}
}

// install makes the partitions of a topic that do not exist yet. found are the
// indexes that recovery has made, by stream.
func (e *Engine) install(t *catalog.Topic, found map[uint64]*recovered) {
	state := newTopicState(t)
	e.mu.Lock()
	defer e.mu.Unlock()
	parts := e.byTopic[t.ID]
	grown := append(make([]*Partition, 0, len(t.Streams)), parts...)
	for i := len(parts); i < len(t.Streams); i++ {
		if t.Streams[i] == catalog.MetadataStream {
			grown = append(grown, e.metaPart) // it was there before its topic
			continue
		}
		p := &Partition{vol: e.vol, index: int32(i), stream: t.Streams[i]}
		p.ix.ID = p.stream
		if r := found[p.stream]; r != nil {
			r.into(p)
		}
		grown = append(grown, p)
	}
	for _, p := range grown {
		p.topic.Store(state)
	}
	e.byTopic[t.ID], e.byName[t.Name] = grown, grown
}

// uninstall ends a topic's partitions and lets go of their space.
func (e *Engine) uninstall(t *catalog.Topic) {
	e.mu.Lock()
	parts := e.byTopic[t.ID]
	delete(e.byTopic, t.ID)
	delete(e.byName, t.Name)
	e.mu.Unlock()
	for _, p := range parts {
		p.mu.Lock()
		p.deleted = true
		var segs []uint32
		for i := range p.ix.Parts {
			segs = append(segs, p.ix.Parts[i].Seg)
		}
		p.ix.Parts, p.prod = nil, nil
		p.mu.Unlock()
		p.vol.dropped(segs)
		p.wakeAll()
	}
}

// refresh gives all partitions their topics' settings anew.
func (e *Engine) refresh() {
	for _, t := range e.catalog.Topics() {
		e.mu.RLock()
		parts := e.byTopic[t.ID]
		e.mu.RUnlock()
		if len(parts) == 0 || parts[0].topic.Load().topic == t {
			continue
		}
		state := newTopicState(t)
		for _, p := range parts {
			p.topic.Store(state)
		}
	}
}

var codecs = map[config.Compression]batch.Codec{config.ProducerCompression: batch.Producer, config.Uncompressed: batch.None,
	config.Gzip: batch.Gzip, config.Snappy: batch.Snappy, config.LZ4: batch.LZ4, config.Zstd: batch.Zstd}

func newTopicState(t *catalog.Topic) *topicState {
	s := t.Settings
	p := batch.DefaultPolicy()
	p.MaxBytes = s.MaxMessageBytes
	p.Compacted = s.CleanupCompact
	p.LogAppendTime = s.LogAppendTime
	p.TimestampBeforeMaxMs, p.TimestampAfterMaxMs = s.TimestampBeforeMaxMs, s.TimestampAfterMaxMs
	p.Codec = codecs[s.Compression]
	switch s.Compression {
	case config.Gzip:
		p.Level = s.GzipLevel
	case config.LZ4:
		p.Level = s.LZ4Level
	case config.Zstd:
		p.Level = s.ZstdLevel
	}
	d := map[config.Durability]commitlog.Durability{config.Fsync: commitlog.Fsync,
		config.Write: commitlog.Write, config.Memory: commitlog.Memory}[s.Durability]
	return &topicState{topic: t, policy: p, durability: d}
}

// CreateTopic makes a topic. done is called when it is visible everywhere, with
// the topic or a *catalog.Error; on any goroutine, like all done callbacks here.
func (e *Engine) CreateTopic(spec catalog.TopicSpec, done func(*catalog.Topic, error)) {
	var made *catalog.Topic
	e.meta.change(func(c *catalog.Catalog) (evs []catalog.Event, err error) {
		made, evs, err = c.PlanCreateTopic(spec)
		return evs, err
	}, func(err error) {
		if err != nil {
			done(nil, err)
			return
		}
		done(e.catalog.TopicByID(made.ID), nil)
	})
}

// DeleteTopic deletes a topic; its space comes back in the background.
func (e *Engine) DeleteTopic(id catalog.TopicID, done func(error)) {
	e.meta.change(func(c *catalog.Catalog) ([]catalog.Event, error) { return c.PlanDeleteTopic(id) }, done)
}

// AddPartitions grows a topic to total partitions.
func (e *Engine) AddPartitions(id catalog.TopicID, total int32, done func(error)) {
	e.meta.change(func(c *catalog.Catalog) ([]catalog.Event, error) { return c.PlanAddPartitions(id, total, nil) }, done)
}

// AlterConfigs sets overrides of a topic or broker; a nil value deletes one.
func (e *Engine) AlterConfigs(r catalog.Resource, set map[string]*string, done func(error)) {
	e.meta.change(func(c *catalog.Catalog) ([]catalog.Event, error) { return c.PlanAlterConfigs(r, set) }, done)
}

// idBlock are the producer ids reserved and not given out.
type idBlock struct {
	mu      sync.Mutex
	next    int64
	end     int64
	loading bool
	waiting []func(int64, error)
}

// producerIDBlock is how many ids are reserved at a time; after a restart what
// is left of a block is never used.
const producerIDBlock = 1000

// maxProducerIDWaiters bounds the requests that wait for a block.
const maxProducerIDWaiters = 10000

var errBusy = errors.New("too many requests wait for producer ids")

// AllocateProducerID gives out a producer id that was never given out before.
func (e *Engine) AllocateProducerID(done func(id int64, err error)) {
	b := &e.producerIDs
	b.mu.Lock()
	if b.next < b.end {
		id := b.next
		b.next++
		b.mu.Unlock()
		done(id, nil)
		return
	}
	if len(b.waiting) >= maxProducerIDWaiters {
		b.mu.Unlock()
		done(-1, errBusy)
		return
	}
	b.waiting = append(b.waiting, done)
	load := !b.loading
	b.loading = true
	b.mu.Unlock()
	if load {
		e.reserveIDs()
	}
}

func (e *Engine) reserveIDs() {
	var first int64
	e.meta.change(func(c *catalog.Catalog) (evs []catalog.Event, err error) {
		first, evs, err = c.PlanReserveProducerIDs(producerIDBlock)
		return evs, err
	}, func(err error) {
		b := &e.producerIDs
		b.mu.Lock()
		b.loading = false
		if err == nil {
			b.next, b.end = first, first+producerIDBlock
		}
		waiting := b.waiting
		b.waiting = nil
		b.mu.Unlock()
		for _, w := range waiting {
			if err != nil {
				w(-1, err)
				continue
			}
			e.AllocateProducerID(w)
		}
	})
}

// newCatalogs makes the two states that follow the same events.
func newCatalogs(cfg *config.Broker) (visible, planned *catalog.Catalog) {
	o := catalog.Options{Random: rand.Reader, Static: cfg.Static(), MaxPartitions: int(cfg.Int("spate.max.partitions"))}
	return catalog.New(o), catalog.New(o)
}
