package crash

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	cycles = flag.Int("crash.cycles", 50, "how often TestKill kills the broker")
	seed   = flag.Uint64("crash.seed", 0, "seed of TestKill; 0 takes a new one")
)

const (
	writers    = 4
	partitions = 3
	topic      = "crash"
	group      = "crash-group"
)

// place is where a record was acknowledged.
type place struct {
	partition int32
	offset    int64
}

// ledger is what the clients have been told.
type ledger struct {
	mu    sync.Mutex
	acked map[string]place
	sent  map[string]bool
}

func TestKill(t *testing.T) {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d cycles", s, *cycles)
	rng := rand.New(rand.NewPCG(s, 0))
	b := newBroker(t)
	b.start()
	createTopic(t, b.addr)
	l := &ledger{acked: map[string]place{}, sent: map[string]bool{}}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() { defer wg.Done(); l.write(ctx, t, b.addr, w) }()
	}
	c := &committer{addr: b.addr}
	wg.Add(1)
	go func() { defer wg.Done(); c.run(ctx) }()
	for range *cycles {
		time.Sleep(time.Duration(100+rng.IntN(400)) * time.Millisecond)
		b.kill()
		b.start()
		c.check(t)
	}
	stop()
	wg.Wait()
	l.check(t, b.addr)
}

func createTopic(t *testing.T, addr string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(context.Background(), partitions, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

// write produces with idempotence and notes every acknowledgement. Retries across
// the crashes are the client's own.
func (l *ledger) write(ctx context.Context, t *testing.T, addr string, w int) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic), kgo.MaxBufferedRecords(500),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(2*time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.RecordDeliveryTimeout(time.Minute))
	if err != nil {
		t.Error(err)
		return
	}
	defer cl.Close()
	for n := 0; ctx.Err() == nil; n++ {
		v := value(w, n)
		l.mu.Lock()
		l.sent[v] = true
		l.mu.Unlock()
		r := &kgo.Record{Value: []byte(v + strings.Repeat(" ", n%700)), Partition: int32(n % partitions)}
		cl.Produce(ctx, r, func(r *kgo.Record, err error) {
			if err != nil {
				return
			}
			l.mu.Lock()
			l.acked[v] = place{r.Partition, r.Offset}
			l.mu.Unlock()
		})
	}
	flush, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cl.Flush(flush)
}

// check reads everything back.
func (l *ledger) check(t *testing.T, addr string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	ends.Each(func(o kadm.ListedOffset) { want += o.Offset })
	found := map[string]place{}
	var next [partitions]int64
	for got := int64(0); got < want; {
		f := cl.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("%d of %d records read: %v", got, want, err)
		}
		f.EachError(func(tp string, p int32, err error) { t.Fatalf("%s/%d: %v", tp, p, err) })
		f.EachRecord(func(r *kgo.Record) {
			got++
			v := strings.TrimRight(string(r.Value), " ")
			if r.Offset != next[r.Partition] {
				t.Errorf("partition %d: offset %d after %d", r.Partition, r.Offset, next[r.Partition]-1)
			}
			next[r.Partition] = r.Offset + 1
			if !l.sent[v] {
				t.Errorf("%q was never sent", v)
			}
			if old, twice := found[v]; twice {
				t.Errorf("%q is stored twice: %v and offset %d", v, old, r.Offset)
			}
			found[v] = place{r.Partition, r.Offset}
		})
	}
	for v, p := range l.acked {
		if f, ok := found[v]; !ok {
			t.Errorf("%q, acknowledged at %v, is lost", v, p)
		} else if p.offset >= 0 && f != p {
			// A retry of a batch that left the window is acknowledged without an offset.
			t.Errorf("%q, acknowledged at %v, is at %v", v, p, f)
		}
	}
	t.Logf("%d records sent, %d acknowledged, %d stored", len(l.sent), len(l.acked), len(found))
	if len(l.acked) < *cycles {
		t.Errorf("only %d acknowledged records: the test has shown nothing", len(l.acked))
	}
}

// committer commits ever higher offsets.
type committer struct {
	addr string
	mu   sync.Mutex
	done int64 // highest acknowledged
	next int64
}

func (c *committer) client() (*kgo.Client, *kadm.Client, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.addr), kgo.RetryTimeout(10*time.Second))
	if err != nil {
		return nil, nil, err
	}
	return cl, kadm.NewClient(cl), nil
}

func (c *committer) run(ctx context.Context) {
	cl, adm, err := c.client()
	if err != nil {
		return
	}
	defer cl.Close()
	for ctx.Err() == nil {
		c.next++
		o := kadm.Offsets{}
		o.AddOffset(topic, 0, c.next, -1)
		err := adm.CommitAllOffsets(ctx, group, o)
		if err == nil {
			c.mu.Lock()
			c.done = c.next
			c.mu.Unlock()
		}
	}
}

// check compares what the broker has with what it has acknowledged.
func (c *committer) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	want := c.done
	c.mu.Unlock()
	cl, adm, err := c.client()
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	o, err := adm.FetchOffsets(ctx, group)
	if err != nil {
		t.Fatal(fmt.Errorf("offsets of %s: %w", group, err))
	}
	got := int64(0)
	if r, ok := o.Lookup(topic, 0); ok {
		got = r.At
	}
	if got < want {
		t.Fatalf("committed offset is %d, %d was acknowledged", got, want)
	}
}
