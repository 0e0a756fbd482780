package engine

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/disk"
)

var (
	crashSeed   = flag.Uint64("crash.seed", 0, "seed of TestCrashModel; 0 takes a new one")
	crashRounds = flag.Int("crash.rounds", 12, "power cuts of TestCrashModel")
)

// crashModel is what must be true of the disk whatever happens to it.
type crashModel struct {
	t     *testing.T
	rng   *rand.Rand
	parts [crashParts]modelPart
	next  int // unique value of the next batch
}

const crashParts = 5

// modelPart is one partition as its clients know it.
type modelPart struct {
	acked   map[int64]string // acknowledged records
	tried   map[string]bool  // values of every record ever sent
	start   int64            // acknowledged log start
	started int64            // highest log start ever asked for
	end     int64            // one past the last acknowledged offset
}

// TestCrashModel cuts the power at random moments under random operations. An
// acknowledged record is never lost, changed, moved or doubled; what is there
// besides was sent and not acknowledged.
func TestCrashModel(t *testing.T) {
	seed := *crashSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -crash.seed=%d)", seed, seed)
	m := &crashModel{t: t, rng: rand.New(rand.NewPCG(seed, 1))}
	for i := range m.parts {
		m.parts[i] = modelPart{acked: map[int64]string{}, tried: map[string]bool{}}
	}
	dir := disk.NewMem(seed)
	e := openEngine(t, dir)
	createTopic(t, e, "c", crashParts, nil)
	for round := range *crashRounds {
		m.check(e, round)
		clone := m.work(e, dir)
		e.Close()
		dir = clone
		e = openEngine(t, dir)
		m.adopt(e)
	}
	m.check(e, *crashRounds)
}

// inFlight is an operation whose outcome is awaited.
type inFlight struct {
	part   int
	values []string
	append <-chan *AppendRequest
	start  <-chan int64
	before int64
}

// work does random operations, cuts the power in the middle of them and notes
// what had been acknowledged by then.
func (m *crashModel) work(e *Engine, dir *disk.Mem) *disk.Mem {
	var open []inFlight
	for range 30 + m.rng.IntN(200) {
		i := m.rng.IntN(crashParts)
		p := e.Partition("c", int32(i))
		switch k := m.rng.IntN(40); {
		case k == 0:
			before := p.LogStart() + m.rng.Int64N(p.HighWatermark()-p.LogStart()+1)
			m.parts[i].started = max(m.parts[i].started, before)
			ch := make(chan int64, 1)
			p.DeleteRecords(before, func(s int64, err error) {
				if err != nil {
					s = -1
				}
				ch <- s
			})
			open = append(open, inFlight{part: i, start: ch, before: before})
		case k < 3:
			open = m.settle(open, true)
		default:
			open = append(open, m.send(p, i))
		}
	}
	// Some answers may have come by now, some not: those are what a client knows.
	m.settle(open, false)
	clone := dir.CrashClone(m.rng, disk.CrashOptions{UnsyncedBlocks: m.rng.Float64(), UnsyncedDirOps: m.rng.Float64()})
	return clone
}

func (m *crashModel) send(p *Partition, i int) inFlight {
	f := inFlight{part: i}
	b := batch.NewBuilder(batch.NewOptions())
	size := []int{10, 500, 4000, 60000}[m.rng.IntN(4)]
	for range 1 + m.rng.IntN(5) {
		v := fmt.Sprintf("v%d", m.next)
		m.next++
		m.parts[i].tried[v] = true
		f.values = append(f.values, v)
		b.Append(time.Now().UnixMilli(), nil, append([]byte(v), make([]byte, size)...))
	}
	f.append = appendAsync(p, append([]byte(nil), b.Finish()...))
	return f
}

// settle takes the answers that are there, or waits for all.
func (m *crashModel) settle(open []inFlight, wait bool) []inFlight {
	var left []inFlight
	for _, f := range open {
		part := &m.parts[f.part]
		switch {
		case f.append != nil:
			r, ok := poll(m.t, f.append, wait)
			if !ok {
				left = append(left, f)
				continue
			}
			if r.Err != nil {
				m.t.Fatalf("append: %v", r.Err)
			}
			for k, v := range f.values {
				part.acked[r.BaseOffset+int64(k)] = v
			}
			part.end = max(part.end, r.BaseOffset+int64(len(f.values)))
		default:
			s, ok := poll(m.t, f.start, wait)
			if !ok {
				left = append(left, f)
				continue
			}
			part.start = max(part.start, s)
		}
	}
	return left
}

