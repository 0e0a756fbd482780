package kafka

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/protocols"
)

// Versions 0 to 2 are advertised because old clients of librdkafka compress only
// with brokers that do so (KAFKA-18659), and refused as Kafka 4 does.
func init() { registerFrame(keyProduce, 0, 13, serveProduce) }

const minProduceVersion = 3

// produce is one Produce request in work. The record batches stay in the frame
// until all have been appended and the answer has been encoded.
type produce struct {
	sess          *session
	place         protocols.Reply
	frame         []byte
	version       int16
	corrID        int32
	acks          int16
	transactional bool // has a transactional id
	admin         bool // client id "__admin_client", which may write to internal topics

	topics  []produceTopic
	parts   []producePart
	targets []*engine.Partition // of the appends
	appends []*engine.AppendRequest
	left    atomic.Int32 // appends that are not done, and serveProduce itself
}

// adminClient is the client id by which Kafka knows its own tools.
const adminClient = "__admin_client"

var produces = sync.Pool{New: func() any { return new(produce) }}

// serveProduce appends the batches of a request in their order. Requests of one
// connection overlap: what is appended first is durable and answered first.
func serveProduce(s *session, f frame) error {
	if f.version < minProduceVersion {
		s.conn.Free(f.buf)
		return fmt.Errorf("%w: Produce version %d", errUnsupported, f.version)
	}
	p := produces.Get().(*produce)
	p.sess, p.frame, p.version, p.corrID = s, f.buf, f.version, f.corrID
	p.admin = s.client == adminClient
	if err := p.decode(f.body); err != nil {
		s.conn.Free(f.buf)
		p.recycle()
		return fmt.Errorf("%w: Produce version %d", err, f.version)
	}
	p.place = s.conn.Reserve()
	s.produces.Add(1)
	s.produceBytes.Add(int64(len(p.frame)))
	p.resolve()
	p.left.Store(int32(len(p.appends)) + 1)
	engine.AppendAll(p.targets, p.appends)
	p.done()
	return nil
}

// resolve finds each batch's partition, or the code that refuses it.
func (p *produce) resolve() {
	i := 0
	for t := range p.topics {
		topic := &p.topics[t]
		for end := i + topic.parts; i < end; i++ {
			part := &p.parts[i]
			part.code = p.check(topic, part)
			if part.code != 0 {
				continue
			}
			part.append.Done, part.append.User = appended, p
			part.append.NoAck = p.acks == 0
			part.append.RefuseZstd = p.version < 7
			p.targets = append(p.targets, part.partition)
			p.appends = append(p.appends, &part.append)
		}
	}
}

func (p *produce) check(t *produceTopic, part *producePart) int16 {
	e := p.sess.srv.engine
	if p.version >= 13 {
		part.partition = e.PartitionByID(t.id, part.index)
		if part.partition == nil && e.Catalog().TopicByID(t.id) == nil {
			return kerr.UnknownTopicID.Code
		}
	} else {
		part.partition = e.Partition(text(t.name), part.index)
	}
	if part.partition == nil {
		return kerr.UnknownTopicOrPartition.Code
	}
	if topic := part.partition.Topic(); topic.Internal {
		if topic.Name == catalog.MetadataTopic {
			return kerr.UnknownTopicOrPartition.Code
		}
		if !p.admin {
			return kerr.InvalidTopicException.Code
		}
	}
	if p.acks < -1 || p.acks > 1 {
		return kerr.InvalidRequiredAcks.Code
	}
	return p.checkRecords(&part.append)
}

// checkRecords leaves exactly one whole batch in a.Records. Like Kafka, it takes
// no notice of a piece of another behind it.
func (p *produce) checkRecords(a *engine.AppendRequest) int16 {
	b, rest, err := batch.Next(a.Records)
	if err != nil {
		return nextCode(err)
	}
	if len(rest) > batch.PrefixBytes {
		if _, _, err := batch.Next(rest); err == nil {
			return kerr.InvalidRecord.Code
		}
	}
	if b.Transactional() {
		if !p.transactional {
			return kerr.TransactionalIDAuthorizationFailed.Code
		}
		// No transaction can have been begun: its APIs are not served.
		return kerr.InvalidTxnState.Code
	}
	a.Records = b
	return 0
}

// appended is called by the engine for each append, on any goroutine.
func appended(a *engine.AppendRequest) { a.User.(*produce).done() }

// done counts appends; the last one sends the answer.
func (p *produce) done() {
	if p.left.Add(-1) > 0 {
		return
	}
	if p.acks == 0 {
		p.endUnanswered()
	} else {
		p.answer()
	}
	s, n := p.sess, int64(len(p.frame))
	s.conn.Free(p.frame)
	p.recycle()
	s.produceBytes.Add(-n)
	s.produces.Add(-1)
	s.wake()
}

// endUnanswered ends a request with acks=0. The only way to tell its client of an
// error is to close the connection, upon which it looks at the metadata.
func (p *produce) endUnanswered() {
	p.place.Skip()
	for i := range p.parts {
		part := &p.parts[i]
		if part.code != 0 || part.append.Err != nil {
			p.sess.close(fmt.Errorf("produce with acks=0 to partition %d: %w", part.index, p.refusal(part)))
			return
		}
	}
}

func (p *produce) refusal(part *producePart) error {
	if part.code != 0 {
		return kerr.ErrorForCode(part.code)
	}
	return part.append.Err
}

// maxPooledParts bounds what an idle produce keeps.
const maxPooledParts = 1024

func (p *produce) recycle() {
	clear(p.topics)
	clear(p.parts)
	clear(p.targets)
	clear(p.appends)
	p.topics, p.parts = p.topics[:0], p.parts[:0]
	p.targets, p.appends = p.targets[:0], p.appends[:0]
	p.sess, p.place, p.frame = nil, nil, nil
	if cap(p.parts) <= maxPooledParts {
		produces.Put(p)
	}
}
