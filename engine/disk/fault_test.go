package disk

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"
)

func TestFaultOverMem(t *testing.T) {
	testBackend(t, func(*testing.T) Dir { return NewFault(NewMem(1), 1) })
}

func newFault(t *testing.T) (*Fault, *Mem) {
	m := NewMem(1)
	d := NewFault(m, 1)
	t.Cleanup(func() { check(t, d.Close()) })
	return d, m
}

// TestFaultEveryKind fails each operation once and sees it succeed after that.
func TestFaultEveryKind(t *testing.T) {
	d, _ := newFault(t)
	f := must(d.Create("f", 0))(t)
	t.Cleanup(func() { f.Close() })
	must(f.WriteAt([]byte("12345678"), 0))(t)
	for _, tc := range []struct {
		kind FaultKind
		call func() error
	}{
		{FaultCreate, func() error { g, err := d.Create("g", 0); return errors.Join(err, closeIf(g)) }},
		{FaultOpen, func() error { g, err := d.Open("f", 0); return errors.Join(err, closeIf(g)) }},
		{FaultRead, func() error { _, err := f.ReadAt(make([]byte, 8), 0); return err }},
		{FaultWrite, func() error { _, err := f.WriteAt(make([]byte, 8), 0); return err }},
		{FaultSync, f.Sync},
		{FaultTruncate, func() error { return f.Truncate(8) }},
		{FaultAllocate, func() error { return f.Allocate(8) }},
		{FaultMkdir, func() error { return d.MkdirAll("x") }},
		{FaultRename, func() error { return d.Rename("g", "h") }},
		{FaultRemove, func() error { return d.Remove("h") }},
		{FaultList, func() error { _, err := d.List(""); return err }},
		{FaultSyncDir, func() error { return d.SyncDir("") }},
		{FaultLock, func() error { l, err := d.Lock("LOCK"); return errors.Join(err, closeIf(l)) }},
		{FaultUsage, func() error { _, err := d.Usage(); return err }},
	} {
		i := d.Inject(Rule{Kinds: tc.kind, Times: 1, Err: syscall.EIO})
		err := tc.call()
		wantIs(t, err, syscall.EIO)
		var e *Error
		if !errors.As(err, &e) || e.Op == "" {
			t.Errorf("kind %#x: error %v does not say what failed", tc.kind, err)
		}
		if err := tc.call(); err != nil {
			t.Errorf("kind %#x: still fails: %v", tc.kind, err)
		}
		if i.Hits() != 1 {
			t.Errorf("kind %#x: %d hits", tc.kind, i.Hits())
		}
		i.Remove()
	}
}

func closeIf(c io.Closer) error {
	if c == nil {
		return nil
	}
	return c.Close()
}

// TestFaultWriteSync: an error in the write means no sync, one in the sync comes
// after Written.
func TestFaultWriteSync(t *testing.T) {
	d, _ := newFault(t)
	check(t, d.MkdirAll("log"))
	file := must(d.Create("log/1", Direct))(t)
	defer file.Close()
	syncs := d.Inject(Rule{Kinds: FaultSync}) // only counts
	written := 0
	op := &Op{Kind: OpWriteSync, File: file, Buf: aligned(t, d, BlockSize), Written: func(*Op) { written++ }}

	failWrite := d.Inject(Rule{Kinds: FaultWrite, Name: "log/*", Times: 1, Err: syscall.ENOSPC})
	run(t, d, op)
	wantIs(t, op.Err, ErrNoSpace)
	if written != 0 || syncs.Hits() != 0 || failWrite.Hits() != 1 {
		t.Fatalf("write failed, yet written %d, synced %d", written, syncs.Hits())
	}
	syncs.Remove()
	d.Inject(Rule{Kinds: FaultSync, Name: "log/1", Times: 1, Err: syscall.EIO})
	run(t, d, op)
	wantIs(t, op.Err, syscall.EIO)
	if written != 1 {
		t.Fatalf("sync failed, written %d", written)
	}
	run(t, d, op)
	check(t, op.Err)
}

