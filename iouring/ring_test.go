package iouring

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	deadline  = 20 * time.Second
	blockSize = 4096
)

// newRing makes a ring that is closed at the end of the test. Where the kernel has
// none, there is nothing to test.
func newRing(t testing.TB, cfg Config) *Ring {
	t.Helper()
	r, err := New(cfg)
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// bothWaits runs a test with each way of waiting.
func bothWaits(t *testing.T, cfg Config, test func(t *testing.T, r *Ring)) {
	for name, blocking := range map[string]bool{"eventfd": false, "blocking": true} {
		t.Run(name, func(t *testing.T) {
			cfg.BlockingWait = blocking
			test(t, newRing(t, cfg))
		})
	}
}

func openFile(t testing.TB, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), name), os.O_RDWR|os.O_CREATE|unix.O_DIRECT, 0o600)
	if errors.Is(err, syscall.EINVAL) {
		f, err = os.OpenFile(filepath.Join(t.TempDir(), name), os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// mapped gives memory outside of Go's heap.
func mapped(t testing.TB, size int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return mem
}

// start submits reqs and returns a function that waits until all are done.
func start(t testing.TB, r *Ring, reqs ...*Request) (wait func()) {
	done := make(chan *Request, len(reqs))
	for _, q := range reqs {
		q.Done = func(q *Request) { done <- q }
	}
	r.Submit(reqs...)
	return func() {
		t.Helper()
		for range reqs {
			select {
			case <-done:
			case <-time.After(deadline):
				t.Fatal("a request was not done in time")
			}
		}
	}
}

func run(t testing.TB, r *Ring, reqs ...*Request) {
	t.Helper()
	start(t, r, reqs...)()
}

func fill(buf []byte, b byte) []byte {
	for i := range buf {
		buf[i] = b
	}
	return buf
}

func TestWriteSyncAndRead(t *testing.T) {
	bothWaits(t, Config{Depth: 8, MaxFiles: 4, MaxBuffers: 4}, func(t *testing.T, r *Ring) {
		f := openFile(t, "f")
		buf := mapped(t, 4*blockSize)
		file, err := r.RegisterFile(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		buffer, err := r.RegisterBuffer(buf)
		if err != nil {
			t.Fatal(err)
		}
		for i, how := range []Request{
			{Fd: int(f.Fd())},
			{File: file},
			{Fd: int(f.Fd()), Buffer: buffer},
			{File: file, Buffer: buffer},
		} {
			wrote := 0
			w := how
			w.Op, w.Buf, w.Off = WriteSync, fill(buf[:2*blockSize], byte(i+1)), int64(i)*blockSize
			w.Wrote = func(*Request) { wrote++ }
			run(t, r, &w)
			if w.Err != nil || w.N != 2*blockSize || wrote != 1 {
				t.Fatalf("write %d: %v, %d bytes, Wrote called %d times", i, w.Err, w.N, wrote)
			}
			rd := how
			rd.Op, rd.Buf, rd.Off = Read, buf[2*blockSize:], int64(i)*blockSize
			run(t, r, &rd, &Request{Op: Sync, Fd: int(f.Fd())}, &Request{Op: Nop})
			if rd.Err != nil || !bytes.Equal(rd.Buf, w.Buf) {
				t.Fatalf("read %d: %v", i, rd.Err)
			}
		}
		end := Request{Op: Read, File: file, Buf: buf, Off: 4 * blockSize}
		run(t, r, &end)
		if end.Err != io.ErrUnexpectedEOF || end.N != blockSize {
			t.Fatalf("read over the end: %v, %d bytes", end.Err, end.N)
		}
		if err := r.UnregisterFile(file); err != nil {
			t.Fatal(err)
		}
		if err := r.UnregisterBuffer(buffer); err != nil {
			t.Fatal(err)
		}
	})
}

// lastResults are the results of the newest n completions.
func lastResults(r *Ring, n uint32) (res []int32) {
	for pos := *r.q.cqHead - n; pos != *r.q.cqHead; pos++ {
		res = append(res, r.q.cqes[pos&r.q.cqMask].Result())
	}
	return res
}

// TestFailedWriteCancelsSync: the link is a soft one.
func TestFailedWriteCancelsSync(t *testing.T) {
	r := newRing(t, Config{Depth: 4})
	name := openFile(t, "f").Name()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	q := &Request{Op: WriteSync, Fd: int(f.Fd()), Buf: mapped(t, blockSize), Wrote: func(*Request) { t.Error("Wrote called") }}
	run(t, r, q)
	if q.Err != syscall.EBADF {
		t.Errorf("error %v", q.Err)
	}
	if res := lastResults(r, 2); res[0] != -int32(syscall.EBADF) || res[1] != -int32(syscall.ECANCELED) {
		t.Errorf("results %v: the sync was not cancelled", res)
	}
	run(t, r, &Request{Op: Nop}) // nothing is left over from the link
	if r.outstandingNow() != 0 {
		t.Error("requests left")
	}
}

func (r *Ring) outstandingNow() int {
	// Done is called before a request is counted off.
	for range 1000 {
		r.mu.Lock()
		n := r.outstanding
		r.mu.Unlock()
		if n == 0 {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
	return -1
}

// TestShortWriteCancelsSync: a pipe takes a part of what is written.
func TestShortWriteCancelsSync(t *testing.T) {
	r := newRing(t, Config{Depth: 4})
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	q := &Request{Op: WriteSync, Fd: pipe[1], Buf: mapped(t, 1<<20)}
	run(t, r, q)
	if q.Err != io.ErrShortWrite || q.N <= 0 || q.N >= 1<<20 {
		t.Errorf("error %v, %d bytes", q.Err, q.N)
	}
	if res := lastResults(r, 2); res[1] != -int32(syscall.ECANCELED) {
		t.Errorf("results %v: the sync was not cancelled", res)
	}
}

// TestRegisteredFilesAreNotMixedUp: the second file, and one whose descriptor was
// closed and given to another, each get their own data.
func TestRegisteredFilesAreNotMixedUp(t *testing.T) {
	r := newRing(t, Config{Depth: 4, MaxFiles: 3})
	a, b := openFile(t, "a"), openFile(t, "b")
	ids := map[*os.File]FileID{}
	for _, f := range []*os.File{a, b} {
		id, err := r.RegisterFile(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		ids[f] = id
	}
	buf := mapped(t, 3*blockSize)
	run(t, r,
		&Request{Op: WriteSync, File: ids[b], Buf: fill(buf[:blockSize], 'b')},
		&Request{Op: WriteSync, File: ids[a], Buf: fill(buf[blockSize:2*blockSize], 'a')})
	nameA, fdA := a.Name(), int(a.Fd())
	a.Close()
	c := openFile(t, "c")
	if int(c.Fd()) != fdA {
		t.Fatalf("descriptor %d was not used again", fdA)
	}
	idC, err := r.RegisterFile(int(c.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	run(t, r, &Request{Op: WriteSync, File: idC, Buf: fill(buf[2*blockSize:], 'c')})
	for name, want := range map[string]byte{nameA: 'a', b.Name(): 'b', c.Name(): 'c'} {
		got, err := os.ReadFile(name)
		if err != nil || len(got) != blockSize || got[0] != want {
			t.Errorf("%s holds %d bytes, %.1q (%v)", name, len(got), got, err)
		}
	}
	if _, err := r.RegisterFile(int(c.Fd())); !errors.Is(err, ErrTableFull) {
		t.Errorf("fourth file of three: %v", err)
	}
	if err := r.UnregisterFile(ids[b]); err != nil {
		t.Fatal(err)
	}
	if id, err := r.RegisterFile(int(c.Fd())); err != nil || id != ids[b] {
		t.Errorf("the free place was not used: %d, %v", id, err)
	}
}

func TestRegisterBufferErrors(t *testing.T) {
	r := newRing(t, Config{Depth: 4, MaxBuffers: 1})
	gone, err := unix.Mmap(-1, 0, blockSize, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(gone)
	if _, err := r.RegisterBuffer(gone); !errors.Is(err, syscall.EFAULT) {
		t.Errorf("memory without access: %v", err)
	}
	if _, err := r.RegisterBuffer(mapped(t, blockSize)); err != nil {
		t.Errorf("the failure took the place: %v", err)
	}
	if _, err := r.RegisterBuffer(mapped(t, blockSize)); !errors.Is(err, ErrTableFull) {
		t.Errorf("second buffer of one: %v", err)
	}
	none := newRing(t, Config{Depth: 4})
	if _, err := none.RegisterBuffer(mapped(t, blockSize)); !errors.Is(err, ErrTableFull) {
		t.Errorf("no table: %v", err)
	}
}

// TestMoreThanTheRingHolds: further requests wait and are started in order.
func TestMoreThanTheRingHolds(t *testing.T) {
	bothWaits(t, Config{Depth: 2}, func(t *testing.T, r *Ring) {
		f := openFile(t, "f")
		buf := mapped(t, blockSize)
		var reqs []*Request
		for i := range 200 {
			reqs = append(reqs, &Request{Op: WriteSync, Fd: int(f.Fd()), Buf: buf, Off: int64(i) * blockSize})
		}
		run(t, r, reqs...)
		for i, q := range reqs {
			if q.Err != nil {
				t.Fatalf("request %d: %v", i, q.Err)
			}
		}
		if st, err := f.Stat(); err != nil || st.Size() != 200*blockSize {
			t.Errorf("size %d, %v", st.Size(), err)
		}
	})
}

// TestFullRingDoesNotBlockSubmit fills the ring with reads of an empty pipe.
func TestFullRingDoesNotBlockSubmit(t *testing.T) {
	r := newRing(t, Config{Depth: 2})
	rd, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	defer wr.Close()
	var reqs []*Request
	for range 10 {
		reqs = append(reqs, &Request{Op: Read, Fd: int(rd.Fd()), Buf: make([]byte, 1)})
	}
	wait := start(t, r, reqs...) // returns, or the test runs into its time limit
	if _, err := wr.Write(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	wait()
	for _, q := range reqs {
		if q.Err != nil {
			t.Error(q.Err)
		}
	}
}

func TestCloseWaits(t *testing.T) {
	bothWaits(t, Config{Depth: 1}, func(t *testing.T, r *Ring) {
		rd, wr, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer rd.Close()
		defer wr.Close()
		inKernel := &Request{Op: Read, Fd: int(rd.Fd()), Buf: make([]byte, 1)}
		waiting := &Request{Op: Read, Fd: int(rd.Fd()), Buf: make([]byte, 1)}
		wait := start(t, r, inKernel, waiting)
		closed := make(chan struct{})
		go func() {
			r.Close()
			close(closed)
		}()
		for begun := false; !begun; runtime.Gosched() {
			r.mu.Lock()
			begun = r.closed
			r.mu.Unlock()
		}
		refused := &Request{Op: Nop}
		run(t, r, refused)
		if refused.Err != ErrClosed {
			t.Errorf("request during Close: %v", refused.Err)
		}
		select {
		case <-closed:
			t.Fatal("closed with requests in flight")
		default:
		}
		if _, err := wr.Write([]byte("ab")); err != nil {
			t.Fatal(err)
		}
		wait()
		select {
		case <-closed:
		case <-time.After(deadline):
			t.Fatal("Close did not return")
		}
		if inKernel.Err != nil || waiting.Err != nil {
			t.Error(inKernel.Err, waiting.Err)
		}
		r.Close() // again
	})
}

// TestConcurrentSubmitters also closes the ring under them.
func TestConcurrentSubmitters(t *testing.T) {
	bothWaits(t, Config{Depth: 4}, func(t *testing.T, r *Ring) {
		f := openFile(t, "f")
		buf := mapped(t, blockSize)
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for i := range 200 {
					q := &Request{Op: Write, Fd: int(f.Fd()), Buf: buf, Off: int64(g) * blockSize}
					if i%8 == 0 {
						q.Op = WriteSync
					}
					run(t, r, q)
					if q.Err == ErrClosed && i > 100 {
						return
					}
					if q.Err != nil {
						t.Error(q.Err)
					}
					if g == 0 && i == 150 {
						all.Go(func() { r.Close() })
					}
				}
			})
		}
		all.Wait()
	})
}

func TestSubmitDoesNotAllocate(t *testing.T) {
	bothWaits(t, Config{Depth: 4}, func(t *testing.T, r *Ring) {
		f := openFile(t, "f")
		done := make(chan error, 1)
		reqs := []*Request{{Op: WriteSync, Fd: int(f.Fd()), Buf: mapped(t, blockSize), Done: func(q *Request) { done <- q.Err }}}
		allocs := testing.AllocsPerRun(100, func() {
			r.Submit(reqs...)
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		if allocs >= 1 {
			t.Errorf("%v allocations for each request", allocs)
		}
	})
}
