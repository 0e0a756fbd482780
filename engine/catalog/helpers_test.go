package catalog

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// seeded is a deterministic source of ids.
type seeded struct{ *rand.ChaCha8 }

func newSeeded(seed byte) seeded { return seeded{rand.NewChaCha8([32]byte{seed})} }

func newCluster(t testing.TB, seed byte) *Catalog {
	t.Helper()
	c := New(Options{Random: newSeeded(seed), MaxPartitions: 100_000})
	apply(t, c, must(c.PlanCreateCluster("", 1)))
	return c
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func apply(t testing.TB, c *Catalog, events []Event) {
	t.Helper()
	for _, e := range events {
		if err := c.Apply(recode(t, e)); err != nil {
			t.Fatal(err)
		}
	}
}

// recode sends an event through its encoding.
func recode(t testing.TB, e Event) Event {
	t.Helper()
	k, v := e.Encode()
	d, err := Decode(k, v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func create(t testing.TB, c *Catalog, name string, partitions int32) *Topic {
	t.Helper()
	topic, events, err := c.PlanCreateTopic(TopicSpec{Name: name, Partitions: partitions, ReplicationFactor: 1})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, c, events)
	got := c.Topic(name)
	if !reflect.DeepEqual(got, topic) {
		t.Fatalf("planned %+v, became %+v", topic, got)
	}
	return got
}

// wantSame fails unless both catalogs answer every reader alike.
func wantSame(t testing.TB, got, want *Catalog) {
	t.Helper()
	got.mu.RLock()
	want.mu.RLock()
	defer got.mu.RUnlock()
	defer want.mu.RUnlock()
	a, b := *got.state, *want.state
	a.shared, b.shared = nil, nil // computed when first needed
	for _, name := range slices.Sorted(maps.Keys(b.byName)) {
		if !reflect.DeepEqual(a.byName[name], b.byName[name]) {
			t.Fatalf("topic %s differs:\ngot  %+v\nwant %+v", name, a.byName[name], b.byName[name])
		}
	}
	if !reflect.DeepEqual(a, b) {
		a.byName, a.byID, b.byName, b.byID = nil, nil, nil, nil
		t.Fatalf("states differ:\ngot  %+v\nwant %+v", a, b)
	}
}

func ptr[T any](v T) *T { return &v }