// TestFaultShort: a short write leaves its part on the disk, a short read in the
// buffer, and both say so.
func TestFaultShort(t *testing.T) {
	d, m := newFault(t)
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	buf := aligned(t, d, 2*BlockSize)
	d.Inject(Rule{Kinds: FaultWrite | FaultRead, Times: 2, Short: BlockSize})
	op := &Op{Kind: OpWriteSync, File: f, Buf: pattern(buf, 1)}
	run(t, d, op)
	wantIs(t, op.Err, io.ErrShortWrite)
	if got := must(ReadFile(m, "f"))(t); !bytes.Equal(got, buf[:BlockSize]) {
		t.Fatalf("%d bytes on the disk", len(got))
	}
	want := bytes.Clone(buf[:BlockSize])
	clear(buf)
	op = &Op{Kind: OpRead, File: f, Buf: buf}
	run(t, d, op)
	wantIs(t, op.Err, io.ErrUnexpectedEOF)
	if !bytes.Equal(buf[:BlockSize], want) {
		t.Fatal("the short read transferred nothing")
	}
}

func TestFaultRuleConditions(t *testing.T) {
	d, _ := newFault(t)
	a := newFile(t, d, "a.log", "x")
	b := newFile(t, d, "b.idx", "x")
	d.Inject(Rule{Kinds: FaultSync, Name: "*.log", Skip: 2, Times: 3, Err: syscall.EIO})
	var outcome string
	for range 7 {
		check(t, b.Sync())
		if a.Sync() == nil {
			outcome += "+"
		} else {
			outcome += "-"
		}
	}
	if outcome != "++---++" {
		t.Errorf("outcome %s", outcome)
	}
	i := d.Inject(Rule{Kinds: FaultSync, Name: "b.idx", Probability: 0.5, Err: syscall.EIO})
	for range 100 {
		_ = b.Sync()
	}
	if h := i.Hits(); h < 20 || h > 80 {
		t.Errorf("%d hits of 100 at probability 0.5", h)
	}
}

// TestFaultGate: held writes do not start, go on in order, and do not hold reads.
func TestFaultGate(t *testing.T) {
	d, m := newFault(t)
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	buf := aligned(t, d, BlockSize)
	must(f.WriteAt(buf, 0))(t)
	var gate Gate
	d.Inject(Rule{Kinds: FaultWrite, Gate: &gate})
	done := make(chan *Op, 3)
	var ops []*Op
	for i := range 3 {
		ops = append(ops, &Op{Kind: OpWriteSync, File: f, Buf: buf, Off: int64(i) * BlockSize, Done: func(op *Op) { done <- op }})
	}
	d.Submit(ops...)
	wait(t, gate.Held(3))
	if size := must(f.Size())(t); size != BlockSize {
		t.Fatalf("a held write went on: size %d", size)
	}
	run(t, d, &Op{Kind: OpRead, File: f, Buf: aligned(t, d, BlockSize)})
	gate.Release(1)
	if op := wait(t, done); op != ops[0] || op.Err != nil {
		t.Fatalf("not the oldest, or failed: %v", op.Err)
	}
	if got := len(must(ReadFile(m, "f"))(t)); got != BlockSize {
		t.Fatalf("size %d after one release", got)
	}
	gate.Open()
	check(t, wait(t, done).Err)
	check(t, wait(t, done).Err)
	gate.Shut()
	synced := make(chan error, 1)
	go func() {
		_, err := f.WriteAt(buf, 0)
		synced <- err
	}()
	wait(t, gate.Held(1))
	gate.Open()
	check(t, wait(t, synced))
}

// TestFaultCloseUnderGate: Close waits for what a gate holds.
func TestFaultCloseUnderGate(t *testing.T) {
	d := NewFault(NewMem(1), 1)
	f := must(d.Create("f", Direct))(t)
	var gate Gate
	d.Inject(Rule{Kinds: FaultWrite, Gate: &gate})
	done := make(chan *Op, 1)
	d.Submit(&Op{Kind: OpWrite, File: f, Buf: aligned(t, d, BlockSize), Done: func(op *Op) { done <- op }})
	closed := make(chan error, 1)
	go func() { closed <- d.Close() }()
	select {
	case <-closed:
		t.Fatal("closed over a held operation")
	case <-gate.Held(1):
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a file with a held operation was closed")
			}
		}()
		f.Close()
	}()
	gate.Open()
	check(t, wait(t, closed))
	check(t, wait(t, done).Err)
	check(t, f.Close())
}
