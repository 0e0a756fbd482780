package kafka

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

// sessionFetch asks in a session; offsets are the partitions to add or change.
func sessionFetch(t *catalog.Topic, id, epoch int32, offsets map[int32]int64, forget ...int32) *kmsg.FetchRequest {
	r := fetchReq(t, offsets)
	r.SessionID, r.SessionEpoch = id, epoch
	if len(offsets) == 0 {
		r.Topics = nil
	}
	if len(forget) > 0 {
		f := kmsg.NewFetchRequestForgottenTopic()
		f.Topic, f.TopicID, f.Partitions = t.Name, t.ID, forget
		r.ForgottenTopics = append(r.ForgottenTopics, f)
	}
	return r
}

// described are the partitions of an answer with the records each gives.
func described(t *testing.T, resp *kmsg.FetchResponse) string {
	t.Helper()
	var all []string
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			all = append(all, fmt.Sprintf("%d:%s:%d", p.Partition, strings.Join(values(t, p.RecordBatches), ","), p.ErrorCode))
		}
	}
	return strings.Join(all, " ")
}

func TestFetchSessionTellsWhatChanged(t *testing.T) {
	for _, version := range []int16{7, 11, 12, 13, 18} {
		b := newBroker(t)
		topic := b.topic("t", 4)
		c, producer := b.connect(), b.connect()
		open := c.fetch(sessionFetch(topic, 0, initialEpoch, map[int32]int64{0: 0, 1: 0, 2: 0}), version)
		id := open.SessionID
		if id <= 0 || described(t, open) != "0::0 1::0 2::0" {
			t.Fatalf("version %d: session %d: %s", version, id, described(t, open))
		}
		epoch := int32(0)
		next := func(want string, offsets map[int32]int64, forget ...int32) {
			t.Helper()
			epoch++
			resp := c.fetch(sessionFetch(topic, id, epoch, offsets, forget...), version)
			if got := described(t, resp); got != want || resp.ErrorCode != 0 || resp.SessionID != id {
				t.Fatalf("version %d: epoch %d: %q, error %d, session %d; want %q", version, epoch, got, resp.ErrorCode, resp.SessionID, want)
			}
		}
		next("", nil)
		producer.produceTo(topic, 1, makeBatch("a"))
		next("1:a:0", nil)
		producer.produceTo(topic, 0, makeBatch("b"))
		next("0:b:0", map[int32]int64{1: 1})         // partition 1 has nothing more, and 0 has
		next("3::0", map[int32]int64{0: 1, 3: 0})    // the new one is told
		next("", nil, 0)                             // forgets one
		producer.produceTo(topic, 0, makeBatch("c")) //
		next("", nil)                                // which is not told any more
		producer.produceTo(topic, 2, makeBatch("d")) //
		next("2:d:0", nil)                           //
		next("2::1", map[int32]int64{2: 9})          // an error
		next("2::1", nil)                            // and again, as long as it lasts
		next("2::0", map[int32]int64{2: 1})          // and its end
		next("", nil)                                //
		if resp := c.fetch(sessionFetch(topic, id, 99, nil), version); resp.ErrorCode != kerr.InvalidFetchSessionEpoch.Code || resp.SessionID != 0 {
			t.Errorf("version %d: wrong epoch: %+v", version, resp)
		}
		if resp := c.fetch(sessionFetch(topic, id, finalEpoch, map[int32]int64{1: 0}), version); resp.SessionID != 0 || described(t, resp) != "1:a:0" {
			t.Errorf("version %d: final fetch: session %d, %s", version, resp.SessionID, described(t, resp))
		}
		if resp := c.fetch(sessionFetch(topic, id, epoch+1, nil), version); resp.ErrorCode != kerr.FetchSessionIDNotFound.Code {
			t.Errorf("version %d: ended session: %+v", version, resp)
		}
	}
}

func TestFetchSessionWaits(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 100)
	c, producer := b.connect(), b.connect()
	all := map[int32]int64{}
	for p := range topic.Partitions() {
		all[p] = 0
	}
	id := c.fetch(sessionFetch(topic, 0, initialEpoch, all), 13).SessionID
	r := sessionFetch(topic, id, 1, nil)
	r.MaxWaitMillis = 600_000
	c.send(r, 13)
	c.waits()
	producer.produceTo(topic, 77, makeBatch("a"))
	if got := described(t, c.answer(r).(*kmsg.FetchResponse)); got != "77:a:0" {
		t.Errorf("got %q", got)
	}
}

func TestFetchSessionOfOtherKindOfTopicNames(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	id := c.fetch(sessionFetch(topic, 0, initialEpoch, map[int32]int64{0: 0}), 12).SessionID
	if resp := c.fetch(sessionFetch(topic, id, 1, nil), 13); resp.ErrorCode != kerr.FetchSessionTopicIDError.Code {
		t.Errorf("%+v", resp)
	}
}

