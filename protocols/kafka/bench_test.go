package kafka

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/protocols"
)

// benchConn is a connection that does nothing but count: what a benchmark shows
// is the cost of this package and the engine.
type benchConn struct {
	queue   chan func()
	answers chan int
	reply   benchReply
}

type benchReply struct{ c *benchConn }

func newBenchConn() *benchConn {
	c := &benchConn{queue: make(chan func(), 100), answers: make(chan int, 100)}
	c.reply.c = c
	return c
}

func (r *benchReply) Skip() {}
func (r *benchReply) Send(bufs [][]byte, release func()) {
	n := 0
	for _, b := range bufs {
		n += len(b)
	}
	release()
	r.c.answers <- n
}

// roundTrip serves one request and returns the size of its answer.
func (c *benchConn) roundTrip(b *testing.B, s protocols.Session, frame []byte) int {
	if err := s.Frame(frame); err != nil {
		b.Fatal(err)
	}
	for {
		select {
		case n := <-c.answers:
			for s.(*session).paused {
				(<-c.queue)()
			}
			return n
		case f := <-c.queue:
			f()
		}
	}
}

func (c *benchConn) ID() uint64                { return 1 }
func (c *benchConn) Listener() string          { return "PLAINTEXT" }
func (c *benchConn) TLS() *tls.ConnectionState { return nil }
func (c *benchConn) LocalAddr() net.Addr       { return nil }
func (c *benchConn) RemoteAddr() net.Addr      { return nil }
func (c *benchConn) Execute(f func()) bool     { c.queue <- f; return true }
func (c *benchConn) Reserve() protocols.Reply  { return &c.reply }
func (c *benchConn) Pause()                    {}
func (c *benchConn) Resume()                   {}
func (c *benchConn) Free([]byte)               {}
func (c *benchConn) Unsent() int               { return 0 }
func (c *benchConn) Close(error)               {}

// BenchmarkProduce is one request of 16 batches of 1 KiB to 16 partitions, from
// frame to answer, over a disk in memory.
func BenchmarkProduce(b *testing.B) {
	for _, version := range []int16{9, 13} {
		b.Run(fmt.Sprint("version ", version), func(b *testing.B) {
			br := newBroker(b, "log.retention.bytes=1000000")
			topic := br.topic("t", 16)
			req := kmsg.NewPtrProduceRequest()
			req.Acks = -1
			rt := kmsg.NewProduceRequestTopic()
			rt.Topic, rt.TopicID = topic.Name, topic.ID
			for i := range topic.Partitions() {
				p := kmsg.NewProduceRequestTopicPartition()
				p.Partition, p.Records = i, makeBatch(strings.Repeat("x", 1024))
				rt.Partitions = append(rt.Partitions, p)
			}
			req.Topics = append(req.Topics, rt)
			frame := encode(req, version, 1)
			buf := make([]byte, len(frame))
			c := newBenchConn()
			s := br.NewSession(c)
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				copy(buf, frame) // the engine stamps offsets into it
				c.roundTrip(b, s, buf)
			}
		})
	}
}

// BenchmarkFetch is one request for 8 partitions with 64 KB each in memory, from
// frame to answer.
func BenchmarkFetch(b *testing.B) {
	for _, version := range []int16{12, 13} {
		b.Run(fmt.Sprint("version ", version), func(b *testing.B) {
			br := newBroker(b)
			topic := br.topic("t", 8)
			c := br.connect()
			offsets := map[int32]int64{}
			for i := range topic.Partitions() {
				offsets[i] = 0
				c.produceTo(topic, i, makeBatch(strings.Repeat("x", 64_000)))
			}
			frame := encode(fetchReq(topic, offsets), version, 1)
			conn := newBenchConn()
			s := br.NewSession(conn)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n = conn.roundTrip(b, s, frame)
			}
			b.SetBytes(int64(n))
		})
	}
}

// BenchmarkMetadata is a request for all topics of 10,000 partitions.
func BenchmarkMetadata(b *testing.B) {
	br := newBroker(b)
	for i := range 1250 {
		br.topic(fmt.Sprintf("topic-%04d", i), 8)
	}
	all := kmsg.NewPtrMetadataRequest()
	frame := encode(all, 12, 1)
	conn := newBenchConn()
	s := br.NewSession(conn)
	b.ReportAllocs()
	for b.Loop() {
		conn.roundTrip(b, s, frame)
	}
}
