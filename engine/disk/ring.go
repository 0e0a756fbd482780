package disk

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/spatemq/spate/iouring"
)

// Limits of the ring backend.
const (
	ringDepth   = 64   // requests of each ring that the kernel holds; more wait
	ringFiles   = 1024 // registered files; more go by descriptor
	ringBuffers = 64   // registered arenas; more go unregistered
	ringWorkers = 8    // kernel threads for each ring and submitting thread
	ringBatch   = 16   // ops of one Submit that share a system call
)

// ringDir does asynchronous I/O through two rings, one for writes and syncs and
// one for reads, so that the slots and kernel workers of one are never taken by
// the other. In a mixed directory there is no ring for writes, but the workers of
// psync. Everything else is as with psync.
type ringDir struct {
	*osDir
	rings  [2]*iouring.Ring // by ringOf; no write ring if mixed
	writes *pool            // nil unless mixed
	mu     sync.Mutex       // guards changes of arenas
	arenas atomic.Pointer[[]ringArena]
}

// Indexes of a directory's two rings.
const (
	writeRing = iota
	readRing
)

// ringOf is the ring that runs operations of kind.
func ringOf(kind OpKind) int {
	if kind == OpRead {
		return readRing
	}
	return writeRing
}

// ringFile is a file's places in the tables of the two rings.
type ringFile struct{ ids [2]iouring.FileID }

// ringSlot is the ring's part of an op in flight.
type ringSlot struct {
	dir *ringDir
	req iouring.Request
}

// ringArena is memory in the tables of the two rings.
type ringArena struct {
	start, end uintptr
	ids        [2]iouring.BufferID
}

// OpenRing opens the directory path, which it makes if it is not there, on
// io_uring. The error wraps iouring.ErrUnsupported, or tells what of a write, sync
// and read with it did not work, if the caller should use OpenPsync instead.
func OpenRing(path string) (Dir, error) { return asDir(openRing(path, ringOptions{})) }

// OpenMixed opens the directory path with reads on io_uring and with writes and
// syncs on blocking workers, as with psync. Errors are those of OpenRing.
func OpenMixed(path string) (Dir, error) { return asDir(openRing(path, ringOptions{mixed: true})) }

// asDir keeps a nil *ringDir from becoming a Dir that is not nil.
func asDir(d *ringDir, err error) (Dir, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

type ringOptions struct {
	mixed        bool
	blockingWait bool // see iouring.Config
}

func openRing(path string, opts ringOptions) (*ringDir, error) {
	base, err := openOSDir(path)
	if err != nil {
		return nil, err
	}
	d := &ringDir{osDir: base}
	d.arenas.Store(new([]ringArena))
	if opts.mixed {
		d.writes = newPool(psyncWriters, 0)
	}
	for i := range d.rings {
		if opts.mixed && i == writeRing {
			continue
		}
		d.rings[i], err = iouring.New(iouring.Config{
			Depth: ringDepth, MaxFiles: ringFiles, MaxBuffers: ringBuffers, MaxWorkers: ringWorkers,
			BlockingWait: opts.blockingWait,
		})
		if err != nil {
			d.Close()
			return nil, opError("open a ring for", path, "", err)
		}
	}
	base.onOpen, base.onClose = d.register, d.unregister
	if err := d.selfTest(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// selfTest writes, syncs and reads a block: what the kernel promises when asked
// may still be refused by a filesystem or a sandbox. A disk on which nothing
// can be written now is not the ring's fault.
func (d *ringDir) selfTest() error {
	const name = ".probe-ring"
	_ = d.Remove(name) // left by a crash
	f, err := d.Create(name, Direct)
	if errors.Is(err, ErrNoSpace) || errors.Is(err, ErrReadOnly) || errors.Is(err, ErrExist) {
		return nil // nothing can be written, or another process is testing
	}
	if err != nil {
		return err
	}
	defer d.Remove(name)
	defer f.Close()
	arena, err := d.Arena(2 * BlockSize)
	if err != nil {
		return err
	}
	defer arena.Free()
	out, in := arena.Buf[:BlockSize], arena.Buf[BlockSize:]
	copy(out, name)
	for _, op := range []*Op{{Kind: OpWriteSync, Buf: out}, {Kind: OpRead, Buf: in}} {
		done := make(chan struct{})
		op.File, op.Done = f, func(*Op) { close(done) }
		d.Submit(op)
		<-done
		if op.Err != nil && !errors.Is(op.Err, ErrNoSpace) {
			return op.Err
		}
		if op.Err != nil {
			return nil
		}
	}
	if !bytes.Equal(in, out) {
		return opError("self-test of the ring in", d.path, "", errors.New("read other data than was written"))
	}
	return nil
}

func (d *ringDir) Backend() string {
	if d.writes != nil {
		return "mixed"
	}
	return "io_uring"
}

// register enters a file into the rings' tables; without a place in them its ops
// go by descriptor.
func (d *ringDir) register(f *osFile) {
	for i, r := range d.rings {
		if r == nil {
			continue
		}
		if id, err := r.RegisterFile(f.fd); err == nil {
			f.ring.ids[i] = id
		}
	}
}

func (d *ringDir) unregister(f *osFile) {
	for i, r := range d.rings {
		if f.ring.ids[i] != 0 {
			// Should it fail, the ring keeps the file open and the place is lost.
			_ = r.UnregisterFile(f.ring.ids[i])
		}
	}
}

// Arena allocates memory and registers it with the rings where RLIMIT_MEMLOCK
// and the tables' size allow it.
func (d *ringDir) Arena(size int) (*Arena, error) {
	a, err := newArena(size)
	if err != nil {
		return nil, err
	}
	entry := ringArena{start: address(a.Buf)}
	entry.end = entry.start + uintptr(len(a.Buf))
	for i, r := range d.rings {
		if r == nil {
			continue
		}
		if id, err := r.RegisterBuffer(a.Buf); err == nil {
			entry.ids[i] = id
		}
	}
	d.changeArenas(func(all []ringArena) []ringArena { return append(all, entry) })
	unmap := a.free
	a.free = func() {
		d.changeArenas(func(all []ringArena) []ringArena {
			return slices.DeleteFunc(all, func(e ringArena) bool { return e.start == entry.start })
		})
		for i, r := range d.rings {
			if entry.ids[i] != 0 {
				_ = r.UnregisterBuffer(entry.ids[i]) // pinned until the ring closes, if it fails
			}
		}
		unmap()
	}
	return a, nil
}

func (d *ringDir) changeArenas(change func([]ringArena) []ringArena) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed := change(slices.Clone(*d.arenas.Load()))
	d.arenas.Store(&changed)
}

// bufferID is the registered buffer that buf lies in, 0 if there is none.
func (d *ringDir) bufferID(ring int, buf []byte) iouring.BufferID {
	start := address(buf)
	for _, a := range *d.arenas.Load() {
		if a.start <= start && start+uintptr(len(buf)) <= a.end {
			return a.ids[ring]
		}
	}
	return 0
}

func address(buf []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(buf))) }

