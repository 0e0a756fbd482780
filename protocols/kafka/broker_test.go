package kafka

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/config"
	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/netpoll"
)

// broker is a server on a real engine, whose disk is memory.
type broker struct {
	*Server
	t    testing.TB
	disk *disk.Fault
}

var testTuning = engine.Tuning{GroupMaxBytes: 256 << 10, GroupsInFlight: 2, SegmentBytes: 1 << 20,
	HotBytes: 4 << 20, ColdBytes: 1 << 20, ReadSlots: 2, ReadSlotBytes: 64 << 10}

func newBroker(t testing.TB, set ...string) *broker {
	t.Helper()
	fault := disk.NewFault(disk.NewMem(1), 1)
	return newBrokerOn(t, fault, testConfig(t, set...))
}

func newBrokerOn(t testing.TB, dir *disk.Fault, c *config.Broker) *broker {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	e, err := engine.Open(engine.Options{Dir: dir, Config: c, Tuning: testTuning, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return &broker{Server: New(Options{Engine: e, Config: c, Log: log}), t: t, disk: dir}
}

func (b *broker) topic(name string, partitions int32, configs ...string) *catalog.Topic {
	b.t.Helper()
	spec := catalog.TopicSpec{Name: name, Partitions: partitions, ReplicationFactor: -1, Configs: map[string]*string{}}
	for i := 0; i < len(configs); i += 2 {
		spec.Configs[configs[i]] = &configs[i+1]
	}
	made := make(chan *catalog.Topic, 1)
	b.engine.CreateTopic(spec, func(t *catalog.Topic, err error) {
		if err != nil {
			b.t.Error(err)
		}
		made <- t
	})
	return <-made
}

// client is a connection that requests are sent on one at a time.
type client struct {
	*memConn
	corrID int32
}

func (b *broker) connect() *client { return &client{memConn: newMemConn(b.t, b.Server)} }

// send sends a request of a version and returns its correlation id.
func (c *client) send(req kmsg.Request, version int16) int32 {
	c.corrID++
	c.receive(encode(req, version, c.corrID))
	return c.corrID
}

// answer reads the next answer, which must be to req.
func (c *client) answer(req kmsg.Request) kmsg.Response {
	c.t.Helper()
	_, body := c.next()
	if req.GetVersion() >= apis[req.Key()].flexibleReply {
		body = body[1:]
	}
	resp := req.ResponseKind()
	if err := resp.ReadFrom(body); err != nil {
		c.t.Fatalf("answer to %T version %d: %v", req, req.GetVersion(), err)
	}
	return resp
}

func (c *client) ask(req kmsg.Request, version int16) kmsg.Response {
	c.t.Helper()
	c.send(req, version)
	return c.answer(req)
}

// makeBatch is a batch of records with the given values.
func makeBatch(values ...string) batch.Batch {
	b := batch.NewBuilder(batch.NewOptions())
	for _, v := range values {
		b.Append(time.Now().UnixMilli(), []byte("k"), []byte(v))
	}
	return append(batch.Batch(nil), b.Finish()...)
}

// produceTo asks for one batch in one partition and gives its outcome.
func (c *client) produceTo(t *catalog.Topic, partition int32, records []byte) kmsg.ProduceResponseTopicPartition {
	c.t.Helper()
	return c.ask(produceReq(t, partition, records), 13).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
}

func produceReq(t *catalog.Topic, partition int32, records []byte) *kmsg.ProduceRequest {
	r := kmsg.NewPtrProduceRequest()
	r.Acks, r.TimeoutMillis = -1, 1000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic, rt.TopicID = t.Name, t.ID
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, records
	rt.Partitions = append(rt.Partitions, p)
	r.Topics = append(r.Topics, rt)
	return r
}

// serveTCP makes a broker reachable for real clients, on the real transport.
func serveTCP(t testing.TB, set ...string) (*broker, string) {
	t.Helper()
	b := newBroker(t, append(set, "listeners=PLAINTEXT://127.0.0.1:0")...)
	srv, err := netpoll.Serve(netpoll.Options{}, netpoll.Listener{Name: "PLAINTEXT", Address: "127.0.0.1:0",
		Session: func(c netpoll.Conn) netpoll.Session { return b.NewSession(c) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := srv.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return b, srv.Addr("PLAINTEXT").String()
}
