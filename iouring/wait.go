package iouring

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	abi "github.com/iceber/iouring-go/syscall"
	"golang.org/x/sys/unix"
)

// waiter is how the completion goroutine waits for completions: on an eventfd in
// Go's netpoller, where it holds no thread, or inside io_uring_enter.
type waiter struct {
	r        *Ring
	event    *os.File    // nil if it only ever blocks
	blocking atomic.Bool // set when the eventfd is not to be used (any more)
	stopping atomic.Bool
	counter  [8]byte
}

// pollInterval is how often completions are looked for if neither way of waiting
// works, which no kernel is known to do.
const pollInterval = time.Millisecond

// newEventfd is a variable for the test that makes it fail.
var newEventfd = func() (int, error) { return unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK) }

func newWaiter(r *Ring, blocking bool) (*waiter, error) {
	w := &waiter{r: r}
	w.blocking.Store(blocking)
	if blocking {
		return w, nil
	}
	fd, err := newEventfd()
	if err != nil {
		return nil, fmt.Errorf("make the ring's eventfd: %w", sysError("eventfd2", err))
	}
	kernelFd := int32(fd)
	if err := abi.IOURingRegister(r.fd, abi.IORING_REGISTER_EVENTFD, unsafe.Pointer(&kernelFd), 1); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("register the ring's eventfd: %w", err)
	}
	w.event = os.NewFile(uintptr(fd), "ring eventfd")
	return w, nil
}

// wait returns when there may be completions; false means that the ring is closing
// and there are none.
func (w *waiter) wait() bool {
	if w.stopping.Load() {
		return false
	}
	if !w.blocking.Load() {
		if _, err := w.event.Read(w.counter[:]); err == nil {
			return !w.stopping.Load()
		}
		// The eventfd is lost. What it would have told now is found in the queue.
		w.blocking.Store(true)
		return true
	}
	if _, err := enter(w.r.fd, 0, 1, abi.IORING_ENTER_FLAGS_GETEVENTS); err != nil {
		time.Sleep(pollInterval)
	}
	return !w.stopping.Load()
}

// stop ends wait. Nothing is in flight, so the submission queue holds nothing or,
// on a failed ring, only entries that do nothing: one more wakes a blocking
// wait. A kernel that refuses it also on a failed ring leaves the eventfd.
func (w *waiter) stop() {
	w.stopping.Store(true)
	if w.event != nil {
		_, _ = w.event.Write([]byte{0: 1, 7: 0})
	}
	r := w.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.q.room() > 0 {
		tail := r.q.tail()
		prepStop(r.q.entry(tail))
		r.q.publish(tail + 1)
	}
	for r.q.head() != r.q.tail() {
		if _, err := enter(r.fd, r.q.tail()-r.q.head(), 0, 0); err != nil {
			return
		}
	}
}

// release frees the eventfd when nobody waits any more.
func (w *waiter) release() error {
	if w.event == nil {
		return nil
	}
	if err := w.event.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
