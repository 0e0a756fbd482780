package engine

import (
	"errors"
	"log/slog"
	"syscall"
	"testing"

	"github.com/spatemq/spate/engine/disk"
)

// TestWriteErrors: a failed write or sync fails those who waited for it, takes
// the volume out of service, keeps reads, and costs nothing that was
// acknowledged.
func TestWriteErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		rule disk.Rule
	}{
		{"EIO on write", disk.Rule{Kinds: disk.FaultWrite, Name: "log/*", Err: syscall.EIO}},
		{"EIO on sync", disk.Rule{Kinds: disk.FaultSync, Name: "log/*", Err: syscall.EIO}},
		{"short write", disk.Rule{Kinds: disk.FaultWrite, Name: "log/*", Short: 4096}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := disk.NewMem(5)
			faulty := disk.NewFault(mem, 5)
			e, err := Open(Options{Dir: faulty, Config: testConfig(t), Tuning: testTuning, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			createTopic(t, e, "a", 2, nil)
			p := e.Partition("a", 0)
			mustAppend(t, p, makeBatch(3, 5000, "before"))
			woken := make(chanWaiter, 8)
			p.AddWaiter(woken)
			in := faulty.Inject(c.rule)
			for i := range 3 {
				if r := await(t, appendAsync(p, makeBatch(2, 5000, "failing"))); !errors.Is(r.Err, ErrStorage) {
					t.Fatalf("append %d: %v, want %v", i, r.Err, ErrStorage)
				}
			}
			await(t, woken)
			if in.Hits() == 0 {
				t.Fatal("nothing was injected")
			}
			in.Remove()
			if r := await(t, appendAsync(e.Partition("a", 1), makeBatch(1, 10, "other"))); !errors.Is(r.Err, ErrStorage) {
				t.Fatalf("append after the failure: %v", r.Err)
			}
			if p.Err() == nil || e.LogDirs()[0].Err == nil {
				t.Fatal("failure does not show")
			}
			if got := readValues(t, p); len(got) != 3 {
				t.Fatalf("%d records can be read, want 3", len(got))
			}
			e.Close()
			// The device is well again and the power went out in between.
			again := openEngine(t, mem.CrashClone(nil, disk.CrashOptions{}))
			q := again.Partition("a", 0)
			if got := readValues(t, q); got[0] != "before/0" || got[2] != "before/2" {
				t.Fatalf("after restart: %v", got)
			}
			mustAppend(t, q, makeBatch(1, 10, "after"))
		})
	}
}

type chanWaiter chan *Partition

func (c chanWaiter) Wake(p *Partition) {
	select {
	case c <- p:
	default:
	}
}

// TestReadErrorIsNotAbsence: what cannot be read is an error, not an end, and can
// be read when the device is well again.
func TestReadErrorIsNotAbsence(t *testing.T) {
	mem := disk.NewMem(6)
	e := openEngine(t, mem)
	createTopic(t, e, "a", 1, nil)
	for range 30 {
		mustAppend(t, e.Partition("a", 0), makeBatch(1, 100<<10, "x"))
	}
	e.Close()
	faulty := disk.NewFault(mem.CrashClone(nil, disk.CrashOptions{}), 6)
	e, err := Open(Options{Dir: faulty, Config: testConfig(t), Tuning: testTuning, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	p := e.Partition("a", 0)
	in := faulty.Inject(disk.Rule{Kinds: disk.FaultRead, Name: "log/*", Err: syscall.EIO})
	read := func() error {
		var r ReadResult
		done := make(chan struct{})
		p.ReadCold(ReadRequest{Offset: 0, MaxBytes: 1 << 20, AtLeastOne: true}, &r, func() { close(done) })
		await(t, done)
		err := r.Err
		if err == nil && r.Bytes == 0 {
			t.Fatal("unreadable records look absent")
		}
		r.Release()
		return err
	}
	if err := read(); !errors.Is(err, ErrStorage) {
		t.Fatalf("got %v, want %v", err, ErrStorage)
	}
	in.Remove()
	if err := read(); err != nil {
		t.Fatalf("when the device is well again: %v", err)
	}
	if p.LogStart() != 0 || p.HighWatermark() != 30 {
		t.Fatalf("offsets %d to %d", p.LogStart(), p.HighWatermark())
	}
}

// TestForeignDirectories: spate refuses what is not its own, and leaves it alone.
func TestForeignDirectories(t *testing.T) {
	open := func(dir disk.Dir) error {
		e, err := Open(Options{Dir: dir, Config: testConfig(t), Tuning: testTuning, Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			e.Close()
		}
		return err
	}
	mem := disk.NewMem(7)
	if err := disk.WriteFileAtomic(mem, "letter.txt", []byte("dear")); err != nil {
		t.Fatal(err)
	}
	if err := open(mem); err == nil {
		t.Fatal("opened somebody else's directory")
	}
	list, _ := mem.List("")
	for _, f := range list {
		if f.Name != "letter.txt" && f.Name != lockName {
			t.Fatalf("left %s behind", f.Name)
		}
	}
	newer := disk.NewMem(8)
	if err := disk.WriteFileAtomic(newer, metaName, []byte("spate data directory, format 99\n")); err != nil {
		t.Fatal(err)
	}
	if err := open(newer); err == nil {
		t.Fatal("opened a newer format")
	}
	locked := disk.NewMem(9)
	l, err := locked.Lock(lockName)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := open(locked); err == nil {
		t.Fatal("opened a locked directory")
	}
}
