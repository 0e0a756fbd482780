package iouring

import (
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	abi "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// Config sets a ring's limits.
type Config struct {
	// Depth is how many requests the kernel may hold at a time, 1 to 4096, rounded
	// up to a power of two. Further ones wait in a list that needs no memory.
	Depth int
	// MaxFiles and MaxBuffers are the sizes of the tables of registered files and
	// buffers, 0 to 32768 and 0 to 16384. Where the kernel refuses a table, registering fails
	// and requests go without.
	MaxFiles, MaxBuffers int
	// MaxWorkers caps the kernel's worker threads, per submitting thread, that run what
	// cannot be started without blocking (every sync, some writes); 0 is the
	// kernel's default, which is 4 for each CPU or more.
	MaxWorkers int
	// BlockingWait makes the completion goroutine wait inside io_uring_enter
	// instead of on an eventfd in Go's netpoller; see the package comment.
	BlockingWait bool
}

// Ring is an io_uring that any goroutine may submit to. One goroutine of its own
// takes completions.
type Ring struct {
	fd      int
	q       *queues
	waiter  *waiter
	enter   func(fd int, toSubmit, minComplete, flags uint32) (int, error)
	files   table
	buffers table

	mu      sync.Mutex
	idle    sync.Cond   // what Close waits for may have happened
	slots   []slot      // requests in the queues or the kernel
	free    []uint32    // indexes of unused slots
	pending requestList // requests waiting for a slot
	// outstanding counts the requests in slots and pending.
	outstanding int
	entering    bool  // a goroutine is submitting and will submit what comes now
	retrying    bool  // a timer will submit what the kernel refused for now
	closed      bool  // no new requests
	failed      error // the kernel refused to submit: nothing is submitted any more

	stopped chan struct{} // closed when the completion goroutine has ended
	closing sync.Once
}

// slot holds a request while entries of it are with the kernel. Its index is in
// the entries' user data; the kernel never sees a pointer of ours but Buf's.
type slot struct {
	req  *Request
	end  uint32 // position behind its last submission entry
	left uint8  // completions to come
	// split: the kernel took the write without the linked sync.
	split bool
}

// New makes a ring. ErrUnsupported if the kernel has none to give, in which case
// the caller does without.
func New(cfg Config) (*Ring, error) {
	if cfg.Depth < 1 || cfg.Depth > 4096 {
		panic(fmt.Sprintf("BUG: iouring: depth %d", cfg.Depth))
	}
	r := &Ring{enter: enter, stopped: make(chan struct{})}
	r.idle.L = &r.mu
	if err := r.setup(cfg); err != nil {
		return nil, err
	}
	if err := r.prepare(cfg); err != nil {
		r.q.unmap()
		unix.Close(r.fd)
		return nil, err
	}
	go r.complete()
	return r, nil
}

// setup makes the kernel's ring and maps it. Two entries for each request, a write
// and its sync, so that a slot always finds its entries; and the kernel makes
// the completion queue twice that long, so that it never overflows.
func (r *Ring) setup(cfg Config) error {
	flags := abi.IORING_SETUP_CLAMP | abi.IORING_SETUP_SUBMIT_ALL
	p := abi.IOURingParams{Flags: flags}
	fd, err := abi.IOURingSetup(uint(2*cfg.Depth), &p)
	if errnoOf(err) == syscall.EINVAL {
		// No SUBMIT_ALL: the kernel then stops at an entry that it refuses, and the
		// next call goes on behind it.
		p = abi.IOURingParams{Flags: abi.IORING_SETUP_CLAMP}
		fd, err = abi.IOURingSetup(uint(2*cfg.Depth), &p)
	}
	if err != nil {
		if unsupported(err) {
			return fmt.Errorf("%w: %w", ErrUnsupported, err)
		}
		return fmt.Errorf("set up a ring for %d requests: %w", cfg.Depth, err)
	}
	unix.CloseOnExec(fd)
	if r.q, err = mapQueues(fd, &p); err != nil {
		unix.Close(fd)
		return err
	}
	r.fd = fd
	r.slots = make([]slot, len(r.q.sqes)/2)
	for i := range r.slots {
		r.free = append(r.free, uint32(len(r.slots)-1-i))
	}
	return nil
}

// prepare checks what the kernel can do and sets up waiting and the tables.
func (r *Ring) prepare(cfg Config) (err error) {
	if err := probeOpcodes(r.fd); err != nil {
		return err
	}
	if r.waiter, err = newWaiter(r, cfg.BlockingWait); err != nil {
		return err
	}
	r.registerTables(cfg)
	if cfg.MaxWorkers > 0 {
		// Bounded and unbounded workers. Kernels without it use their default.
		limits := [2]uint32{uint32(cfg.MaxWorkers), uint32(cfg.MaxWorkers)}
		_ = abi.IOURingRegister(r.fd, registerIOWQWorkers, unsafe.Pointer(&limits), 2)
	}
	return nil
}

// probeOpcodes asks the kernel for the operations that requests are made of.
func probeOpcodes(fd int) error {
	var p probe
	if err := abi.IOURingRegister(fd, abi.IORING_REGISTER_PROBE, unsafe.Pointer(&p), probeOps); err != nil {
		return fmt.Errorf("%w: probe: %w", ErrUnsupported, err)
	}
	for _, op := range []uint8{abi.IORING_OP_NOP, abi.IORING_OP_READ, abi.IORING_OP_WRITE, abi.IORING_OP_FSYNC,
		abi.IORING_OP_READ_FIXED, abi.IORING_OP_WRITE_FIXED} {
		if op >= p.opsLen || p.ops[op].flags&probeOpSupported == 0 {
			return fmt.Errorf("%w: the kernel lacks operation %d", ErrUnsupported, op)
		}
	}
	return nil
}

// Depth is the number of requests that the kernel may hold at a time.
func (r *Ring) Depth() int { return len(r.slots) }

// Close refuses new requests, waits for all others and releases the ring. It must
// not be called from a Done.
func (r *Ring) Close() error {
	r.mu.Lock()
	r.closed = true
	// A submitter may still look at the queues when its requests are done.
	for r.outstanding > 0 || r.entering || r.retrying {
		r.idle.Wait()
	}
	r.mu.Unlock()
	r.closing.Do(func() {
		r.waiter.stop()
		<-r.stopped
		r.waiter.release()
		r.q.unmap()
		unix.Close(r.fd)
	})
	return nil
}
