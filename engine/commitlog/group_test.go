package commitlog

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spatemq/spate/engine/disk"
)

// journal is the Owner of a test's entries: it notes who was sealed and completed,
// in order.
type journal struct {
	mu        sync.Mutex
	sealed    []*Entry
	completed []*Entry
	changed   chan struct{} // closed and replaced at each completion
}

func newJournal() *journal { return &journal{changed: make(chan struct{})} }

func (j *journal) Sealed(e *Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sealed = append(j.sealed, e)
}

func (j *journal) Completed(e *Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.completed = append(j.completed, e)
	close(j.changed)
	j.changed = make(chan struct{})
}

// wait waits until n entries are complete and returns them.
func (j *journal) wait(t *testing.T, n int) []*Entry {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		j.mu.Lock()
		list, changed := j.completed, j.changed
		j.mu.Unlock()
		if len(list) >= n {
			return list
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%d of %d entries are complete", len(list), n)
		}
	}
}

func (j *journal) entry(stream uint64, offset int, d Durability) *Entry {
	return &Entry{Stream: stream, BaseOffset: int64(offset), Span: 1, Kind: KindBatch, Durability: d, Owner: j,
		Payload: fmt.Appendf(nil, "stream %d offset %d", stream, offset)}
}

func startLog(t *testing.T, dir disk.Dir, groups int) *Log {
	t.Helper()
	l, err := Open(Options{Dir: dir, SegmentBytes: 1 << 20, GroupMaxBytes: 64 << 10, GroupsInFlight: groups, HotBytes: 2 << 20,
		ColdBytes: 256 << 10, ReadSlotBytes: 64 << 10, ReadSlots: 1, SpareSegments: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Recover(func(uint32) bool { return true }, func(*Block) {}); err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	waitPrepared(t, l)
	return l
}

// waitPrepared waits until the second segment is ready, so that its making does
// not meet the test's faults.
func waitPrepared(t *testing.T, l *Log) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		ready := l.next != nil || l.full
		l.mu.Unlock()
		if ready {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no segment is prepared")
		}
	}
}

func held(t *testing.T, g *disk.Gate, n int) {
	t.Helper()
	select {
	case <-g.Held(n):
	case <-time.After(20 * time.Second):
		t.Fatalf("%d operations are not at the gate", n)
	}
}

func (l *Log) put(entries ...*Entry) {
	for _, e := range entries {
		l.Append(e)
	}
	l.Kick()
}

