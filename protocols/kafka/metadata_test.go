package kafka

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

// metadataReq asks for topics: by name (string), by id (TopicID), or for neither (nil).
func metadataReq(create bool, topics ...any) *kmsg.MetadataRequest {
	r := kmsg.NewPtrMetadataRequest()
	r.AllowAutoTopicCreation = create
	r.IncludeClusterAuthorizedOperations, r.IncludeTopicAuthorizedOperations = true, true
	r.Topics = []kmsg.MetadataRequestTopic{}
	for _, t := range topics {
		rt := kmsg.NewMetadataRequestTopic()
		switch t := t.(type) {
		case string:
			rt.Topic = &t
		case catalog.TopicID:
			rt.TopicID = t
		}
		r.Topics = append(r.Topics, rt)
	}
	return r
}

func (c *client) metadata(r *kmsg.MetadataRequest, version int16) *kmsg.MetadataResponse {
	c.t.Helper()
	return c.ask(r, version).(*kmsg.MetadataResponse)
}

func TestMetadataOfCluster(t *testing.T) {
	b := newBroker(t, "broker.rack=r1", "advertised.listeners=PLAINTEXT://broker.example:1234")
	c := b.connect()
	for v := int16(0); v <= 13; v++ {
		m := c.metadata(metadataReq(false), v)
		if len(m.Brokers) != 1 {
			t.Fatalf("version %d: %+v", v, m)
		}
		n := m.Brokers[0]
		if n.NodeID != 1 || n.Host != "broker.example" || n.Port != 1234 || v >= 1 && (n.Rack == nil || *n.Rack != "r1" || m.ControllerID != 1) {
			t.Errorf("version %d: %+v", v, m)
		}
		if v >= 2 && (m.ClusterID == nil || *m.ClusterID != b.engine.Catalog().ClusterID() || len(*m.ClusterID) != 22) {
			t.Errorf("version %d: cluster id %v", v, m.ClusterID)
		}
		if v >= 8 && v <= 10 && m.AuthorizedOperations != 8096 {
			t.Errorf("version %d: cluster operations %d, Kafka's are 8096", v, m.AuthorizedOperations)
		}
	}
}

func TestMetadataOfTopics(t *testing.T) {
	b := newBroker(t, "auto.create.topics.enable=false")
	topic := b.topic("events", 3)
	c := b.connect()
	for v := int16(0); v <= 13; v++ {
		m := c.metadata(metadataReq(false, "events", "events", "none", "no name", ""), v)
		if len(m.Topics) != 4 {
			t.Fatalf("version %d: %d topics, want each once", v, len(m.Topics))
		}
		got := m.Topics[0]
		if got.ErrorCode != 0 || *got.Topic != "events" || len(got.Partitions) != 3 || v >= 10 && got.TopicID != topic.ID || v >= 8 && got.AuthorizedOperations != 3576 {
			t.Errorf("version %d: %+v", v, got)
		}
		p := got.Partitions[2]
		if p.Partition != 2 || p.Leader != 1 || len(p.Replicas) != 1 || len(p.ISR) != 1 || v >= 7 && p.LeaderEpoch != 0 {
			t.Errorf("version %d: %+v", v, p)
		}
		for i, code := range []int16{0, 3, 17, 17} {
			if m.Topics[i].ErrorCode != code {
				t.Errorf("version %d: %q has code %d, want %d", v, *m.Topics[i].Topic, m.Topics[i].ErrorCode, code)
			}
		}
	}
}

func TestMetadataOfAllTopics(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	all := kmsg.NewPtrMetadataRequest()
	all.Topics = nil
	for round := range 3 {
		for v := int16(0); v <= 13; v++ {
			m := c.metadata(all, v)
			if len(m.Topics) != round {
				t.Fatalf("version %d: %d topics, want %d", v, len(m.Topics), round)
			}
			for i, got := range m.Topics {
				if *got.Topic != fmt.Sprint("t", i) || len(got.Partitions) != i+1 {
					t.Errorf("version %d: %+v", v, got)
				}
			}
		}
		b.topic(fmt.Sprint("t", round), int32(round)+1)
	}
	if m := c.metadata(metadataReq(false), 1); len(m.Topics) != 0 {
		t.Errorf("an empty list gives %d topics", len(m.Topics))
	}
	if m := c.metadata(metadataReq(false), 0); len(m.Topics) != 3 {
		t.Errorf("an empty list gives %d topics in version 0, want all", len(m.Topics))
	}
}

