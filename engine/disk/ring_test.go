package disk

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spatemq/spate/iouring"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newRingDir skips the test where the kernel has no ring for us.
func newRingDir(t *testing.T, path string, opts ringOptions) *ringDir {
	t.Helper()
	d, err := openRing(path, opts)
	if errors.Is(err, iouring.ErrUnsupported) {
		t.Skip(err)
	}
	return must(d, err)(t)
}

func TestRing(t *testing.T) {
	testBackend(t, func(t *testing.T) Dir { return newRingDir(t, t.TempDir(), ringOptions{}) })
}

func TestRingBlockingWait(t *testing.T) {
	testBackend(t, func(t *testing.T) Dir { return newRingDir(t, t.TempDir(), ringOptions{blockingWait: true}) })
}

func TestMixed(t *testing.T) {
	testBackend(t, func(t *testing.T) Dir { return newRingDir(t, t.TempDir(), ringOptions{mixed: true}) })
}

func TestRingTmpfs(t *testing.T) {
	testBackend(t, func(t *testing.T) Dir { return newRingDir(t, shmDir(t), ringOptions{}) })
}

// TestRingUsesRegistered: files and arenas are registered, in order, and given
// back; an op outside of any arena works too.
func TestRingUsesRegistered(t *testing.T) {
	d := newRingDir(t, t.TempDir(), ringOptions{})
	defer d.Close()
	var ids []iouring.FileID
	for range 3 {
		f := must(d.Create("f", Direct))(t).(*osFile)
		ids = append(ids, f.ring.ids[writeRing])
		check(t, f.Close())
		check(t, d.Remove("f"))
	}
	if ids[0] == 0 || ids[0] != ids[2] {
		t.Errorf("places of files opened one after the other: %v", ids)
	}
	a, b := must(d.Arena(2*BlockSize))(t), must(d.Arena(BlockSize))(t)
	bufA, bufB := a.Buf, b.Buf
	if d.bufferID(writeRing, bufA[BlockSize:]) == 0 || d.bufferID(readRing, bufB) == 0 {
		t.Error("arenas are not registered")
	}
	if d.bufferID(writeRing, bufA[BlockSize:]) == d.bufferID(writeRing, bufB) {
		t.Error("two arenas in one place")
	}
	a.Free()
	if d.bufferID(writeRing, bufA) != 0 || d.bufferID(writeRing, bufB) == 0 {
		t.Error("the wrong arena was freed")
	}
	b.Free()
	f := must(d.Create("g", 0))(t)
	defer f.Close()
	op := &Op{Kind: OpWriteSync, File: f, Buf: []byte("not in an arena, not aligned")}
	run(t, d, op)
	check(t, op.Err)
	if got := must(ReadFile(d, "g"))(t); !bytes.Equal(got, op.Buf) {
		t.Errorf("read %q", got)
	}
}

// TestRingTablesFull: more files and arenas than there are places still work.
func TestRingTablesFull(t *testing.T) {
	d := newRingDir(t, t.TempDir(), ringOptions{})
	defer d.Close()
	for range ringBuffers + 1 {
		aligned(t, d, BlockSize)
	}
	buf := aligned(t, d, BlockSize)
	if d.bufferID(writeRing, buf) != 0 {
		t.Fatal("more arenas registered than there are places")
	}
	for _, r := range d.rings {
		for {
			if _, err := r.RegisterFile(0); err != nil {
				break
			}
		}
	}
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	op := &Op{Kind: OpWriteSync, File: f, Buf: pattern(buf, 1)}
	run(t, d, op)
	check(t, op.Err)
	if got := must(ReadFile(d, "f"))(t); !bytes.Equal(got, buf) {
		t.Error("other data")
	}
}

// TestDeviceFull writes to a filesystem too small for it, with both backends.
func TestDeviceFull(t *testing.T) {
	path := shmDir(t)
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount a small filesystem: %v", err)
	}
	defer unix.Unmount(path, unix.MNT_DETACH)
	for _, backend := range []string{"psync", "io_uring"} {
		d, _, err := Open(path, Options{Backend: backend})
		if errors.Is(err, iouring.ErrUnsupported) {
			continue
		}
		check(t, err)
		f := must(d.Create(backend, Direct))(t)
		wantIs(t, f.Allocate(1<<20), ErrNoSpace)
		op := &Op{Kind: OpWriteSync, File: f, Buf: aligned(t, d, 1<<20)}
		run(t, d, op)
		if op.Err == nil || backend == "psync" && !errors.Is(op.Err, ErrNoSpace) {
			t.Errorf("%s: 1 MiB in a filesystem of 64 KiB: %v", backend, op.Err)
		}
		op = &Op{Kind: OpWriteSync, File: f, Buf: aligned(t, d, BlockSize), Off: 512 << 10}
		run(t, d, op)
		wantIs(t, op.Err, ErrNoSpace)
		check(t, f.Close())
		check(t, d.Remove(backend))
		check(t, d.Close())
	}
}

func TestOpen(t *testing.T) {
	path := t.TempDir() + "/new/dir"
	for _, backend := range []string{"", "auto", "mixed", "io_uring", "psync"} {
		d, reason, err := Open(path, Options{Backend: backend})
		if errors.Is(err, iouring.ErrUnsupported) {
			continue
		}
		check(t, err)
		if !strings.HasPrefix(reason, d.Backend()+": ") {
			t.Errorf("%q: backend %s, reason %q", backend, d.Backend(), reason)
		}
		if d.Path() != path {
			t.Errorf("path %s", d.Path())
		}
		check(t, WriteFileAtomic(d, "f", []byte("x")))
		check(t, d.Close())
	}
	if _, _, err := Open(path, Options{Backend: "aio"}); err == nil || !strings.Contains(err.Error(), "psync") {
		t.Errorf("unknown backend: %v", err)
	}
	entries, err := os.ReadDir(path)
	if check(t, err); len(entries) != 1 {
		t.Errorf("opening left files: %v", entries)
	}
	if _, _, err := Open(path+"/f", Options{}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file as directory: %v", err)
	}
}

// TestOpenWithoutRing: where io_uring is refused, auto goes on with psync and says
// why.
func TestOpenWithoutRing(t *testing.T) {
	path := t.TempDir()
	defer func(open func(string) (Dir, error)) { openRingForAuto = open }(openRingForAuto)
	openRingForAuto = func(string) (Dir, error) { return nil, iouring.ErrUnsupported }
	d, reason, err := Open(path, Options{})
	check(t, err)
	defer d.Close()
	if d.Backend() != "psync" || !strings.Contains(reason, iouring.ErrUnsupported.Error()) {
		t.Errorf("backend %s, reason %q", d.Backend(), reason)
	}
}
