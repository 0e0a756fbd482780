package kafka

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/disk"
)

// fetchReq asks for partitions of one topic, each from an offset, without a
// session and without waiting.
func fetchReq(t *catalog.Topic, offsets map[int32]int64) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.ReplicaID, r.MinBytes, r.MaxBytes, r.SessionEpoch = -1, 1, 50<<20, finalEpoch
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = t.Name, t.ID
	for i := range t.Partitions() {
		if at, ok := offsets[i]; ok {
			p := kmsg.NewFetchRequestTopicPartition()
			p.Partition, p.FetchOffset, p.PartitionMaxBytes = i, at, 1<<20
			rt.Partitions = append(rt.Partitions, p)
		}
	}
	r.Topics = append(r.Topics, rt)
	return r
}

func (c *client) fetch(r *kmsg.FetchRequest, version int16) *kmsg.FetchResponse {
	c.t.Helper()
	return c.ask(r, version).(*kmsg.FetchResponse)
}

// values are the record values of whole batches.
func values(t testing.TB, records []byte) (all []string) {
	t.Helper()
	for len(records) > 0 {
		b, rest, err := batch.Next(records)
		if err != nil {
			t.Fatal(err)
		}
		it := batch.Records(b)
		var r batch.Record
		for it.Next(&r) {
			all = append(all, string(r.Value))
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
		it.Close()
		records = rest
	}
	return all
}

func TestFetchInEveryVersion(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 2)
	c := b.connect()
	c.produceTo(topic, 1, makeBatch("a", "b"))
	c.produceTo(topic, 1, makeBatch("c"))
	for v := int16(4); v <= 18; v++ {
		for _, committed := range []int8{0, 1} {
			r := fetchReq(topic, map[int32]int64{0: 0, 1: 1})
			r.IsolationLevel = committed
			parts := c.fetch(r, v).Topics[0].Partitions
			empty, full := parts[0], parts[1]
			if got := values(t, full.RecordBatches); !slices.Equal(got, []string{"a", "b", "c"}) {
				t.Errorf("version %d: %q; want the whole batch that holds the offset, and the next", v, got)
			}
			if full.HighWatermark != 3 || full.LastStableOffset != 3 || v >= 5 && full.LogStartOffset != 0 {
				t.Errorf("version %d: offsets %d, %d, %d", v, full.HighWatermark, full.LastStableOffset, full.LogStartOffset)
			}
			if empty.ErrorCode != 0 || empty.HighWatermark != 0 || empty.RecordBatches == nil || len(empty.RecordBatches) > 0 {
				t.Errorf("version %d: empty partition %+v", v, empty)
			}
			if (full.AbortedTransactions == nil) == (committed == 1) {
				t.Errorf("version %d, isolation %d: aborted %v", v, committed, full.AbortedTransactions)
			}
		}
	}
	if n := c.live.Load(); n != 0 {
		t.Errorf("%d frames were not freed", n)
	}
}

func TestFetchErrors(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	for range 5 {
		c.produceTo(topic, 0, makeBatch("a"))
	}
	current := b.engine.Catalog().LeaderEpoch()
	unknown := &catalog.Topic{Name: "none", ID: [16]byte{9}, Streams: make([]uint64, 1)}
	more := &catalog.Topic{Name: topic.Name, ID: topic.ID, Streams: make([]uint64, 2)}
	for _, q := range []struct {
		name    string
		topic   *catalog.Topic
		offsets map[int32]int64
		version int16
		change  func(p *kmsg.FetchRequestTopicPartition)
		code    int16
	}{
		{"unknown topic", unknown, map[int32]int64{0: 0}, 12, nil, 3},
		{"unknown topic id", unknown, map[int32]int64{0: 0}, 13, nil, 100},
		{"unknown partition", more, map[int32]int64{1: 0}, 12, nil, 3},
		{"unknown partition of id", more, map[int32]int64{1: 0}, 13, nil, 3},
		{"metadata", b.engine.Catalog().Topic(catalog.MetadataTopic), map[int32]int64{0: 0}, 12, nil, 3},
		{"at the end", topic, map[int32]int64{0: 5}, 13, nil, 0},
		{"beyond the end", topic, map[int32]int64{0: 6}, 13, nil, 1},
		{"negative offset", topic, map[int32]int64{0: -1}, 13, nil, 1},
		{"known leader epoch", topic, map[int32]int64{0: 0}, 13, func(p *kmsg.FetchRequestTopicPartition) { p.CurrentLeaderEpoch = current }, 0},
		{"later leader epoch", topic, map[int32]int64{0: 0}, 13, func(p *kmsg.FetchRequestTopicPartition) { p.CurrentLeaderEpoch = current + 1 }, 75},
		{"last epoch is current", topic, map[int32]int64{0: 5}, 13, func(p *kmsg.FetchRequestTopicPartition) { p.LastFetchedEpoch = current }, 0},
		{"last epoch is unknown", topic, map[int32]int64{0: 5}, 13, func(p *kmsg.FetchRequestTopicPartition) { p.LastFetchedEpoch = current + 1 }, 1},
	} {
		t.Run(q.name, func(t *testing.T) {
			r := fetchReq(q.topic, q.offsets)
			r.MaxWaitMillis = 1
			if q.change != nil {
				q.change(&r.Topics[0].Partitions[0])
			}
			p := c.fetch(r, q.version).Topics[0].Partitions[0]
			if p.ErrorCode != q.code || q.code != 0 && (p.HighWatermark != -1 || len(p.RecordBatches) > 0) {
				t.Errorf("%+v, want code %d (%v)", p, q.code, kerr.ErrorForCode(q.code))
			}
		})
	}
}