// All topics are encoded once, and again when the catalog has changed.
func TestMetadataIsCached(t *testing.T) {
	b := newBroker(t)
	b.topic("t", 1)
	c := b.connect()
	all := kmsg.NewPtrMetadataRequest()
	body := func() []byte {
		c.send(all, 12)
		_, body := c.next()
		return body[1:]
	}
	first := body()
	key := metadataKey{version: 12, endpoint: b.endpoint(c)}
	cached := b.Server.metadata.bodies[key]
	if cached == nil || !bytes.Equal(cached, first) {
		t.Fatal("answer was not cached")
	}
	if body(); &b.Server.metadata.bodies[key][0] != &cached[0] {
		t.Error("answer was encoded again")
	}
	b.topic("t2", 1)
	if bytes.Equal(body(), first) {
		t.Error("answer is that of before a topic was created")
	}
}

func TestMetadataByID(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("events", 1)
	c := b.connect()
	for _, v := range []int16{12, 13} {
		m := c.metadata(metadataReq(false, topic.ID, catalog.TopicID{1, 2, 3}, "events"), v)
		if len(m.Topics) != 2 {
			t.Fatalf("version %d: %d topics; names beside ids do not count", v, len(m.Topics))
		}
		if got := m.Topics[0]; got.ErrorCode != 0 || got.Topic == nil || *got.Topic != "events" || len(got.Partitions) != 1 {
			t.Errorf("version %d: %+v", v, got)
		}
		if got := m.Topics[1]; got.ErrorCode != 100 || got.Topic != nil || got.TopicID != [16]byte{1, 2, 3} || got.AuthorizedOperations != noOperations {
			t.Errorf("version %d: unknown id: %+v", v, got)
		}
	}
	for _, q := range []struct {
		version int16
		topic   any
	}{{10, topic.ID}, {11, topic.ID}, {10, nil}, {12, nil}} {
		m := c.metadata(metadataReq(false, q.topic), q.version)
		if len(m.Brokers) != 0 || len(m.Topics) != 1 || m.Topics[0].ErrorCode != 42 {
			t.Errorf("version %d with %v: %+v", q.version, q.topic, m)
		}
	}
}

func TestMetadataCreatesTopics(t *testing.T) {
	b := newBroker(t, "num.partitions=3")
	c := b.connect()
	for _, q := range []struct {
		name    string
		version int16
		allow   bool
		code    int16
	}{
		{"refused", 4, false, 3},
		{"old", 3, false, 0}, // versions before 4 cannot refuse
		{"wanted", 12, true, 0},
		{"wanted", 12, true, 0},
		{"bad name", 12, true, 17},
		{catalog.OffsetsTopic, 12, true, 3},
		{catalog.MetadataTopic, 12, true, 3},
		{"col.lision", 12, true, 0},
		{"col_lision", 12, true, 17},
	} {
		got := c.metadata(metadataReq(q.allow, q.name), q.version).Topics[0]
		if got.ErrorCode != q.code || q.code == 0 && len(got.Partitions) != 3 {
			t.Errorf("%s: %+v, want code %d", q.name, got, q.code)
		}
		if q.version >= 1 && got.IsInternal != (q.name == catalog.OffsetsTopic) {
			t.Errorf("%s: internal %v", q.name, got.IsInternal)
		}
	}
	off := newBroker(t, "auto.create.topics.enable=false")
	if got := off.connect().metadata(metadataReq(true, "t"), 12).Topics[0]; got.ErrorCode != 3 {
		t.Errorf("with auto.create.topics.enable=false: %+v", got)
	}
}