func poll[T any](t *testing.T, ch <-chan T, wait bool) (v T, ok bool) {
	if wait {
		return await(t, ch), true
	}
	select {
	case v = <-ch:
		return v, true
	default:
		return v, false
	}
}

// check compares the engine with the model.
func (m *crashModel) check(e *Engine, round int) {
	m.t.Helper()
	for i := range m.parts {
		part, p := &m.parts[i], e.Partition("c", int32(i))
		if p == nil {
			m.t.Fatalf("round %d: partition %d is gone", round, i)
		}
		start := p.LogStart()
		if start < part.start || start > max(part.started, part.start) {
			m.t.Fatalf("round %d: partition %d starts at %d; acknowledged %d, asked for %d", round, i, start, part.start, part.started)
		}
		got := readValues(m.t, p)
		seen := map[string]bool{}
		for off := start; off < p.HighWatermark(); off++ {
			v, ok := got[off]
			if !ok {
				m.t.Fatalf("round %d: partition %d has no offset %d", round, i, off)
			}
			if want, ok := part.acked[off]; ok && want != v {
				m.t.Fatalf("round %d: partition %d offset %d holds %q, acknowledged was %q", round, i, off, v, want)
			}
			if !part.tried[v] || seen[v] {
				m.t.Fatalf("round %d: partition %d offset %d holds %q: never sent, or there twice", round, i, off, v)
			}
			seen[v] = true
		}
		if hw := p.HighWatermark(); hw < part.end {
			m.t.Fatalf("round %d: partition %d ends at %d, acknowledged was %d", round, i, hw, part.end)
		}
	}
}

// adopt takes what survived without having been acknowledged as known from now
// on: consumers may have seen it.
func (m *crashModel) adopt(e *Engine) {
	for i := range m.parts {
		p := e.Partition("c", int32(i))
		if p == nil {
			m.t.Fatal("partition is gone")
		}
		for off, v := range readValues(m.t, p) {
			if want, ok := m.parts[i].acked[off]; !ok {
				m.parts[i].acked[off] = v
			} else if want != v {
				m.t.Fatalf("partition %d offset %d holds %q after the crash, acknowledged was %q", i, off, v, want)
			}
		}
		if hw := p.HighWatermark(); hw < m.parts[i].end {
			m.t.Fatalf("partition %d ends at %d after the crash, acknowledged was %d", i, hw, m.parts[i].end)
		}
		m.parts[i].end = p.HighWatermark()
		m.parts[i].start = p.LogStart()
	}
}

func TestStorageErrorsAreNotSwallowed(t *testing.T) {
	dir := disk.NewMem(1)
	dir.SetCapacity(8 << 20)
	e := openEngine(t, dir)
	createTopic(t, e, "full", 1, nil)
	p := e.Partition("full", 0)
	// One batch may have been accepted when the last segment was being looked for
	// in vain: it has its offset and waits for space; those after it are refused.
	var held <-chan *AppendRequest
	var full error
	n := 0
	for n < 400 && full == nil {
		ch := appendAsync(p, makeBatch(1, 100<<10, "x"))
		select {
		case r := <-ch:
			if full = r.Err; full == nil {
				n++
			}
		case <-time.After(time.Second):
			if held != nil {
				t.Fatal("two batches wait for space on a full disk")
			}
			held = ch
		}
	}
	if !errors.Is(full, ErrDiskFull) {
		t.Fatalf("after %d batches: %v", n, full)
	}
	if got := len(readValues(t, p)); got != n {
		t.Fatalf("%d records can be read on the full disk, want %d", got, n)
	}
	gone := make(chan error, 1)
	p.DeleteRecords(-1, func(_ int64, err error) { gone <- err })
	if err := await(t, gone); err != nil {
		t.Fatalf("records cannot be deleted on a full disk: %v", err)
	}
	eventually(t, func() bool { return await(t, appendAsync(p, makeBatch(1, 100<<10, "x"))).Err == nil })
	if held != nil {
		if r := await(t, held); r.Err != nil || r.BaseOffset != int64(n) {
			t.Fatalf("batch that waited for space: offset %d, error %v", r.BaseOffset, r.Err)
		}
	}
}
