package kafka

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/disk"
)

func TestProduceAnswersOffsets(t *testing.T) {
	b := newBroker(t)
	plain, stamped := b.topic("plain", 2), b.topic("stamped", 1, "message.timestamp.type", "LogAppendTime")
	c := b.connect()
	next := int64(0)
	for v := int16(minProduceVersion); v <= 13; v++ {
		p := c.ask(produceReq(plain, 1, makeBatch("a", "b")), v).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		if p.ErrorCode != 0 || p.BaseOffset != next || p.LogAppendTime != -1 || v >= 5 && p.LogStartOffset != 0 {
			t.Errorf("version %d: %+v, want base offset %d", v, p, next)
		}
		next += 2
	}
	if p := c.produceTo(stamped, 0, makeBatch("a")); p.ErrorCode != 0 || p.LogAppendTime <= 0 {
		t.Errorf("with LogAppendTime: %+v", p)
	}
	if n := c.live.Load(); n != 0 {
		t.Errorf("%d frames were not freed", n)
	}
}

func mutate(b batch.Batch, f func(b batch.Batch)) batch.Batch {
	f(b)
	b.UpdateCRC()
	return b
}

// The codes are those that Kafka 4.3.1 gives to the same bytes.
func TestProduceRefusals(t *testing.T) {
	b := newBroker(t)
	plain, compacted := b.topic("plain", 1), b.topic("compacted", 1, "cleanup.policy", "compact")
	keyless := batch.NewBuilder(batch.NewOptions())
	keyless.Append(1, []byte("k"), nil)
	keyless.Append(2, nil, []byte("v"))
	nokey := keyless.Finish()
	topics := map[string]*catalog.Topic{"unknown": {Name: "unknown", ID: [16]byte{9}}, "plain": plain, "compacted": compacted,
		"metadata": b.engine.Catalog().Topic(catalog.MetadataTopic)}
	pid := func(b batch.Batch, sequence int32, epoch int16) batch.Batch {
		return mutate(b, func(b batch.Batch) {
			putProducer(b, 7, epoch, sequence)
		})
	}
	for _, q := range []struct {
		name    string
		topic   string
		part    int32
		version int16
		records []byte
		acks    int16
		code    int16
		start   int64
	}{
		{"unknown topic", "unknown", 0, 12, makeBatch("a"), 1, 3, -1},
		{"unknown topic id", "unknown", 0, 13, makeBatch("a"), 1, 100, -1},
		{"unknown partition", "plain", 7, 12, makeBatch("a"), 1, 3, -1},
		{"unknown partition of id", "plain", 7, 13, makeBatch("a"), 1, 3, -1},
		{"negative partition", "plain", -7, 13, makeBatch("a"), 1, 3, -1},
		{"metadata", "metadata", 0, 12, makeBatch("a"), 1, 3, -1},
		{"no records", "plain", 0, 12, []byte{}, 1, 87, -1},
		{"null records", "plain", 0, 12, nil, 1, 87, -1},
		{"two batches", "plain", 0, 12, append(makeBatch("a"), makeBatch("b")...), 1, 87, -1},
		{"cut batch", "plain", 0, 12, makeBatch("a")[:65], 1, 87, -1},
		{"cut header", "plain", 0, 12, makeBatch("a")[:30], 1, 87, -1},
		{"damaged", "plain", 0, 12, func() []byte { b := makeBatch("a"); b[60] ^= 1; return b }(), 1, 2, -1},
		{"magic 1", "plain", 0, 12, func() []byte { b := makeBatch("a"); b[16] = 1; return b }(), 1, 87, -1},
		{"acks 2", "plain", 0, 12, makeBatch("a"), 2, 21, -1},
		{"acks -2", "plain", 0, 12, makeBatch("a"), -2, 21, -1},
		{"acks 2 to unknown", "unknown", 0, 12, makeBatch("a"), 2, 3, -1},
		{"transactional without id", "plain", 0, 12, mutate(makeBatch("a"), func(b batch.Batch) { b[22] |= 0x10 }), -1, 53, -1},
		{"control", "plain", 0, 12, mutate(makeBatch("a"), func(b batch.Batch) { b[22] |= 0x20 }), -1, 87, 0},
		{"zstd below 7", "plain", 0, 6, mutate(makeBatch("a"), func(b batch.Batch) { b[22] |= 4 }), -1, 76, -1},
		{"too large", "plain", 0, 12, makeBatch(strings.Repeat("x", 2<<20)), -1, 10, -1},
		{"producer without sequence", "plain", 0, 12, pid(makeBatch("a"), -1, 0), -1, 87, 0},
		{"first of a producer", "plain", 0, 12, pid(makeBatch("a"), 0, 1), -1, 0, 0},
		{"gap in sequence", "plain", 0, 12, pid(makeBatch("a"), 9, 1), -1, 45, 0},
		{"old epoch", "plain", 0, 12, pid(makeBatch("a"), 1, 0), -1, 47, 0},
		{"record without key", "compacted", 0, 12, nokey, -1, 87, 0},
	} {
		t.Run(q.name, func(t *testing.T) {
			req := produceReq(topics[q.topic], q.part, q.records)
			req.Acks = q.acks
			p := b.connect().ask(req, q.version).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
			if p.ErrorCode != q.code || q.version >= 5 && p.LogStartOffset != q.start || q.code != 0 && p.BaseOffset != -1 {
				t.Errorf("%+v, want code %d (%v) and log start %d", p, q.code, kerr.ErrorForCode(q.code), q.start)
			}
			if q.name == "record without key" && (len(p.ErrorRecords) != 1 || p.ErrorRecords[0].RelativeOffset != 1 || p.ErrorMessage == nil) {
				t.Errorf("guilty records %+v, want number 1", p.ErrorRecords)
			}
		})
	}
}

