package catalog

import (
	"encoding/json"
	"fmt"
)

// header is an event's record key.
type header struct {
	Type      string `json:"type"`
	Version   int    `json:"version"`
	Snapshot  bool   `json:"snapshot,omitempty"`
	Ignorable bool   `json:"ignorable,omitempty"`
}

// Encode returns the record key and value of the event, as drawn in doc.go.
func (e Event) Encode() (key, value []byte) {
	if u, ok := e.Body.(Unknown); ok {
		return u.Key, u.Value
	}
	h := header{Snapshot: e.Snapshot}
	h.Type, h.Version = e.Body.kind()
	return mustJSON(h), mustJSON(e.Body)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: event does not encode: " + err.Error())
	}
	return b
}

// Decode reads what Encode wrote. An event of a type or version that is not
// known here comes back as Unknown; an error means a damaged record.
func Decode(key, value []byte) (Event, error) {
	var h header
	if err := json.Unmarshal(key, &h); err != nil {
		return Event{}, fmt.Errorf("metadata event: key %.80q: %w", key, err)
	}
	if h.Type == "" || h.Version < 1 {
		return Event{}, fmt.Errorf("metadata event: key %.80q has no type or version", key)
	}
	decode, known := decoders[h.Type]
	if !known || h.Version > decode.version {
		return Event{Snapshot: h.Snapshot, Body: Unknown{Type: h.Type, Version: h.Version, Ignorable: h.Ignorable,
			Key: append([]byte(nil), key...), Value: append([]byte(nil), value...)}}, nil
	}
	body, err := decode.body(value)
	if err != nil {
		return Event{}, fmt.Errorf("metadata event %s: value %.80q: %w", h.Type, value, err)
	}
	return Event{Snapshot: h.Snapshot, Body: body}, nil
}

type decoder struct {
	version int
	body    func([]byte) (Body, error)
}

var decoders = map[string]decoder{}

func init() {
	known[ClusterCreated]()
	known[TopicCreated]()
	known[PartitionsAdded]()
	known[TopicDeleted]()
	known[ConfigSet]()
	known[ProducerIDsReserved]()
	known[LeaderEpochRaised]()
	known[SnapshotBegin]()
	known[SnapshotEnd]()
}

func known[T Body]() {
	var zero T
	name, version := zero.kind()
	decoders[name] = decoder{version, func(value []byte) (Body, error) {
		var body T
		err := json.Unmarshal(value, &body)
		return body, err
	}}
}
