package kafka

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine"
)

func randFetch(rng *rand.Rand) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.ReplicaID, r.MaxWaitMillis, r.MinBytes, r.MaxBytes = -1, rng.Int32(), rng.Int32(), rng.Int32()
	r.IsolationLevel, r.SessionID, r.SessionEpoch = int8(rng.IntN(2)), rng.Int32(), rng.Int32()
	r.Rack, r.UnknownTags = randName(rng), randTags(rng)
	if rng.IntN(3) == 0 {
		r.ClusterID = kmsg.StringPtr("cluster")
		r.ReplicaState.ID = 3
	}
	for range rng.IntN(4) {
		t := kmsg.NewFetchRequestTopic()
		t.Topic, t.TopicID, t.UnknownTags = randName(rng), randID(rng), randTags(rng)
		for range rng.IntN(4) {
			p := kmsg.NewFetchRequestTopicPartition()
			p.Partition, p.CurrentLeaderEpoch, p.FetchOffset = rng.Int32(), rng.Int32(), rng.Int64()
			p.LastFetchedEpoch, p.LogStartOffset, p.PartitionMaxBytes = rng.Int32(), rng.Int64(), rng.Int32()
			p.UnknownTags = randTags(rng)
			if rng.IntN(3) == 0 {
				p.ReplicaDirectoryID = randID(rng)
			}
			t.Partitions = append(t.Partitions, p)
		}
		r.Topics = append(r.Topics, t)
	}
	for range rng.IntN(3) {
		t := kmsg.NewFetchRequestForgottenTopic()
		t.Topic, t.TopicID, t.UnknownTags = randName(rng), randID(rng), randTags(rng)
		for range rng.IntN(4) {
			t.Partitions = append(t.Partitions, rng.Int32())
		}
		r.ForgottenTopics = append(r.ForgottenTopics, t)
	}
	return r
}

func TestFetchRequestDecodesAsKmsg(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	q := new(fetchRequest)
	for v := int16(4); v <= 18; v++ {
		for range 200 {
			r := randFetch(rng)
			r.SetVersion(v)
			body := r.AppendTo(nil)
			want := kmsg.NewPtrFetchRequest()
			want.SetVersion(v)
			if err := want.ReadFrom(body); err != nil {
				t.Fatal(err)
			}
			if err := q.decode(v, body); err != nil {
				t.Fatalf("version %d: %v of %+v", v, err, r)
			}
			compareFetch(t, want, q)
		}
	}
}

func compareFetch(t *testing.T, want *kmsg.FetchRequest, q *fetchRequest) {
	t.Helper()
	v := q.version
	if q.maxWaitMs != want.MaxWaitMillis || q.minBytes != want.MinBytes || q.maxBytes != want.MaxBytes ||
		q.committed != (want.IsolationLevel == 1) ||
		v >= 7 && (q.sessionID != want.SessionID || q.sessionEpoch != want.SessionEpoch) {
		t.Fatalf("version %d: %+v of %+v", v, q, want)
	}
	var parts, forgotten []fetchEntry
	topic := func(name string, id [16]byte) fetchTopic {
		if v >= 13 {
			return fetchTopic{id: id}
		}
		return fetchTopic{name: name}
	}
	for _, wt := range want.Topics {
		for _, p := range wt.Partitions {
			parts = append(parts, fetchEntry{topic(wt.Topic, wt.TopicID), p.Partition,
				fetchWish{p.CurrentLeaderEpoch, p.FetchOffset, p.LastFetchedEpoch, p.PartitionMaxBytes}})
		}
	}
	for _, wt := range want.ForgottenTopics {
		for _, p := range wt.Partitions {
			forgotten = append(forgotten, fetchEntry{fetchTopic: topic(wt.Topic, wt.TopicID), index: p})
		}
	}
	if !equalEntries(q.parts, parts) || !equalEntries(q.forgotten, forgotten) {
		t.Fatalf("version %d:\n%+v, forgotten %+v, want\n%+v, forgotten %+v", v, q.parts, q.forgotten, parts, forgotten)
	}
}