func putProducer(b batch.Batch, id int64, epoch int16, sequence int32) {
	for i, n := range []struct {
		v    uint64
		size int
	}{{uint64(id), 8}, {uint64(uint16(epoch)), 2}, {uint64(uint32(sequence)), 4}} {
		at := []int{43, 51, 53}[i]
		for k := range n.size {
			b[at+k] = byte(n.v >> (8 * (n.size - 1 - k)))
		}
	}
}

func TestProduceOfDuplicateAnswersItsOffset(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	batchOf := func(sequence int32) batch.Batch {
		return mutate(makeBatch("a"), func(b batch.Batch) { putProducer(b, 7, 0, sequence) })
	}
	for i := range int32(5) {
		if p := c.produceTo(topic, 0, batchOf(i)); p.ErrorCode != 0 || p.BaseOffset != int64(i) {
			t.Fatalf("batch %d: %+v", i, p)
		}
	}
	if p := c.produceTo(topic, 0, batchOf(3)); p.ErrorCode != 0 || p.BaseOffset != 3 {
		t.Errorf("repeated batch 3: %+v", p)
	}
}

func TestProduceToInternalTopics(t *testing.T) {
	b := newBroker(t)
	internal := catalog.TopicSpec{Name: catalog.OffsetsTopic, Partitions: 1, ReplicationFactor: -1, Internal: true}
	made := make(chan *catalog.Topic, 1)
	b.engine.CreateTopic(internal, func(tp *catalog.Topic, err error) { made <- tp })
	topic := <-made
	c := b.connect()
	if p := c.produceTo(topic, 0, makeBatch("a")); p.ErrorCode != 17 {
		t.Errorf("as anybody: %+v", p)
	}
	req := produceReq(topic, 0, makeBatch("a"))
	req.SetVersion(13)
	c.receive(kmsg.NewRequestFormatter(kmsg.FormatterClientID(adminClient)).AppendRequest(nil, req, 9))
	if p := c.answer(req).(*kmsg.ProduceResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 {
		t.Errorf("as %s: %+v", adminClient, p)
	}
}

func TestAcksZero(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	unanswered := produceReq(topic, 0, makeBatch("a"))
	unanswered.Acks = 0
	c.send(unanswered, 13)
	if p := c.produceTo(topic, 0, makeBatch("b")); p.BaseOffset != 1 {
		t.Errorf("after one with acks=0: %+v", p)
	}
	bad := produceReq(&catalog.Topic{Name: "none"}, 0, makeBatch("a"))
	bad.Acks = 0
	c.send(bad, 9)
	if err := c.ended(); !strings.Contains(fmt.Sprint(err), "acks=0") {
		t.Errorf("closed with %v", err)
	}
}

func TestProduceWithFailedDisk(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	b.disk.Inject(disk.Rule{Kinds: disk.FaultWrite | disk.FaultSync, Err: syscall.EIO})
	if p := c.produceTo(topic, 0, makeBatch("a")); p.ErrorCode != kerr.KafkaStorageError.Code {
		t.Errorf("%+v, want KAFKA_STORAGE_ERROR", p)
	}
}
