package kafka

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// waits checks that a fetch has no answer yet.
func (c *client) waits() {
	c.t.Helper()
	c.settle()
	if len(c.sent) > 0 {
		c.t.Fatal("fetch was answered at once")
	}
}

func TestFetchWaitsForRecords(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 2)
	consumer, producer := b.connect(), b.connect()
	r := fetchReq(topic, map[int32]int64{0: 0, 1: 0})
	r.MaxWaitMillis = 60_000
	for i := range 3 {
		consumer.send(r, 13)
		consumer.waits()
		producer.produceTo(topic, 1, makeBatch(fmt.Sprint(i)))
		parts := consumer.answer(r).(*kmsg.FetchResponse).Topics[0].Partitions
		if got := values(t, parts[1].RecordBatches); !slices.Equal(got, []string{fmt.Sprint(i)}) {
			t.Fatalf("fetch %d got %q", i, got)
		}
		r.Topics[0].Partitions[1].FetchOffset++
	}
}

func TestFetchAnswersEmptyAtDeadline(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	r := fetchReq(topic, map[int32]int64{0: 0})
	r.MaxWaitMillis = 50
	began := time.Now()
	p := c.fetch(r, 13).Topics[0].Partitions[0]
	if waited := time.Since(began); waited < 50*time.Millisecond || p.ErrorCode != 0 || len(p.RecordBatches) > 0 {
		t.Errorf("after %v: %+v", waited, p)
	}
}

func TestFetchWaitsForMinBytes(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	consumer, producer := b.connect(), b.connect()
	r := fetchReq(topic, map[int32]int64{0: 0})
	r.MaxWaitMillis, r.MinBytes = 60_000, 5000
	consumer.send(r, 13)
	var want []string
	for i := range 3 {
		consumer.waits()
		v := strings.Repeat(fmt.Sprint(i), 2000)
		want = append(want, v)
		producer.produceTo(topic, 0, makeBatch(v))
	}
	got := values(t, consumer.answer(r).(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches)
	if !slices.Equal(got, want) {
		t.Errorf("got %d records, want 3", len(got))
	}
}

// Waiting would bring nothing where a limit keeps min.bytes from being reached.
func TestFetchDoesNotWaitAtLimit(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	for range 3 {
		c.produceTo(topic, 0, makeBatch(strings.Repeat("x", 1000)))
	}
	r := fetchReq(topic, map[int32]int64{0: 0})
	r.MaxWaitMillis, r.MinBytes = 600_000, 1<<20
	r.Topics[0].Partitions[0].PartitionMaxBytes = 2500
	if got := values(t, c.fetch(r, 13).Topics[0].Partitions[0].RecordBatches); len(got) != 2 {
		t.Errorf("got %d records, want 2", len(got))
	}
}

func TestFetchEndsWithDeletion(t *testing.T) {
	for _, q := range []struct {
		version, code int16
	}{{12, 3}, {13, 100}} {
		b := newBroker(t)
		topic := b.topic("t", 1)
		c := b.connect()
		r := fetchReq(topic, map[int32]int64{0: 0})
		r.MaxWaitMillis = 600_000
		c.send(r, q.version)
		c.waits()
		b.engine.DeleteTopic(topic.ID, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
		if p := c.answer(r).(*kmsg.FetchResponse).Topics[0].Partitions[0]; p.ErrorCode != q.code {
			t.Errorf("version %d: %+v, want %d", q.version, p, q.code)
		}
	}
}

func TestFetchEndsWhenLogStartPasses(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	for range 3 {
		c.produceTo(topic, 0, makeBatch("a"))
	}
	r := fetchReq(topic, map[int32]int64{0: 1})
	r.MaxWaitMillis, r.MinBytes = 600_000, 1<<20
	c.send(r, 13)
	c.waits()
	b.engine.PartitionByID(topic.ID, 0).DeleteRecords(-1, func(int64, error) {})
	if p := c.answer(r).(*kmsg.FetchResponse).Topics[0].Partitions[0]; p.ErrorCode != 1 {
		t.Errorf("%+v, want OFFSET_OUT_OF_RANGE", p)
	}
}

// A closed connection leaves no waiter behind.
func TestClosedConnectionWaitsNoMore(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	r := fetchReq(topic, map[int32]int64{0: 0})
	r.MaxWaitMillis = 600_000
	c.send(r, 13)
	c.waits()
	f := c.session.(*session).fetch
	c.Close(nil)
	<-c.done
	if f.waiting || f.reads != nil {
		t.Error("fetch of a closed connection still waits")
	}
	b.connect().produceTo(topic, 0, makeBatch("a"))
	if f.isWoken.Load() {
		t.Error("fetch of a closed connection was woken")
	}
}