// TestConcurrentAppends: each stream's entries get ascending positions and complete
// in the order of their appends, and the blocks on the disk are sorted by stream.
func TestConcurrentAppends(t *testing.T) {
	const streams, each = 6, 200
	m := disk.NewMem(1)
	l := startLog(t, m, 3)
	j := newJournal()
	var wg sync.WaitGroup
	for s := range streams {
		wg.Go(func() {
			for i := range each {
				l.put(j.entry(uint64(s), i, Durability(s%3)))
			}
		})
	}
	wg.Wait()
	for what, list := range map[string][]*Entry{"completed": j.wait(t, streams*each), "sealed": j.sealed} {
		next := make([]int64, streams)
		last := make([]uint64, streams)
		for _, e := range list {
			if e.Err != nil || e.BaseOffset != next[e.Stream] || e.LSN <= last[e.Stream] {
				t.Fatalf("%s: stream %d offset %d at %#x (%v), after %d at %#x", what, e.Stream, e.BaseOffset, e.LSN, e.Err,
					next[e.Stream]-1, last[e.Stream])
			}
			next[e.Stream]++
			last[e.Stream] = e.LSN
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	next := make([]int64, streams)
	_, _, err := Scan(m, func(b *Block) {
		for i, d := range b.Entries {
			if i > 0 && d.Stream < b.Entries[i-1].Stream {
				t.Errorf("block %#x is not sorted", b.LSN)
			}
			want := fmt.Sprintf("stream %d offset %d", d.Stream, next[d.Stream])
			if got := string(b.Data[d.Pos : d.Pos+d.Bytes]); got != want {
				t.Errorf("%q stands for %q", got, want)
			}
			next[d.Stream]++
		}
	}, nil)
	if err != nil || next[0] != each || next[streams-1] != each {
		t.Fatal(err, next)
	}
}

// TestDurability: Memory completes before the write, Write before the sync.
func TestDurability(t *testing.T) {
	d := disk.NewFault(disk.NewMem(1), 1)
	l := startLog(t, d, 2)
	var writes, syncs disk.Gate
	w := d.Inject(disk.Rule{Kinds: disk.FaultWrite, Gate: &writes})
	s := d.Inject(disk.Rule{Kinds: disk.FaultSync, Gate: &syncs})
	j := newJournal()
	l.put(j.entry(1, 0, Fsync), j.entry(2, 0, Write), j.entry(3, 0, Memory))
	held(t, &writes, 1)
	if got := j.wait(t, 1); len(got) != 1 || got[0].Durability != Memory {
		t.Fatalf("%d entries complete before the write", len(got))
	}
	w.Remove()
	writes.Open()
	held(t, &syncs, 1)
	if got := j.wait(t, 2); len(got) != 2 || got[1].Durability != Write {
		t.Fatalf("%d entries complete before the sync", len(got))
	}
	s.Remove()
	syncs.Open()
	if got := j.wait(t, 3); got[2].Durability != Fsync || got[2].Err != nil {
		t.Fatal(got[2])
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestGroupsInFlight: the third group is not sealed while two are on their way, and
// what waits meanwhile becomes one group.
func TestGroupsInFlight(t *testing.T) {
	d := disk.NewFault(disk.NewMem(1), 1)
	l := startLog(t, d, 2)
	var gate disk.Gate
	rule := d.Inject(disk.Rule{Kinds: disk.FaultWrite, Gate: &gate})
	j := newJournal()
	for i := range 10 {
		l.put(j.entry(1, i, Fsync))
	}
	held(t, &gate, 2)
	if st := l.Stats(); st.InFlight != 2 || st.Pending != 8 || st.Groups != 2 {
		t.Fatalf("%+v", st)
	}
	rule.Remove()
	gate.Open()
	j.wait(t, 10)
	if st := l.Stats(); st.Groups != 3 || st.Entries != 10 || st.PendingBytes != 0 {
		t.Fatalf("%+v", st)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestGroupFailure: when one group fails, so do all after it, also one that the
// disk has written and one that still waits, and the log stays out of service.
func TestGroupFailure(t *testing.T) {
	d := disk.NewFault(disk.NewMem(1), 1)
	l := startLog(t, d, 2)
	var gate disk.Gate
	bad := d.Inject(disk.Rule{Kinds: disk.FaultWrite, Gate: &gate, Times: 1, Err: syscall.EIO})
	j := newJournal()
	l.put(j.entry(1, 0, Fsync))
	held(t, &gate, 1)
	l.put(j.entry(1, 1, Fsync))
	l.put(j.entry(1, 2, Fsync)) // waits
	if bad.Hits() != 1 {
		t.Fatal("fault was not met")
	}
	gate.Open()
	for _, e := range j.wait(t, 3) {
		if !errors.Is(e.Err, ErrFailed) || !errors.Is(e.Err, syscall.EIO) {
			t.Errorf("offset %d: %v", e.BaseOffset, e.Err)
		}
	}
	l.put(j.entry(1, 3, Fsync))
	if e := j.wait(t, 4)[3]; !errors.Is(e.Err, ErrFailed) {
		t.Error(e.Err)
	}
	if err := l.Admit(1, true); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	if err := l.Close(); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
}

// TestAdmit: a full disk refuses batches before control entries, and what was
// admitted is stored.
func TestAdmit(t *testing.T) {
	m := disk.NewMem(1)
	m.SetCapacity(1 << 20) // one segment
	l := startLog(t, m, 1)
	if err := l.Admit(1<<20, false); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	j := newJournal()
	stored := 0
	for ; l.Admit(50_000, false) == nil; stored++ {
		e := j.entry(1, stored, Fsync)
		e.Payload = []byte(strings.Repeat("x", 50_000))
		l.put(e)
		if got := j.wait(t, stored+1)[stored]; got.Err != nil {
			t.Fatal(got.Err)
		}
	}
	if err := l.Admit(50_000, false); !errors.Is(err, ErrFull) || stored < 10 {
		t.Fatalf("%d stored, then %v", stored, err)
	}
	if err := l.Admit(0, true); err != nil {
		t.Fatalf("control entry: %v", err)
	}
	e := j.entry(1, 3, Fsync)
	e.Kind, e.Span, e.Payload = KindLogStart, 0, nil
	l.put(e)
	if got := j.wait(t, stored+1)[stored]; got != e || e.Err != nil {
		t.Fatal(e.Err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Admit(1, false); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}
