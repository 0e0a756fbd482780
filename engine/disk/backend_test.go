package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"
)

// deadline bounds every wait of these tests.
const deadline = 20 * time.Second

// testBackend runs the tests that every Dir must pass. open makes an empty Dir
// and is given a new place each time.
func testBackend(t *testing.T, open func(t *testing.T) Dir) {
	for _, tc := range []struct {
		name string
		run  func(*testing.T, Dir)
	}{
		{"Namespace", testNamespace},
		{"Directories", testDirectories},
		{"InvalidNames", testInvalidNames},
		{"SyncIO", testSyncIO},
		{"Truncate", testTruncate},
		{"Allocate", testAllocate},
		{"ReadOnly", testReadOnly},
		{"ClosedFile", testClosedFile},
		{"Lock", testLock},
		{"Usage", testUsage},
		{"WriteFileAtomic", testWriteFileAtomic},
		{"AsyncWriteSyncThenRead", testAsyncWriteSyncThenRead},
		{"AsyncReadPastEnd", testAsyncReadPastEnd},
		{"AsyncManyFiles", testAsyncManyFiles},
		{"AsyncSubmitFromDone", testAsyncSubmitFromDone},
		{"AsyncWriteFails", testAsyncWriteFails},
		{"CloseWithOpsInFlight", testCloseWithOpsInFlight},
		{"SubmitAfterClose", testSubmitAfterClose},
		{"Misaligned", testMisaligned},
		{"SubmitDoesNotAllocate", testSubmitDoesNotAllocate},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := open(t)
			tc.run(t, d)
			if err := d.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func TestMem(t *testing.T) {
	testBackend(t, func(*testing.T) Dir { return NewMem(1) })
}

func TestPsync(t *testing.T) {
	testBackend(t, func(t *testing.T) Dir { return must(OpenPsync(t.TempDir()))(t) })
}

// TestPsyncTmpfs runs on a filesystem in memory, where O_DIRECT may be refused.
func TestPsyncTmpfs(t *testing.T) {
	testBackend(t, func(t *testing.T) Dir { return must(OpenPsync(shmDir(t)))(t) })
}

func shmDir(t *testing.T) string {
	path, err := os.MkdirTemp("/dev/shm", "spate-disk-test")
	if err != nil {
		t.Skipf("no /dev/shm here: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(path) })
	return path
}

// must fails the test if a call did; its curried form takes a call's two results.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantIs(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want %v", err, target)
	}
}

// pattern fills buf so that each byte depends on seed and position.
func pattern(buf []byte, seed int) []byte {
	for i := range buf {
		buf[i] = byte(i*7 + i>>8 + seed*131)
	}
	return buf
}

// aligned gives a buffer for direct I/O that lives as long as the test.
func aligned(t testing.TB, d Dir, size int) []byte {
	a := must(d.Arena(size))(t)
	t.Cleanup(a.Free)
	return a.Buf
}

// run submits ops and waits for all of them.
func run(t testing.TB, d Dir, ops ...*Op) {
	t.Helper()
	done := make(chan *Op, len(ops))
	for _, op := range ops {
		op.Done = func(op *Op) { done <- op }
	}
	d.Submit(ops...)
	for range ops {
		wait(t, done)
	}
}

func wait[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(deadline):
		t.Fatal("nothing happened in time")
		panic("unreachable")
	}
}

func testNamespace(t *testing.T, d Dir) {
	_, err := d.Open("a", 0)
	wantIs(t, err, ErrNotExist)
	a := must(d.Create("a", 0))(t)
	_, err = d.Create("a", 0)
	wantIs(t, err, ErrExist)
	must(a.WriteAt([]byte("one"), 0))(t)
	check(t, a.Close())
	b := must(d.Create("b", Direct))(t)
	check(t, b.Close())
	check(t, d.Rename("a", "b"))
	check(t, d.SyncDir(""))
	entries := must(d.List(""))(t)
	if len(entries) != 1 || entries[0] != (Entry{Name: "b", Size: 3}) {
		t.Fatalf("after the rename: %v", entries)
	}
	if got := must(ReadFile(d, "b"))(t); string(got) != "one" {
		t.Fatalf("b holds %q", got)
	}
	wantIs(t, d.Rename("a", "c"), ErrNotExist)
	check(t, d.Remove("b"))
	wantIs(t, d.Remove("b"), ErrNotExist)
	if entries := must(d.List(""))(t); len(entries) != 0 {
		t.Fatalf("left over: %v", entries)
	}
}

func testDirectories(t *testing.T, d Dir) {
	_, err := d.Create("x/y/f", 0)
	wantIs(t, err, ErrNotExist)
	check(t, d.MkdirAll("x/y"))
	check(t, d.MkdirAll("x/y"))
	f := must(d.Create("x/y/f", 0))(t)
	check(t, f.Close())
	if f.Name() != "x/y/f" {
		t.Fatalf("name %q", f.Name())
	}
	check(t, d.SyncDir("x/y"))
	if e := must(d.List("x"))(t); len(e) != 1 || e[0] != (Entry{Name: "y", Dir: true}) {
		t.Fatalf("list x: %v", e)
	}
	if e := must(d.List("x/y"))(t); len(e) != 1 || e[0].Name != "f" {
		t.Fatalf("list x/y: %v", e)
	}
	_, err = d.List("nowhere")
	wantIs(t, err, ErrNotExist)
	wantIs(t, d.SyncDir("nowhere"), ErrNotExist)
}

func testInvalidNames(t *testing.T, d Dir) {
	for _, name := range []string{"", ".", "..", "/etc/passwd", "../up", "a/../../up", "a//b", "a/", "a\x00b"} {
		if f, err := d.Create(name, 0); err == nil {
			f.Close()
			t.Errorf("Create(%q) succeeded", name)
		}
		if f, err := d.Open(name, ReadOnly); err == nil {
			f.Close()
			t.Errorf("Open(%q) succeeded", name)
		}
		if err := d.Rename(name, "new"); err == nil {
			t.Errorf("Rename(%q, new) succeeded", name)
		}
	}
}

func testSyncIO(t *testing.T, d Dir) {
	f := must(d.Create("f", 0))(t)
	defer f.Close()
	data := pattern(make([]byte, 3*BlockSize+17), 1)
	must(f.WriteAt(data, 100))(t)
	check(t, f.Sync())
	if size := must(f.Size())(t); size != int64(len(data))+100 {
		t.Fatalf("size %d", size)
	}
	got := make([]byte, len(data)+200)
	n, err := f.ReadAt(got, 0)
	if n != len(data)+100 || err != io.EOF {
		t.Fatalf("read to the end: %d, %v", n, err)
	}
	if !bytes.Equal(got[:100], make([]byte, 100)) || !bytes.Equal(got[100:n], data) {
		t.Fatal("other bytes read than written")
	}
	if n, err := f.ReadAt(got, 1<<20); n != 0 || err != io.EOF {
		t.Fatalf("read behind the end: %d, %v", n, err)
	}
}

func testTruncate(t *testing.T, d Dir) {
	f := must(d.Create("f", 0))(t)
	defer f.Close()
	must(f.WriteAt(pattern(make([]byte, 2*BlockSize), 1), 0))(t)
	check(t, f.Truncate(10))
	check(t, f.Truncate(3*BlockSize))
	got := make([]byte, 3*BlockSize)
	must(f.ReadAt(got, 0))(t)
	want := append(pattern(make([]byte, 10), 1), make([]byte, 3*BlockSize-10)...)
	if !bytes.Equal(got, want) {
		t.Fatal("cut bytes came back")
	}
}

func testAllocate(t *testing.T, d Dir) {
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	check(t, f.Allocate(8*BlockSize))
	check(t, f.Allocate(2*BlockSize))
	if size := must(f.Size())(t); size != 8*BlockSize {
		t.Fatalf("size %d", size)
	}
	buf := aligned(t, d, 8*BlockSize)
	must(f.ReadAt(pattern(buf, 3), 0))(t)
	if !bytes.Equal(buf, make([]byte, len(buf))) {
		t.Fatal("allocated blocks are not zero")
	}
}

func testReadOnly(t *testing.T, d Dir) {
	f := must(d.Create("f", 0))(t)
	must(f.WriteAt([]byte("data"), 0))(t)
	check(t, f.Close())
	r := must(d.Open("f", ReadOnly))(t)
	defer r.Close()
	if _, err := r.WriteAt([]byte("x"), 0); err == nil {
		t.Fatal("wrote to a read-only file")
	}
	got := make([]byte, 4)
	if must(r.ReadAt(got, 0))(t); string(got) != "data" {
		t.Fatalf("read %q", got)
	}
}

func testClosedFile(t *testing.T, d Dir) {
	f := must(d.Create("f", 0))(t)
	check(t, f.Close())
	_, err := f.ReadAt(make([]byte, 1), 0)
	wantIs(t, err, ErrClosed)
	_, err = f.WriteAt(make([]byte, 1), 0)
	wantIs(t, err, ErrClosed)
	wantIs(t, f.Sync(), ErrClosed)
	wantIs(t, f.Close(), ErrClosed)
	op := &Op{Kind: OpSync, File: f}
	run(t, d, op)
	wantIs(t, op.Err, ErrClosed)
}

func testLock(t *testing.T, d Dir) {
	l := must(d.Lock("LOCK"))(t)
	_, err := d.Lock("LOCK")
	wantIs(t, err, ErrLocked)
	check(t, l.Close())
	l = must(d.Lock("LOCK"))(t)
	check(t, l.Close())
}

func testUsage(t *testing.T, d Dir) {
	if u := must(d.Usage())(t); u.Total == 0 || u.Free == 0 || u.Free > u.Total {
		t.Fatalf("usage %+v", u)
	}
}

func testWriteFileAtomic(t *testing.T, d Dir) {
	_, err := ReadFile(d, "conf")
	wantIs(t, err, ErrNotExist)
	for _, content := range []string{"first", "", "third, longer than the others"} {
		check(t, WriteFileAtomic(d, "conf", []byte(content)))
		if got := must(ReadFile(d, "conf"))(t); string(got) != content {
			t.Fatalf("read %q, want %q", got, content)
		}
	}
	// What a crash left behind is no obstacle.
	f := must(d.Create("conf.tmp", 0))(t)
	check(t, f.Close())
	check(t, WriteFileAtomic(d, "conf", []byte("fourth")))
	if e := must(d.List(""))(t); len(e) != 1 {
		t.Fatalf("left over: %v", e)
	}
}

func testAsyncWriteSyncThenRead(t *testing.T, d Dir) {
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	const n, size = 16, 2 * BlockSize
	out, in := aligned(t, d, n*size), aligned(t, d, n*size)
	pattern(out, 5)
	var mu sync.Mutex
	written := map[*Op]bool{}
	var ops []*Op
	for i := range n {
		ops = append(ops, &Op{Kind: OpWriteSync, File: f, Buf: out[i*size : (i+1)*size], Off: int64(i * size),
			Written: func(op *Op) {
				mu.Lock()
				defer mu.Unlock()
				written[op] = true
			}})
	}
	run(t, d, ops...)
	var reads []*Op
	for i, op := range ops {
		check(t, op.Err)
		if !written[op] {
			t.Errorf("op %d: Written was not called", i)
		}
		reads = append(reads, &Op{Kind: OpRead, File: f, Buf: in[i*size : (i+1)*size], Off: int64(i * size)})
	}
	run(t, d, append(reads, &Op{Kind: OpSync, File: f})...)
	for _, op := range reads {
		check(t, op.Err)
	}
	if !bytes.Equal(in, out) {
		t.Fatal("other bytes read than written")
	}
}

func testAsyncReadPastEnd(t *testing.T, d Dir) {
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	buf := aligned(t, d, 2*BlockSize)
	must(f.WriteAt(pattern(buf[:BlockSize], 1), 0))(t)
	want := bytes.Clone(buf[:BlockSize])
	clear(buf)
	op := &Op{Kind: OpRead, File: f, Buf: buf, Off: 0}
	run(t, d, op)
	wantIs(t, op.Err, io.ErrUnexpectedEOF)
	if !bytes.Equal(buf[:BlockSize], want) {
		t.Fatal("the part before the end was not read")
	}
	op = &Op{Kind: OpRead, File: f, Buf: buf, Off: 1 << 20}
	run(t, d, op)
	wantIs(t, op.Err, io.ErrUnexpectedEOF)
}

// testAsyncManyFiles finds data that lands in the wrong file, among others after
// file numbers and slots have been used again.
func testAsyncManyFiles(t *testing.T, d Dir) {
	const files = 8
	buf := aligned(t, d, files*BlockSize)
	for round := range 3 {
		var open []File
		var ops []*Op
		for i := range files {
			name := fmt.Sprintf("f%d-%d", round, i)
			f := must(d.Create(name, Direct))(t)
			open = append(open, f)
			block := pattern(buf[i*BlockSize:(i+1)*BlockSize], round*files+i)
			ops = append(ops, &Op{Kind: OpWriteSync, File: f, Buf: block})
		}
		run(t, d, ops...)
		for i, op := range ops {
			check(t, op.Err)
			got := must(ReadFile(d, open[i].Name()))(t)
			if !bytes.Equal(got, op.Buf) {
				t.Fatalf("%s holds another file's data", open[i].Name())
			}
		}
		for _, f := range open {
			check(t, f.Close())
		}
	}
}

func testAsyncSubmitFromDone(t *testing.T, d Dir) {
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	buf := aligned(t, d, BlockSize)
	left := 200
	finished := make(chan error, 1)
	op := &Op{Kind: OpWriteSync, File: f, Buf: buf}
	op.Done = func(op *Op) {
		left--
		if op.Err != nil || left == 0 {
			finished <- op.Err
			return
		}
		d.Submit(op)
	}
	d.Submit(op)
	check(t, wait(t, finished))
}

// testAsyncWriteFails: no sync after a write that failed, and the error names the
// file.
func testAsyncWriteFails(t *testing.T, d Dir) {
	f := must(d.Create("f", Direct))(t)
	check(t, f.Close())
	r := must(d.Open("f", Direct|ReadOnly))(t)
	defer r.Close()
	op := &Op{Kind: OpWriteSync, File: r, Buf: aligned(t, d, BlockSize), Written: func(*Op) {
		t.Error("Written called for a write that failed")
	}}
	run(t, d, op)
	var e *Error
	if !errors.As(op.Err, &e) || e.Op != "write" || e.Path != d.Path()+"/f" {
		t.Fatalf("error %v does not say what failed where", op.Err)
	}
}

func testCloseWithOpsInFlight(t *testing.T, d Dir) {
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	const n = 64
	buf := aligned(t, d, BlockSize)
	var done sync.WaitGroup
	done.Add(n)
	errs := make([]error, n)
	for i := range n {
		d.Submit(&Op{Kind: OpWriteSync, File: f, Buf: buf, Off: int64(i) * BlockSize, Done: func(op *Op) {
			errs[i] = op.Err
			done.Done()
		}})
	}
	check(t, d.Close())
	done.Wait() // Close waits, so this does not
	for _, err := range errs {
		if err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

func testSubmitAfterClose(t *testing.T, d Dir) {
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	check(t, d.Close())
	for _, kind := range []OpKind{OpRead, OpWrite, OpWriteSync, OpSync} {
		op := &Op{Kind: kind, File: f, Buf: aligned(t, d, BlockSize)}
		run(t, d, op)
		wantIs(t, op.Err, ErrClosed)
	}
}

func testMisaligned(t *testing.T, d Dir) {
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	buf := aligned(t, d, 2*BlockSize)
	for name, op := range map[string]*Op{
		"address": {Kind: OpWrite, Buf: buf[512 : 512+BlockSize]},
		"length":  {Kind: OpWrite, Buf: buf[:512]},
		"offset":  {Kind: OpRead, Buf: buf[:BlockSize], Off: 512},
	} {
		op.File, op.Done = f, func(*Op) { t.Errorf("%s: started", name) }
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("misaligned %s accepted", name)
				}
			}()
			d.Submit(op)
		}()
	}
}

func testSubmitDoesNotAllocate(t *testing.T, d Dir) {
	switch d.(type) {
	case *Mem, *Fault:
		return // each block in memory is an allocation; Fault is for tests
	}
	f := must(d.Create("f", Direct))(t)
	defer f.Close()
	done := make(chan error, 1)
	op := &Op{Kind: OpWriteSync, File: f, Buf: aligned(t, d, BlockSize), Done: func(op *Op) { done <- op.Err }}
	ops := []*Op{op}
	allocs := testing.AllocsPerRun(100, func() {
		d.Submit(ops...)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if allocs >= 1 {
		t.Errorf("%v allocations for each OpWriteSync", allocs)
	}
}
