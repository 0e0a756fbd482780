package iouring

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	abi "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

func openFds(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

// TestEventfdCannotBeMade: New fails, at once and without leaving anything.
func TestEventfdCannotBeMade(t *testing.T) {
	newRing(t, Config{Depth: 1})
	before := openFds(t)
	defer func(f func() (int, error)) { newEventfd = f }(newEventfd)
	newEventfd = func() (int, error) { return -1, syscall.EMFILE }
	if _, err := New(Config{Depth: 4}); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("no eventfd: %v", err)
	}
	newEventfd = func() (int, error) { // cannot be registered
		return syscall.Open(t.TempDir(), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	}
	if _, err := New(Config{Depth: 4}); err == nil {
		t.Error("a directory was taken for an eventfd")
	}
	if after := openFds(t); after != before {
		t.Errorf("%d descriptors open, %d before", after, before)
	}
}

// TestEventfdLost: the ring goes on without it.
func TestEventfdLost(t *testing.T) {
	r := newRing(t, Config{Depth: 4})
	run(t, r, &Request{Op: Nop})
	r.waiter.event.Close()
	for range 10 {
		run(t, r, &Request{Op: Nop})
	}
}

// TestKernelHasNoMemoryForNow: EAGAIN and EBUSY are answered by trying again.
func TestKernelHasNoMemoryForNow(t *testing.T) {
	r := newRing(t, Config{Depth: 4})
	var calls atomic.Int32
	r.enter = func(fd int, n, minComplete, flags uint32) (int, error) {
		switch calls.Add(1) {
		case 1, 2:
			return 0, os.NewSyscallError("io_uring_enter", syscall.EAGAIN)
		case 3:
			return 0, os.NewSyscallError("io_uring_enter", syscall.EBUSY)
		case 4:
			return 0, nil // interrupted
		}
		return enter(fd, n, minComplete, flags)
	}
	reqs := []*Request{{Op: Nop}, {Op: Nop}, {Op: Nop}}
	run(t, r, reqs...)
	for _, q := range reqs {
		if q.Err != nil {
			t.Error(q.Err)
		}
	}
	if calls.Load() < 5 {
		t.Errorf("%d calls", calls.Load())
	}
}

// TestSplitLink: the kernel takes a write without its linked sync. The sync must
// not be done before the write is.
func TestSplitLink(t *testing.T) {
	r := newRing(t, Config{Depth: 4})
	var took atomic.Int32
	var ops [][]uint8 // what each call was offered
	r.enter = func(fd int, n, minComplete, flags uint32) (int, error) {
		var offered []uint8
		for pos := r.q.head(); pos != r.q.tail(); pos++ {
			offered = append(offered, r.q.sqes[pos&r.q.sqMask].Opcode())
		}
		ops = append(ops, offered)
		if took.Add(1) == 1 {
			n = 1
		}
		return enter(fd, n, minComplete, flags)
	}
	f := openFile(t, "f")
	wrote := 0
	q := &Request{Op: WriteSync, Fd: int(f.Fd()), Buf: mapped(t, blockSize), Wrote: func(*Request) { wrote++ }}
	run(t, r, q)
	if q.Err != nil || q.N != blockSize || wrote != 1 {
		t.Fatalf("error %v, %d bytes, Wrote called %d times", q.Err, q.N, wrote)
	}
	r.Close() // orders the test's look at ops behind the calls
	want := [][]uint8{{abi.IORING_OP_WRITE, abi.IORING_OP_FSYNC}, {abi.IORING_OP_NOP}, {abi.IORING_OP_FSYNC}}
	if len(ops) < 3 || string(ops[1]) != string(want[1]) || string(ops[2]) != string(want[2]) {
		t.Errorf("calls were offered %v, want %v", ops, want)
	}
}

// TestRingFails: what the kernel has not taken fails with the reason, what it has
// is completed, and Close still works.
func TestRingFails(t *testing.T) {
	bothWaits(t, Config{Depth: 4}, func(t *testing.T, r *Ring) {
		rd, wr, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer rd.Close()
		defer wr.Close()
		taken := &Request{Op: Read, Fd: int(rd.Fd()), Buf: make([]byte, 1)}
		wait := start(t, r, taken)
		r.enter = func(int, uint32, uint32, uint32) (int, error) {
			return 0, os.NewSyscallError("io_uring_enter", syscall.ENXIO)
		}
		var untaken []*Request
		for range 8 {
			untaken = append(untaken, &Request{Op: WriteSync, Fd: int(wr.Fd()), Buf: make([]byte, 1)})
		}
		run(t, r, untaken...)
		for _, q := range untaken {
			if !errors.Is(q.Err, syscall.ENXIO) {
				t.Errorf("error %v", q.Err)
			}
		}
		later := &Request{Op: Nop}
		run(t, r, later)
		if !errors.Is(later.Err, syscall.ENXIO) {
			t.Errorf("a later request: %v", later.Err)
		}
		if _, err := wr.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		wait()
		if taken.Err != nil || taken.Buf[0] != 'x' {
			t.Errorf("the one in the kernel: %v", taken.Err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestMalformedRequestsPanic(t *testing.T) {
	r := newRing(t, Config{Depth: 1})
	done := func(*Request) {}
	for name, q := range map[string]*Request{
		"no Done": {Op: Nop},
		"no data": {Op: Write, Done: done},
		"op":      {Op: 99, Done: done},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			r.Submit(q)
		}()
	}
}

func TestTransferResults(t *testing.T) {
	for _, tc := range []struct {
		op        Op
		data      int32
		sync      int32
		wantN     int
		wantError error
	}{
		{Write, 8, 0, 8, nil},
		{Write, 5, 0, 5, io.ErrShortWrite},
		{Write, 0, 0, 0, io.ErrShortWrite},
		{Read, 0, 0, 0, io.ErrUnexpectedEOF},
		{Read, -5, 0, 0, syscall.EIO},
		{WriteSync, 8, -5, 8, syscall.EIO},
		{WriteSync, 8, -28, 8, syscall.ENOSPC},
		{WriteSync, -28, -125, 0, syscall.ENOSPC},
		{WriteSync, 4, -125, 4, io.ErrShortWrite},
	} {
		q := &Request{Op: tc.op, Buf: make([]byte, 8)}
		q.transferred(tc.data)
		q.synced(tc.sync)
		if q.N != tc.wantN || q.Err != tc.wantError {
			t.Errorf("%+v: got %d, %v", tc, q.N, q.Err)
		}
	}
}

// TestMemlockLimit: a process that may not lock so much memory is told, and the
// ring works without the buffer.
func TestMemlockLimit(t *testing.T) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
		t.Fatal(err)
	}
	low := unix.Rlimit{Cur: 64 << 10, Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &low); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old)
	rings := make(chan *Ring, 1)
	failures := make(chan error, 1)
	go func() {
		// The ring is accounted as its maker's rights demand; this thread gives up
		// those of root and ends with the goroutine.
		runtime.LockOSThread()
		if err := dropMemlockRight(); err != nil {
			failures <- err
			return
		}
		r, err := New(Config{Depth: 4, MaxBuffers: 2})
		if err != nil {
			failures <- err
			return
		}
		rings <- r
	}()
	var r *Ring
	select {
	case err := <-failures:
		if errors.Is(err, ErrUnsupported) {
			t.Skip(err)
		}
		t.Fatal(err)
	case r = <-rings:
	}
	defer r.Close()
	buf := mapped(t, 1<<20)
	if _, err := r.RegisterBuffer(buf); !errors.Is(err, syscall.ENOMEM) {
		t.Fatalf("1 MiB registered with a limit of 64 KiB: %v", err)
	}
	if _, err := r.RegisterBuffer(mapped(t, blockSize)); err != nil {
		t.Errorf("within the limit: %v", err)
	}
	f := openFile(t, "f")
	q := &Request{Op: WriteSync, Fd: int(f.Fd()), Buf: buf}
	run(t, r, q)
	if q.Err != nil {
		t.Error(q.Err)
	}
}

// dropMemlockRight takes CAP_IPC_LOCK from the calling thread.
func dropMemlockRight() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective &^= 1 << unix.CAP_IPC_LOCK
	return unix.Capset(&header, &data[0])
}

// TestSubmittingThreadEnds: requests are done, if perhaps with an error, when the
// thread that submitted them ends. EFAULT comes from the kernel starting what is
// left without that thread's memory.
func TestSubmittingThreadEnds(t *testing.T) {
	bothWaits(t, Config{Depth: 32}, func(t *testing.T, r *Ring) {
		f := openFile(t, "f")
		buf := mapped(t, blockSize)
		waits := make(chan func(), 1)
		var reqs []*Request
		for i := range 64 {
			reqs = append(reqs, &Request{Op: WriteSync, Fd: int(f.Fd()), Buf: buf, Off: int64(i) * blockSize})
		}
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends here
			waits <- start(t, r, reqs...)
		}()
		(<-waits)()
		failed := 0
		for _, q := range reqs {
			if q.Err != nil {
				failed++
			}
			if q.Err != nil && q.Err != syscall.ECANCELED && q.Err != syscall.EFAULT {
				t.Error(q.Err)
			}
		}
		t.Logf("%d of %d requests failed", failed, len(reqs))
	})
}