// A crash that tears what was being written begins a new leader epoch. Who knows
// only the old one is told.
func TestFetchAfterCrash(t *testing.T) {
	mem := disk.NewMem(1)
	first := newBrokerOn(t, disk.NewFault(mem, 1), testConfig(t))
	topic := first.topic("t", 1)
	producer := first.connect()
	producer.produceTo(topic, 0, makeBatch("a"))
	old := first.engine.Catalog().LeaderEpoch()
	first.disk.Inject(disk.Rule{Kinds: disk.FaultWrite, Short: 8192, Err: syscall.EIO})
	producer.produceTo(topic, 0, makeBatch(strings.Repeat("torn", 20_000)))
	torn := mem.CrashClone(rand.New(rand.NewPCG(1, 1)), disk.CrashOptions{UnsyncedBlocks: 1, UnsyncedDirOps: 1})
	b := newBrokerOn(t, disk.NewFault(torn, 1), testConfig(t))
	c := b.connect()
	c.produceTo(topic, 0, makeBatch("b"))
	now := b.engine.Catalog().LeaderEpoch()
	if now <= old {
		t.Fatalf("leader epoch %d after %d", now, old)
	}
	r := fetchReq(topic, map[int32]int64{0: 0})
	part := &r.Topics[0].Partitions[0]
	part.CurrentLeaderEpoch = old
	resp := c.fetch(r, 18)
	p := resp.Topics[0].Partitions[0]
	if p.ErrorCode != kerr.FencedLeaderEpoch.Code || p.CurrentLeader.LeaderEpoch != now || len(resp.Brokers) != 1 || resp.Brokers[0].Port != 9092 {
		t.Errorf("with the old leader epoch: %+v, endpoints %+v", p, resp.Brokers)
	}
	// Epoch old ended at offset 1: a client that has read beyond it in that epoch
	// has read what is no more.
	part.CurrentLeaderEpoch, part.LastFetchedEpoch, part.FetchOffset = -1, old, 2
	if p := c.fetch(r, 18).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.DivergingEpoch.Epoch != old || p.DivergingEpoch.EndOffset != 1 || len(p.RecordBatches) > 0 {
		t.Errorf("diverged client: %+v", p)
	}
	part.FetchOffset = 1
	if p := c.fetch(r, 18).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.DivergingEpoch.Epoch != -1 || !slices.Equal(values(t, p.RecordBatches), []string{"b"}) {
		t.Errorf("client at the end of the old epoch: %+v", p)
	}
}

func TestFetchLimits(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 3)
	c := b.connect()
	for part := range int32(3) {
		for range 3 {
			c.produceTo(topic, part, makeBatch(strings.Repeat("x", 1000)))
		}
	}
	all := map[int32]int64{0: 0, 1: 0, 2: 0}
	for _, q := range []struct {
		name             string
		total, partition int32
		want             [3]int // batches
	}{
		{"no limit", 1 << 20, 1 << 20, [3]int{3, 3, 3}},
		{"partition", 1 << 20, 2500, [3]int{2, 2, 2}},
		{"total", 4500, 1 << 20, [3]int{3, 1, 0}},
		{"first batch whatever its size", 10, 10, [3]int{1, 0, 0}},
		{"nothing", 0, 0, [3]int{1, 0, 0}},
		{"negative", -1, -1, [3]int{1, 0, 0}},
	} {
		r := fetchReq(topic, all)
		r.MaxBytes = q.total
		for i := range r.Topics[0].Partitions {
			r.Topics[0].Partitions[i].PartitionMaxBytes = q.partition
		}
		for i, p := range c.fetch(r, 13).Topics[0].Partitions {
			if got := len(values(t, p.RecordBatches)); got != q.want[i] || p.HighWatermark != 3 {
				t.Errorf("%s: partition %d gives %d batches and high watermark %d, want %d and 3", q.name, i, got, p.HighWatermark, q.want[i])
			}
		}
	}
}

