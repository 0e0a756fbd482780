package catalog

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSnapshotThatIsNotWhole cuts and disturbs a snapshot at every event.
func TestSnapshotThatIsNotWhole(t *testing.T) {
	c := newCluster(t, 1)
	create(t, c, "a", 1)
	create(t, c, "b", 2)
	snapshot := c.Snapshot()
	for n := range snapshot {
		d := newCluster(t, 1)
		before := d.Version()
		apply(t, d, snapshot[:n])
		if d.Topic("a") != nil || d.Version() != before {
			t.Fatalf("%d of %d events count", n, len(snapshot))
		}
		apply(t, d, d.PlanRaiseLeaderEpoch())
		apply(t, d, snapshot[n:])
		if whole := n == 0; whole != (d.Topic("a") != nil) {
			t.Fatalf("a snapshot with a change after %d events: %d topics", n, len(d.Topics()))
		}
	}
	// Only the end of an older snapshot is left in the log.
	d := New(Options{})
	apply(t, d, snapshot[2:])
	apply(t, d, snapshot)
	wantSame(t, d, c)
}

// TestSnapshotKeepsTopics checks that a snapshot which tells nothing new leaves
// the *Topics of the readers alone.
func TestSnapshotKeepsTopics(t *testing.T) {
	c := newCluster(t, 1)
	topic := create(t, c, "a", 1)
	apply(t, c, c.Snapshot())
	if c.Topic("a") != topic {
		t.Error("another *Topic")
	}
}

// TestEventsThatDoNotFit checks that a wrong log is refused without effect.
func TestEventsThatDoNotFit(t *testing.T) {
	c := newCluster(t, 1)
	a := create(t, c, "a", 1)
	apply(t, c, must2(c.PlanReserveProducerIDs(5)))
	apply(t, c, c.PlanRaiseLeaderEpoch())
	want := c.Snapshot()
	for _, b := range []Body{
		ClusterCreated{ClusterID: "x", NodeID: 2},
		TopicCreated{Name: "a", ID: TopicID{5}, Streams: []uint64{50}},
		TopicCreated{Name: "b", ID: a.ID, Streams: []uint64{50}},
		TopicCreated{Name: "b", ID: TopicID{5}, Streams: a.Streams},
		TopicCreated{Name: "b", ID: TopicID{5}, Streams: []uint64{51, 50}},
		TopicCreated{Name: "b", ID: TopicID{5}, Streams: []uint64{^uint64(0)}},
		TopicCreated{Name: "b", ID: TopicID{5}},
		TopicCreated{Name: "b", Streams: []uint64{50}},
		TopicCreated{Name: "b/b", ID: TopicID{5}, Streams: []uint64{50}},
		PartitionsAdded{ID: TopicID{5}, Streams: []uint64{50}},
		PartitionsAdded{ID: a.ID, Streams: a.Streams},
		TopicDeleted{ID: TopicID{5}},
		TopicDeleted{ID: MetadataTopicID},
		ConfigSet{Type: "topic", Name: "nosuch"},
		ConfigSet{Type: "rack", Name: "r"},
		ProducerIDsReserved{Next: 4},
		LeaderEpochRaised{Epoch: 0},
	} {
		if err := c.Apply(Event{Body: b}); err == nil {
			t.Errorf("%+v is applied", b)
		}
	}
	if got := c.Snapshot(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func must2[T any](_ T, events []Event, err error) []Event { return must(events, err) }

func TestIDs(t *testing.T) {
	r := newSeeded(3)
	for range 10_000 {
		id := must(NewUUID(r))
		if text := id.String(); len(text) != 22 || text[0] == '-' || id.IsZero() {
			t.Fatalf("id %q", text)
		}
		if back := must(ParseTopicID(id.String())); back != id {
			t.Fatalf("%s is read as %s", id, back)
		}
	}
	for _, text := range []string{"", "AAAA", strings.Repeat("A", 23), strings.Repeat("*", 22), strings.Repeat("_", 22)} {
		if _, err := ParseTopicID(text); err == nil {
			t.Errorf("%q is an id", text)
		}
	}
	if _, err := NewUUID(strings.NewReader("")); err == nil {
		t.Error("an id without randomness")
	}
	if got := MetadataTopicID.String(); got != "AAAAAAAAAAAAAAAAAAAAAQ" {
		t.Errorf("metadata topic's id %s", got)
	}
}

func TestPartitionLimit(t *testing.T) {
	c := New(Options{Random: newSeeded(1), MaxPartitions: 10})
	apply(t, c, must(c.PlanCreateCluster("", 1)))
	a := create(t, c, "a", 9)
	if _, _, err := c.PlanCreateTopic(TopicSpec{Name: "b", Partitions: 1, ReplicationFactor: 1}); KindOf(err) != TooManyPartitions {
		t.Errorf("%v", err)
	}
	if _, err := c.PlanAddPartitions(a.ID, 10, nil); KindOf(err) != TooManyPartitions {
		t.Errorf("%v", err)
	}
}

// TestManyTopics creates 10,000 partitions with a reader of the list between
// creations, then restores them from a snapshot.
func TestManyTopics(t *testing.T) {
	c := newCluster(t, 1)
	start := time.Now()
	for i := range 1250 {
		_, events, err := c.PlanCreateTopic(TopicSpec{Name: fmt.Sprint("topic-", i), Partitions: 8, ReplicationFactor: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := c.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if len(c.Topics()) != i+2 {
			t.Fatalf("%d topics", len(c.Topics()))
		}
	}
	t.Logf("created in %v", time.Since(start))
	start = time.Now()
	d := New(Options{})
	apply(t, d, c.Snapshot())
	t.Logf("restored in %v", time.Since(start))
	wantSame(t, d, c)
}

func TestLookupsDoNotAllocate(t *testing.T) {
	c := newCluster(t, 1)
	topic := create(t, c, "a", 1)
	if n := testing.AllocsPerRun(100, func() {
		if c.Topic("a") != topic || c.TopicByID(topic.ID) != topic || len(c.Topics()) != 2 || c.LeaderEpoch() != 0 {
			t.Fatal("not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestReadersDuringChanges is for the race detector.
func TestReadersDuringChanges(t *testing.T) {
	c := newCluster(t, 1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				all := c.Topics()
				for i, topic := range all {
					if i > 0 && all[i-1].Name >= topic.Name || topic.Settings == nil {
						t.Error("topics out of order")
					}
				}
				c.Layers()
				c.Snapshot()
			}
		})
	}
	for i := range 200 {
		create(t, c, fmt.Sprint("t", i), 1)
		apply(t, c, must(c.PlanAlterConfigs(Resource{Type: BrokerResource}, map[string]*string{"log.retention.ms": ptr(fmt.Sprint(i + 1))})))
		if i%2 == 0 {
			apply(t, c, must(c.PlanDeleteTopic(c.Topic(fmt.Sprint("t", i)).ID)))
		}
	}
	close(stop)
	wg.Wait()
}