func equalEntries(a, b []fetchEntry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// randRead is a fetch that has read random things, and the answer kmsg would give.
func randRead(rng *rand.Rand, v int16, f *fetch) *kmsg.FetchResponse {
	want := kmsg.NewPtrFetchResponse()
	want.SetVersion(v)
	f.req.version, f.req.committed = v, rng.IntN(2) == 0
	f.parts = f.parts[:0]
	var results []engine.ReadResult
	for range rng.IntN(4) {
		wt := kmsg.NewFetchResponseTopic()
		wt.Topic, wt.TopicID = randName(rng), randID(rng)
		topic := fetchTopic{name: wt.Topic}
		if v >= 13 {
			topic = fetchTopic{id: wt.TopicID}
		}
		for range 1 + rng.IntN(4) {
			part, res, wp := randPart(rng, f)
			part.fetchTopic = topic
			f.parts, results = append(f.parts, part), append(results, res)
			wt.Partitions = append(wt.Partitions, wp)
		}
		want.Topics = append(want.Topics, wt)
	}
	for i := range f.parts {
		if f.tellsLeader(&f.parts[i]) {
			b := kmsg.NewFetchResponseBroker()
			b.NodeID, b.Host, b.Port = 1, "localhost", 9092
			want.Brokers = []kmsg.FetchResponseBroker{b}
		}
	}
	f.reads = getFetchReads(len(results))
	copy(f.reads.results, results)
	return want
}

func randPart(rng *rand.Rand, f *fetch) (fetchPart, engine.ReadResult, kmsg.FetchResponseTopicPartition) {
	v := f.req.version
	part := fetchPart{index: rng.Int32()}
	res := engine.ReadResult{HighWatermark: rng.Int64(), LastStable: rng.Int64(), LogStart: rng.Int64()}
	wp := kmsg.NewFetchResponseTopicPartition()
	wp.Partition, wp.RecordBatches = part.index, []byte{}
	wp.HighWatermark, wp.LastStableOffset, wp.LogStartOffset = res.HighWatermark, res.LastStable, res.LogStart
	if f.req.committed {
		wp.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	}
	switch rng.IntN(5) {
	case 0:
		part.code = kerr.OffsetOutOfRange.Code
		wp.ErrorCode, wp.HighWatermark, wp.LastStableOffset, wp.LogStartOffset = part.code, -1, -1, -1
		wp.AbortedTransactions = nil
	case 1:
		if v >= 12 {
			part.diverged, part.epoch, part.end = true, rng.Int32(), rng.Int64()
			wp.DivergingEpoch.Epoch, wp.DivergingEpoch.EndOffset = part.epoch, part.end
		}
	default:
		for range rng.IntN(4) {
			b := randBytes(rng, 1+rng.IntN(300))
			res.Bufs, res.Bytes = append(res.Bufs, b), res.Bytes+len(b)
			wp.RecordBatches = append(wp.RecordBatches, b...)
		}
		for range rng.IntN(3) {
			a := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
			a.ProducerID, a.FirstOffset = rng.Int64(), rng.Int64()
			res.Aborted = append(res.Aborted, engine.AbortedTxn{ProducerID: a.ProducerID, FirstOffset: a.FirstOffset})
			if f.req.committed {
				wp.AbortedTransactions = append(wp.AbortedTransactions, a)
			}
		}
	}
	return part, res, wp
}

func TestFetchResponseEncodesAsKmsg(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := newMemConn(t, bareServer(t))
	f := newFetch(c.session.(*session))
	for v := int16(4); v <= 18; v++ {
		for range 200 {
			out := new(place)
			f.place, f.corrID = out, 9
			want := randRead(rng, v, f)
			f.answer()
			body := out.bytes[8:]
			if v >= 12 {
				body = body[1:]
			}
			if !bytes.Equal(body, want.AppendTo(nil)) {
				t.Fatalf("version %d:\n% x, want\n% x", v, body, want.AppendTo(nil))
			}
		}
	}
}

func FuzzFetchRequest(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for v := int16(4); v <= 18; v++ {
		r := randFetch(rng)
		r.SetVersion(v)
		f.Add(v, r.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, v int16, body []byte) {
		if v < 4 || v > 18 {
			return
		}
		q := new(fetchRequest)
		want := kmsg.NewPtrFetchRequest()
		want.SetVersion(v)
		if q.decode(v, body) == nil && want.ReadFrom(body) == nil {
			compareFetch(t, want, q)
		}
	})
}

func TestFetchCodecDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget on purpose")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	c := newMemConn(t, bareServer(t))
	f := newFetch(c.session.(*session))
	for v := int16(4); v <= 18; v++ {
		r := randFetch(rng)
		r.SetVersion(v)
		body := r.AppendTo(nil)
		randRead(rng, v, f)
		parts, results := f.parts, f.reads.results
		keep := append([]fetchPart(nil), parts...)
		var q fetchRequest
		f.place = new(place)
		once := func() {
			if err := q.decode(v, body); err != nil {
				t.Fatal(err)
			}
			f.parts = append(f.parts[:0], keep...)
			f.reads = getFetchReads(len(results))
			f.answer()
		}
		once()
		if n := testing.AllocsPerRun(100, once); n > 0 {
			t.Errorf("version %d: %v allocations for a request", v, n)
		}
	}
}
