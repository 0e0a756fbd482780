package disk

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// poolFile is a file whose operations a pool can run.
type poolFile interface {
	File
	// readFull fills buf; io.ErrUnexpectedEOF at the end of the file.
	readFull(buf []byte, off int64) error
	// writeFull writes all of buf.
	writeFull(buf []byte, off int64) error
	// queue is the file's place in the write queue.
	queue() *fileQueue
	// check panics unless the op may be submitted for this file.
	check(op *Op)
	// fail wraps an error with the operation and the file.
	fail(op string, err error) error
}

// opSlot is what a backend keeps in an op while it is in flight.
type opSlot struct {
	file poolFile
	ring ringSlot
}

// opList is a queue of ops linked through Op.next.
type opList struct{ head, tail *Op }

func (l *opList) push(op *Op) {
	op.next = nil
	if l.head == nil {
		l.head = op
	} else {
		l.tail.next = op
	}
	l.tail = op
}

func (l *opList) pop() *Op {
	op := l.head
	if op != nil {
		l.head, op.next = op.next, nil
	}
	return op
}

// fileQueue holds the writes and syncs waiting for one file. A worker takes the
// whole queue at once: the file's operations run in order, and one sync serves
// all the writes that waited together. Guarded by the pool's writes.mu but for
// inflight.
type fileQueue struct {
	ops       opList
	scheduled bool       // in the run list or held by a worker
	next      *fileQueue // in the run list
	inflight  atomic.Int32
}

// beginOp counts an operation in flight.
func (q *fileQueue) beginOp() { q.inflight.Add(1) }

// endOp is the counterpart of beginOp, before Done is called.
func (q *fileQueue) endOp() { q.inflight.Add(-1) }

// mustBeIdle panics if operations are in flight: their file is about to close.
func (q *fileQueue) mustBeIdle(path string) {
	if n := q.inflight.Load(); n != 0 {
		panic(fmt.Sprintf("BUG: disk: close of %s with %d operations in flight", path, n))
	}
}

// pool runs ops with blocking calls on a fixed number of goroutines; those for
// reads are apart from those for writes, so that neither waits for the other.
// Writes and syncs of one file run in the order of submission. Done is called
// on the worker itself, without a further hand-off; a Done that submits the next
// op finds the worker awake.
type pool struct {
	writes struct {
		mu         sync.Mutex
		wake       sync.Cond
		head, tail *fileQueue // run list: files with ops and no worker
		closed     bool
	}
	reads struct {
		mu     sync.Mutex
		wake   sync.Cond
		ops    opList
		closed bool
	}
	workers sync.WaitGroup
}

func newPool(writers, readers int) *pool {
	p := &pool{}
	p.writes.wake.L = &p.writes.mu
	p.reads.wake.L = &p.reads.mu
	p.workers.Add(writers + readers)
	for range writers {
		go p.runWrites()
	}
	for range readers {
		go p.runReads()
	}
	return p
}

// submit queues op and wakes a worker; if the pool is closed the op fails at once.
func (p *pool) submit(op *Op, f poolFile) {
	f.check(op)
	op.Err = nil
	op.slot.file = f
	f.queue().beginOp()
	var accepted bool
	if op.Kind == OpRead {
		accepted = p.submitRead(op)
	} else {
		accepted = p.submitWrite(op, f.queue())
	}
	if !accepted {
		finish(op, f.fail(opNames[op.Kind], ErrClosed))
	}
}

func (p *pool) submitRead(op *Op) bool {
	r := &p.reads
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.ops.push(op)
	r.wake.Signal()
	return true
}

func (p *pool) submitWrite(op *Op, q *fileQueue) bool {
	w := &p.writes
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	q.ops.push(op)
	if !q.scheduled {
		q.scheduled = true
		p.enqueue(q)
		w.wake.Signal()
	}
	return true
}

// enqueue appends q to the run list; writes.mu is held.
func (p *pool) enqueue(q *fileQueue) {
	w := &p.writes
	q.next = nil
	if w.head == nil {
		w.head = q
	} else {
		w.tail.next = q
	}
	w.tail = q
}

func (p *pool) runReads() {
	defer p.workers.Done()
	r := &p.reads
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		op := r.ops.pop()
		if op == nil {
			if r.closed {
				return
			}
			r.wake.Wait()
			continue
		}
		r.mu.Unlock()
		finish(op, op.slot.file.readFull(op.Buf, op.Off))
		r.mu.Lock()
	}
}

func (p *pool) runWrites() {
	defer p.workers.Done()
	w := &p.writes
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		q := w.head
		if q == nil {
			if w.closed {
				return
			}
			w.wake.Wait()
			continue
		}
		w.head = q.next
		batch := q.ops
		q.ops = opList{}
		w.mu.Unlock()
		runBatch(batch)
		w.mu.Lock()
		if q.ops.head != nil {
			p.enqueue(q)
		} else {
			q.scheduled = false
		}
	}
}

// runBatch runs the ops of one file in order. All data is written first and then
// synced once for all ops that ask for it; an op whose write failed is not among
// them.
func runBatch(batch opList) {
	var toSync opList
	for op := batch.pop(); op != nil; op = batch.pop() {
		if op.Kind != OpSync {
			if err := op.slot.file.writeFull(op.Buf, op.Off); err != nil || op.Kind == OpWrite {
				finish(op, err)
				continue
			}
			if op.Written != nil {
				op.Written(op)
			}
		}
		toSync.push(op)
	}
	if toSync.head == nil {
		return
	}
	err := toSync.head.slot.file.Sync()
	for op := toSync.pop(); op != nil; op = toSync.pop() {
		finish(op, err)
	}
}

// finish hands the op back to its submitter.
func finish(op *Op, err error) {
	q := op.slot.file.queue()
	op.slot.file = nil
	op.Err = err
	q.endOp()
	op.Done(op)
}

// close runs what is queued, then stops the workers. It must not be called from
// an op's Done.
func (p *pool) close() {
	p.writes.mu.Lock()
	p.writes.closed = true
	p.writes.wake.Broadcast()
	p.writes.mu.Unlock()
	p.reads.mu.Lock()
	p.reads.closed = true
	p.reads.wake.Broadcast()
	p.reads.mu.Unlock()
	p.workers.Wait()
}

// opNames are the names of operations in errors.
var opNames = [...]string{OpRead: "read", OpWrite: "write", OpWriteSync: "write", OpSync: "fdatasync"}

// checkOp panics if op is malformed. Every backend calls it before it takes op.
func checkOp(op *Op, path string, mode Mode) {
	switch {
	case op.Done == nil:
		panic("BUG: disk: op without Done on " + path)
	case op.Kind < OpRead || op.Kind > OpSync:
		panic(fmt.Sprintf("BUG: disk: op kind %d on %s", op.Kind, path))
	case op.Kind != OpSync && len(op.Buf) == 0:
		panic("BUG: disk: op without data on " + path)
	case op.Off < 0:
		panic(fmt.Sprintf("BUG: disk: op at offset %d on %s", op.Off, path))
	}
	if op.Kind != OpSync {
		checkAligned(path, mode, op.Buf, op.Off)
	}
}