// A partition that has always something must not keep the others from being
// answered when the answer's size is limited.
func TestFetchSessionRotates(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 3)
	c := b.connect()
	for p := range topic.Partitions() {
		for range 3 {
			c.produceTo(topic, p, makeBatch(strings.Repeat("x", 1000)))
		}
	}
	open := sessionFetch(topic, 0, initialEpoch, map[int32]int64{0: 0, 1: 0, 2: 0})
	open.MaxBytes = 1
	resp := c.fetch(open, 13)
	offsets := map[int32]int64{}
	var order []int32
	for epoch := int32(1); epoch <= 9; epoch++ {
		for _, p := range resp.Topics[0].Partitions {
			if len(p.RecordBatches) > 0 {
				order = append(order, p.Partition)
				offsets[p.Partition]++
			}
		}
		r := sessionFetch(topic, resp.SessionID, epoch, offsets)
		r.MaxBytes = 1
		id := resp.SessionID
		resp = c.fetch(r, 13)
		if resp.SessionID != id {
			t.Fatalf("session %d, then %d", id, resp.SessionID)
		}
		if len(resp.Topics) == 0 {
			break
		}
	}
	slices.Sort(order[1:4])
	if len(order) != 9 || !slices.Equal(order[1:4], []int32{0, 1, 2}) {
		t.Errorf("order of partitions: %v", order)
	}
}

// A topic created again under the same name is another: sessions by name go on
// with the new one.
func TestFetchSessionFindsTopicCreatedAgain(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	id := c.fetch(sessionFetch(topic, 0, initialEpoch, map[int32]int64{0: 0}), 12).SessionID
	deleted := make(chan error)
	b.engine.DeleteTopic(topic.ID, func(err error) { deleted <- err })
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	if got := described(t, c.fetch(sessionFetch(topic, id, 1, nil), 12)); got != "0::3" {
		t.Fatalf("deleted: %q", got)
	}
	again := b.topic("t", 1)
	c.produceTo(again, 0, makeBatch("new"))
	if got := described(t, c.fetch(sessionFetch(topic, id, 2, nil), 12)); got != "0:new:0" {
		t.Errorf("created again: %q", got)
	}
}

func testParts(n int) []*sessionPart {
	parts := make([]*sessionPart, n)
	for i := range parts {
		parts[i] = &sessionPart{fetchKey: fetchKey{index: int32(i)}}
	}
	return parts
}

// The rule is Kafka's: a slot is taken from a session that has not been used for
// two minutes, or from one that is smaller and has lived for two minutes.
func TestFetchSessionEviction(t *testing.T) {
	now := time.Now()
	c := newFetchSessions(2)
	c.now = func() time.Time { return now }
	open := func(size int) *fetchSession { return c.open(testParts(size), true) }
	a, b := open(10), open(20)
	if a == nil || b == nil {
		t.Fatal("free slots were refused")
	}
	if open(100) != nil {
		t.Error("a young session was evicted")
	}
	now = now.Add(fetchSessionEviction + time.Second)
	if !c.touch(a, 10) || !c.touch(b, 20) {
		t.Fatal("sessions are gone")
	}
	if open(10) != nil {
		t.Error("a session was evicted for one no larger")
	}
	d := open(15)
	if d == nil || c.touch(a, 10) || !c.touch(b, 20) {
		t.Error("the smallest old session was not the one evicted")
	}
	now = now.Add(fetchSessionEviction + time.Second)
	c.touch(b, 20)
	if open(1) == nil || c.touch(d, 15) || !c.touch(b, 20) {
		t.Error("the session unused for longest was not the one evicted")
	}
	if len(c.byID) != 2 || c.byUse.Len() != 2 || c.partitions != 21 {
		t.Errorf("%d sessions, %d in order of use, %d partitions; want 2, 2 and 21", len(c.byID), c.byUse.Len(), c.partitions)
	}
	if newFetchSessions(0).open(testParts(1), true) != nil {
		t.Error("a session without slots")
	}
}

func TestFetchSessionsAreBounded(t *testing.T) {
	c := newFetchSessions(1000)
	s := c.open(testParts(10), true)
	c.partitions = maxSessionPartitions
	if c.open(testParts(1), true) != nil {
		t.Error("a session beyond the limit of partitions")
	}
	if c.touch(s, 11) || c.byID[s.id] != nil {
		t.Error("a session grew beyond the limit of partitions")
	}
}

func TestFetchSessionEpochs(t *testing.T) {
	for epoch, want := range map[int32]int32{0: 1, 1: 2, 1<<31 - 1: 1} {
		if got := nextEpoch(epoch); got != want {
			t.Errorf("epoch %d after %d, want %d", got, epoch, want)
		}
	}
}