func TestFetchFromDisk(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 12)
	c := b.connect()
	const perPart = 20
	for i := range perPart {
		for part := range topic.Partitions() {
			c.produceTo(topic, part, makeBatch(fmt.Sprint(i, strings.Repeat("x", 50_000))))
		}
	}
	// 12 MB have gone through 4 MiB of memory.
	offsets := map[int32]int64{}
	for part := range topic.Partitions() {
		offsets[part] = 0
	}
	got := 0
	for range 10_000 {
		r := fetchReq(topic, offsets)
		for _, p := range c.fetch(r, 13).Topics[0].Partitions {
			if p.ErrorCode != 0 {
				t.Fatalf("%+v", p)
			}
			for _, v := range values(t, p.RecordBatches) {
				if want := fmt.Sprint(offsets[p.Partition], "x"); !strings.HasPrefix(v, want) {
					t.Fatalf("partition %d offset %d: %.5q", p.Partition, offsets[p.Partition], v)
				}
				offsets[p.Partition]++
				got++
			}
		}
		for part, at := range offsets {
			if at == perPart {
				delete(offsets, part)
			}
		}
		if len(offsets) == 0 {
			break
		}
	}
	if got != perPart*12 {
		t.Errorf("got %d records, want %d", got, perPart*12)
	}
}

func TestFetchFromFailingDisk(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	for range 120 {
		c.produceTo(topic, 0, makeBatch(strings.Repeat("x", 50_000)))
	}
	b.disk.Inject(disk.Rule{Kinds: disk.FaultRead, Err: syscall.EIO})
	known := []int16{0, 1, 2, 3, 6, 9, 29, 56, 74, 75, 78, 100, 103, -1}
	p := c.fetch(fetchReq(topic, map[int32]int64{0: 0}), 13).Topics[0].Partitions[0]
	if p.ErrorCode == 0 || p.ErrorCode == 1 || !slices.Contains(known, p.ErrorCode) {
		t.Errorf("%+v, want an error that Java's consumer knows and that does not say the records are gone", p)
	}
}

// However long the disk takes for one connection's records, another gets what is
// durable.
func TestFetchWhileDiskIsStuck(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	producer, consumer := b.connect(), b.connect()
	producer.produceTo(topic, 0, makeBatch("durable"))
	gate := new(disk.Gate)
	gate.Shut()
	b.disk.Inject(disk.Rule{Kinds: disk.FaultSync, Gate: gate})
	stuck := produceReq(topic, 0, makeBatch("stuck"))
	producer.send(stuck, 13)
	<-gate.Held(1)
	p := consumer.fetch(fetchReq(topic, map[int32]int64{0: 0}), 13).Topics[0].Partitions[0]
	if got := values(t, p.RecordBatches); !slices.Equal(got, []string{"durable"}) || p.HighWatermark != 1 {
		t.Errorf("got %q up to %d; what is not durable must not be seen", got, p.HighWatermark)
	}
	gate.Open()
	if p := producer.answer(stuck).(*kmsg.ProduceResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.BaseOffset != 1 {
		t.Errorf("%+v", p)
	}
}

func TestFetchHidesZstdBelowVersion10(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	opts := batch.NewOptions()
	opts.Codec = batch.Zstd
	zstd := batch.NewBuilder(opts)
	zstd.Append(time.Now().UnixMilli(), nil, []byte("z"))
	c.produceTo(topic, 0, makeBatch("plain"))
	c.produceTo(topic, 0, zstd.Finish())
	for _, q := range []struct {
		version int16
		from    int64
		want    []string
		code    int16
	}{
		{9, 0, []string{"plain"}, 0},
		{9, 1, nil, 76},
		{10, 0, []string{"plain", "z"}, 0},
	} {
		p := c.fetch(fetchReq(topic, map[int32]int64{0: q.from}), q.version).Topics[0].Partitions[0]
		if got := values(t, p.RecordBatches); !slices.Equal(got, q.want) || p.ErrorCode != q.code {
			t.Errorf("version %d from %d: %q, code %d; want %q, %d", q.version, q.from, got, p.ErrorCode, q.want, q.code)
		}
	}
}
