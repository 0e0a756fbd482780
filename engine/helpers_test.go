package engine

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/config"
	"github.com/spatemq/spate/engine/disk"
)

const waitMax = 20 * time.Second

func testConfig(t testing.TB, set ...string) *config.Broker {
	t.Helper()
	c, err := config.NewBroker(config.Input{Set: set, Hostname: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var testTuning = Tuning{GroupMaxBytes: 256 << 10, GroupsInFlight: 2, SegmentBytes: 1 << 20,
	HotBytes: 4 << 20, ColdBytes: 1 << 20, ReadSlots: 2, ReadSlotBytes: 64 << 10}

func openEngine(t testing.TB, dir disk.Dir, set ...string) *Engine {
	t.Helper()
	e, err := Open(Options{Dir: dir, Config: testConfig(t, set...), Tuning: testTuning, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func createTopic(t testing.TB, e *Engine, name string, partitions int32, configs map[string]*string) *catalog.Topic {
	t.Helper()
	type result struct {
		topic *catalog.Topic
		err   error
	}
	ch := make(chan result, 1)
	e.CreateTopic(catalog.TopicSpec{Name: name, Partitions: partitions, ReplicationFactor: -1, Configs: configs},
		func(tp *catalog.Topic, err error) { ch <- result{tp, err} })
	r := await(t, ch)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.topic
}

func await[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(waitMax):
		t.Fatal("no answer")
		panic("unreachable")
	}
}

func makeBatch(records int, size int, tag string) []byte {
	b := batch.NewBuilder(batch.NewOptions())
	for i := range records {
		v := make([]byte, max(size, len(tag)+12))
		copy(v, fmt.Sprintf("%s/%d", tag, i))
		b.Append(time.Now().UnixMilli(), nil, v)
	}
	return append([]byte(nil), b.Finish()...)
}

func appendAsync(p *Partition, records []byte) <-chan *AppendRequest {
	ch := make(chan *AppendRequest, 1)
	p.Append(&AppendRequest{Records: records, Done: func(r *AppendRequest) { ch <- r }})
	return ch
}

func mustAppend(t testing.TB, p *Partition, records []byte) int64 {
	t.Helper()
	r := await(t, appendAsync(p, records))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r.BaseOffset
}

// readValues reads all records of a partition as consumers would.
func readValues(t testing.TB, p *Partition) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	if err := readAll(p, func(r *batch.Record) error {
		v := string(r.Value)
		for i := range v {
			if v[i] == 0 {
				v = v[:i]
				break
			}
		}
		out[r.Offset] = v
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// eventually waits until a condition holds that background work brings about.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(waitMax); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("did not happen")
		}
	}
}
