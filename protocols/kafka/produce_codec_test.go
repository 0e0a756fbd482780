package kafka

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/protocols"
)

func randBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func randName(rng *rand.Rand) string { return fmt.Sprintf("topic-%d", rng.IntN(1e9)) }

func randID(rng *rand.Rand) (id [16]byte) {
	copy(id[:], randBytes(rng, 16))
	return id
}

func randTags(rng *rand.Rand) (tags kmsg.Tags) {
	for range rng.IntN(3) {
		tags.Set(100+uint32(rng.IntN(1000)), randBytes(rng, rng.IntN(200)))
	}
	return tags
}

func randProduce(rng *rand.Rand) *kmsg.ProduceRequest {
	r := kmsg.NewPtrProduceRequest()
	if rng.IntN(3) == 0 {
		r.TransactionID = kmsg.StringPtr(randName(rng))
	}
	r.Acks, r.TimeoutMillis, r.UnknownTags = int16(rng.IntN(5)-2), rng.Int32(), randTags(rng)
	for range rng.IntN(4) {
		t := kmsg.NewProduceRequestTopic()
		t.Topic, t.TopicID, t.UnknownTags = randName(rng), randID(rng), randTags(rng)
		for range rng.IntN(4) {
			p := kmsg.NewProduceRequestTopicPartition()
			p.Partition, p.UnknownTags = rng.Int32(), randTags(rng)
			if rng.IntN(5) > 0 {
				p.Records = randBytes(rng, rng.IntN(300))
			}
			t.Partitions = append(t.Partitions, p)
		}
		r.Topics = append(r.Topics, t)
	}
	return r
}

func TestProduceRequestDecodesAsKmsg(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for v := int16(minProduceVersion); v <= 13; v++ {
		for range 200 {
			want := randProduce(rng)
			want.SetVersion(v)
			p := &produce{version: v}
			if err := p.decode(want.AppendTo(nil)); err != nil {
				t.Fatal(err)
			}
			compareProduce(t, want, p)
		}
	}
}

func compareProduce(t *testing.T, want *kmsg.ProduceRequest, p *produce) {
	t.Helper()
	if p.acks != want.Acks || p.transactional != (want.TransactionID != nil) || len(p.topics) != len(want.Topics) {
		t.Fatalf("version %d: acks %d, transactional %v, %d topics of %+v", p.version, p.acks, p.transactional, len(p.topics), want)
	}
	i := 0
	for n, wt := range want.Topics {
		topic := p.topics[n]
		if p.version < 13 && string(topic.name) != wt.Topic || p.version >= 13 && topic.id != wt.TopicID || topic.parts != len(wt.Partitions) {
			t.Fatalf("version %d: topic %+v of %+v", p.version, topic, wt)
		}
		for _, wp := range wt.Partitions {
			part := &p.parts[i]
			i++
			if part.index != wp.Partition || !bytes.Equal(part.append.Records, wp.Records) || (part.append.Records == nil) != (wp.Records == nil) {
				t.Fatalf("version %d: partition %d with %d bytes of %+v", p.version, part.index, len(part.append.Records), wp)
			}
		}
	}
	if i != len(p.parts) {
		t.Fatalf("version %d: %d partitions, want %d", p.version, len(p.parts), i)
	}
}

// place takes one answer.
type place struct{ bytes []byte }

func (p *place) Skip() {}
func (p *place) Send(bufs [][]byte, release func()) {
	p.bytes = p.bytes[:0]
	for _, b := range bufs {
		p.bytes = append(p.bytes, b...)
	}
	if release != nil {
		release()
	}
}

var _ protocols.Reply = (*place)(nil)

// randAnswered is a produce whose appends are done, and the answer kmsg would give.
func randAnswered(rng *rand.Rand, v int16, p *produce) *kmsg.ProduceResponse {
	want := kmsg.NewPtrProduceResponse()
	want.SetVersion(v)
	for range rng.IntN(4) {
		wt := kmsg.NewProduceResponseTopic()
		wt.Topic, wt.TopicID = randName(rng), randID(rng)
		topic := produceTopic{name: []byte(wt.Topic), id: wt.TopicID}
		for range rng.IntN(4) {
			wp := kmsg.NewProduceResponseTopicPartition()
			part := producePart{index: rng.Int32()}
			wp.Partition = part.index
			if rng.IntN(3) == 0 {
				part.code = kerr.UnknownTopicOrPartition.Code
				wp.ErrorCode, wp.BaseOffset, wp.LogAppendTime, wp.LogStartOffset = part.code, -1, -1, -1
			} else {
				a := &part.append
				a.BaseOffset, a.LogAppendTime, a.LogStart = rng.Int64(), rng.Int64(), rng.Int64()
				wp.BaseOffset, wp.LogAppendTime, wp.LogStartOffset = a.BaseOffset, a.LogAppendTime, a.LogStart
			}
			topic.parts++
			p.parts = append(p.parts, part)
			wt.Partitions = append(wt.Partitions, wp)
		}
		p.topics = append(p.topics, topic)
		want.Topics = append(want.Topics, wt)
	}
	return want
}

func TestProduceResponseEncodesAsKmsg(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := newMemConn(t, bareServer(t))
	sess := c.session.(*session)
	for v := int16(minProduceVersion); v <= 13; v++ {
		for range 200 {
			out := new(place)
			p := &produce{sess: sess, place: out, version: v, corrID: 77}
			want := randAnswered(rng, v, p)
			p.answer()
			body := out.bytes[8:]
			if v >= 9 {
				body = body[1:]
			}
			if !bytes.Equal(body, want.AppendTo(nil)) {
				t.Fatalf("version %d: % x, want % x", v, body, want.AppendTo(nil))
			}
		}
	}
}

func FuzzProduceRequest(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for v := int16(minProduceVersion); v <= 13; v++ {
		r := randProduce(rng)
		r.SetVersion(v)
		f.Add(v, r.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, v int16, body []byte) {
		if v < minProduceVersion || v > 13 {
			return
		}
		p := &produce{version: v}
		want := kmsg.NewPtrProduceRequest()
		want.SetVersion(v)
		if p.decode(body) == nil && want.ReadFrom(body) == nil {
			compareProduce(t, want, p)
		}
	})
}

func TestProduceCodecDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget on purpose")
	}
	r := kmsg.NewPtrProduceRequest()
	r.Acks = -1
	for i := range 16 {
		topic := kmsg.NewProduceRequestTopic()
		topic.Topic = fmt.Sprint("topic-", i)
		p := kmsg.NewProduceRequestTopicPartition()
		p.Records = make([]byte, 1024)
		topic.Partitions = append(topic.Partitions, p)
		r.Topics = append(r.Topics, topic)
	}
	c := newMemConn(t, bareServer(t))
	out := new(place)
	for v := int16(minProduceVersion); v <= 13; v++ {
		r.SetVersion(v)
		body := r.AppendTo(nil)
		p := &produce{sess: c.session.(*session)}
		once := func() {
			p.version, p.place = v, out
			p.topics, p.parts = p.topics[:0], p.parts[:0]
			if err := p.decode(body); err != nil {
				t.Fatal(err)
			}
			p.answer()
		}
		once()
		if n := testing.AllocsPerRun(100, once); n > 0 {
			t.Errorf("version %d: %v allocations for a request of 16 batches", v, n)
		}
	}
}