// Submit starts operations. Those of one ring share system calls.
func (d *ringDir) Submit(ops ...*Op) {
	var batches [2][ringBatch]*iouring.Request
	var n [2]int
	for _, op := range ops {
		f := d.own(op)
		if d.writes != nil && op.Kind != OpRead {
			d.writes.submit(op, f)
			continue
		}
		f.check(op)
		op.Err = nil
		op.slot.file = f
		f.q.beginOp()
		if f.closed.Load() {
			finish(op, f.fail(opNames[op.Kind], ErrClosed))
			continue
		}
		i := ringOf(op.Kind)
		d.prepare(op, f, i)
		batches[i][n[i]] = &op.slot.ring.req
		if n[i]++; n[i] == ringBatch {
			d.rings[i].Submit(batches[i][:]...)
			n[i] = 0
		}
	}
	for i, r := range d.rings {
		if n[i] > 0 {
			r.Submit(batches[i][:n[i]]...)
		}
	}
}

// ringOps are the rings' names for operations.
var ringOps = [...]iouring.Op{OpRead: iouring.Read, OpWrite: iouring.Write, OpWriteSync: iouring.WriteSync, OpSync: iouring.Sync}

// prepare fills the op's request for ring i.
func (d *ringDir) prepare(op *Op, f *osFile, i int) {
	s := &op.slot.ring
	s.dir = d
	s.req = iouring.Request{
		Op: ringOps[op.Kind], Fd: f.fd, File: f.ring.ids[i], Buf: op.Buf, Off: op.Off,
		Done: ringDone, User: op,
	}
	if op.Kind != OpSync {
		s.req.Buffer = d.bufferID(i, op.Buf)
	}
	if op.Written != nil {
		s.req.Wrote = ringWrote
	}
}

func ringWrote(req *iouring.Request) {
	op := req.User.(*Op)
	op.Written(op)
}

// ringDone is called when a request of an op is done.
func ringDone(req *iouring.Request) {
	op := req.User.(*Op)
	f := op.slot.file.(*osFile)
	if req.Err == io.ErrUnexpectedEOF && req.N > 0 && !(f.direct && req.N%BlockSize != 0) {
		// Short, but perhaps not at the end of the file: that shows when the rest
		// is read.
		req.Buf, req.Off = req.Buf[req.N:], req.Off+int64(req.N)
		op.slot.ring.dir.rings[readRing].Submit(req)
		return
	}
	finish(op, f.ringError(op, req))
}

// ringError says what failed and where.
func (f *osFile) ringError(op *Op, req *iouring.Request) error {
	switch {
	case req.Err == nil:
		return nil
	case errors.Is(req.Err, iouring.ErrClosed):
		return f.fail(opNames[op.Kind], ErrClosed)
	case op.Kind == OpWriteSync && req.N == len(op.Buf):
		return f.fail("fdatasync", req.Err)
	}
	return f.fail(opNames[op.Kind], req.Err)
}

// Close waits for operations in flight and releases the rings.
func (d *ringDir) Close() error {
	for _, r := range d.rings {
		if r != nil {
			r.Close()
		}
	}
	if d.writes != nil {
		d.writes.close()
	}
	return nil
}
