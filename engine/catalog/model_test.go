package catalog

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestRandomHistories checks after every step of random histories that the log
// so far and a snapshot of the state both give an equal catalog, and that the
// catalog agrees with a plain model.
func TestRandomHistories(t *testing.T) {
	for seed := range byte(20) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			h := newHistory(t, seed)
			for i := range 150 {
				h.step()
				if i%10 == 0 {
					h.check()
				}
			}
			h.check()
		})
	}
}

type history struct {
	t       *testing.T
	r       *rand.Rand
	c       *Catalog
	log     []Event
	model   map[string]int32 // topic → partitions
	streams map[uint64]bool  // ever used
}

func newHistory(t *testing.T, seed byte) *history {
	h := &history{t: t, r: rand.New(rand.NewPCG(uint64(seed), 1)), c: New(Options{Random: newSeeded(seed)}),
		model: map[string]int32{MetadataTopic: 1}, streams: map[uint64]bool{MetadataStream: true}}
	h.record(must(h.c.PlanCreateCluster("", 1)))
	return h
}

func (h *history) record(events []Event) {
	apply(h.t, h.c, events)
	h.log = append(h.log, events...)
}

func (h *history) topic() *Topic {
	all := h.c.Topics()
	return all[h.r.IntN(len(all))]
}

func (h *history) step() {
	switch n := h.r.IntN(100); {
	case n < 40:
		h.create()
	case n < 55:
		h.grow()
	case n < 70:
		h.drop()
	case n < 85:
		h.configure()
	case n < 90:
		_, events, err := h.c.PlanReserveProducerIDs(1000)
		h.accept(events, err)
	case n < 95:
		h.accept(h.c.PlanRaiseLeaderEpoch(), nil)
	default:
		h.record(h.c.Snapshot())
	}
}

func (h *history) accept(events []Event, err error) {
	if err != nil {
		h.t.Fatal(err)
	}
	h.record(events)
}

func (h *history) create() {
	name := fmt.Sprintf("t%s%d", []string{".", "_", ""}[h.r.IntN(3)], h.r.IntN(20))
	spec := TopicSpec{Name: name, Partitions: 1 + h.r.Int32N(5), ReplicationFactor: -1}
	if h.r.IntN(2) == 0 {
		spec.Configs = map[string]*string{"retention.ms": ptr(strconv.Itoa(h.r.IntN(1000)))}
	}
	topic, events, err := h.c.PlanCreateTopic(spec)
	if _, exists := h.model[name]; exists {
		if KindOf(err) != TopicExists {
			h.t.Fatalf("creating %s again: %v", name, err)
		}
		return
	}
	if err != nil {
		if KindOf(err) != InvalidTopicName {
			h.t.Fatal(err)
		}
		return // collides
	}
	for _, s := range topic.Streams {
		if h.streams[s] {
			h.t.Fatalf("stream %d of %s was used before", s, name)
		}
		h.streams[s] = true
	}
	h.record(events)
	h.model[name] = spec.Partitions
}

func (h *history) grow() {
	topic := h.topic()
	total := topic.Partitions() + h.r.Int32N(3)
	events, err := h.c.PlanAddPartitions(topic.ID, total, nil)
	if topic.ID == MetadataTopicID || total == topic.Partitions() {
		if err == nil {
			h.t.Fatalf("%s grew from %d to %d", topic.Name, topic.Partitions(), total)
		}
		return
	}
	h.accept(events, err)
	h.model[topic.Name] = total
	for _, s := range h.c.Topic(topic.Name).Streams[topic.Partitions():] {
		if h.streams[s] {
			h.t.Fatalf("stream %d was used before", s)
		}
		h.streams[s] = true
	}
}

func (h *history) drop() {
	topic := h.topic()
	events, err := h.c.PlanDeleteTopic(topic.ID)
	if topic.ID == MetadataTopicID {
		if err == nil {
			h.t.Fatal("the metadata topic can be deleted")
		}
		return
	}
	h.accept(events, err)
	delete(h.model, topic.Name)
}

func (h *history) configure() {
	r := Resource{Type: BrokerResource, Name: []string{"", "1"}[h.r.IntN(2)]}
	name := "log.retention.ms"
	if h.r.IntN(3) > 0 {
		r = Resource{Type: TopicResource, Name: h.topic().Name}
		name = "retention.ms"
	}
	set := map[string]*string{name: ptr(strconv.Itoa(1 + h.r.IntN(1000)))}
	if h.r.IntN(3) == 0 {
		set[name] = nil
	}
	events, err := h.c.PlanAlterConfigs(r, set)
	if r.Name == MetadataTopic {
		if err == nil {
			h.t.Fatal("the metadata topic's settings can be changed")
		}
		return
	}
	h.accept(events, err)
}

func (h *history) check() {
	t := h.t
	replayed := New(Options{})
	apply(t, replayed, h.log)
	wantSame(t, replayed, h.c)
	restored := New(Options{})
	apply(t, restored, h.c.Snapshot())
	wantSame(t, restored, h.c)
	if len(h.c.Topics()) != len(h.model) {
		t.Fatalf("%d topics, want %d", len(h.c.Topics()), len(h.model))
	}
	sum := 0
	for i, topic := range h.c.Topics() {
		if topic.Partitions() != h.model[topic.Name] {
			t.Fatalf("%s has %d partitions, want %d", topic.Name, topic.Partitions(), h.model[topic.Name])
		}
		if i > 0 && h.c.Topics()[i-1].Name >= topic.Name {
			t.Fatal("topics are not sorted")
		}
		if h.c.TopicByID(topic.ID) != topic || h.c.Topic(topic.Name) != topic {
			t.Fatalf("%s is not found by id and name", topic.Name)
		}
		sum += len(topic.Streams)
	}
	if h.c.Partitions() != sum {
		t.Fatalf("%d partitions, want %d", h.c.Partitions(), sum)
	}
}
