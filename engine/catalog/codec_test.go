package catalog

import (
	"reflect"
	"strings"
	"testing"
)

var everyEvent = []Event{
	{Body: ClusterCreated{ClusterID: "AAAAAAAAAAAAAAAAAAAAAQ", NodeID: 1}},
	{Body: TopicCreated{Name: "a", ID: TopicID{1}, Streams: []uint64{2, 3}, Config: map[string]string{"retention.ms": "1"}}},
	{Snapshot: true, Body: TopicCreated{Name: "a", ID: TopicID{1}, Internal: true, Streams: []uint64{2}, Epoch: 7}},
	{Body: PartitionsAdded{ID: TopicID{1}, Streams: []uint64{4}}},
	{Body: TopicDeleted{ID: TopicID{1}, Name: "a"}},
	{Body: ConfigSet{Type: "broker", Name: "", Set: map[string]string{"x": "y"}, Delete: []string{"z"}}},
	{Body: ProducerIDsReserved{Next: 1 << 62}},
	{Body: LeaderEpochRaised{Epoch: 3}},
	{Body: SnapshotBegin{CatalogVersion: 9, NextStream: 12}},
	{Body: SnapshotEnd{CatalogVersion: 9, Events: 3}},
}

func TestEventsSurviveEncoding(t *testing.T) {
	for _, e := range everyEvent {
		if got := recode(t, e); !reflect.DeepEqual(got, e) {
			t.Errorf("got %+v, want %+v", got, e)
		}
	}
}

func TestLaterVersionsAreUnknown(t *testing.T) {
	for _, key := range []string{`{"type":"rack-moved","version":1}`, `{"type":"topic-created","version":2}`} {
		e, err := Decode([]byte(key), []byte(`{"any":1}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := New(Options{}).Apply(e); err == nil || !strings.Contains(err.Error(), "later version") {
			t.Errorf("applying %s: %v", key, err)
		}
		k, v := e.Encode()
		if string(k) != key || string(v) != `{"any":1}` {
			t.Errorf("%s came back as %s %s", key, k, v)
		}
	}
	e, err := Decode([]byte(`{"type":"hint","version":1,"ignorable":true}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := New(Options{}).Apply(e); err != nil {
		t.Errorf("an ignorable event is refused: %v", err)
	}
}

// FuzzDecode checks that no record can crash the decoder or the state machine,
// and that what decodes survives another round.
func FuzzDecode(f *testing.F) {
	for _, e := range everyEvent {
		k, v := e.Encode()
		f.Add(k, v)
	}
	f.Add([]byte(`{"type":"","version":1}`), []byte(`null`))
	f.Add([]byte(`{"type":"config-set","version":1}`), []byte(`{"resource_type":"topic","resource_name":"x"}`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		e, err := Decode(key, value)
		if err != nil {
			return
		}
		k, v := e.Encode()
		again, err := Decode(k, v)
		if err != nil {
			t.Fatalf("%s %s does not decode again: %v", k, v, err)
		}
		if k2, v2 := again.Encode(); string(k2) != string(k) || string(v2) != string(v) {
			t.Fatalf("%s %s became %s %s", k, v, k2, v2)
		}
		c := New(Options{Random: newSeeded(1)})
		for _, b := range []Body{ClusterCreated{"c", 1}, TopicCreated{Name: "x", ID: TopicID{9}, Streams: []uint64{2}}} {
			if err := c.Apply(Event{Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		before := c.Version()
		if err := c.Apply(e); err != nil && c.Version() != before {
			t.Fatalf("refused event %s changed the version", k)
		}
		restored := New(Options{})
		apply(t, restored, c.Snapshot())
	})
}
