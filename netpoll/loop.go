package netpoll

import (
	"errors"
	"fmt"
	"sync"
	"time"

	gerrors "github.com/panjf2000/gnet/v2/pkg/errors"
	gnetpoll "github.com/panjf2000/gnet/v2/pkg/netpoll"
	"golang.org/x/sys/unix"
)

const (
	readBytes = 64 << 10
	// readRounds bounds the reads for one event, so that a busy connection does
	// not keep the others of its loop waiting.
	readRounds = 8
	maxIovecs  = 256
	// drainRounds bounds what is done for others before the sockets have their
	// turn again.
	drainRounds = 8
)

// loop is one event loop: an epoll instance and the connections on it.
type loop struct {
	srv    *Server
	poller *gnetpoll.Poller
	buf    []byte
	iov    [][]byte
	conns  map[int]*tcpConn
	accept map[int]*listener

	mu    sync.Mutex
	busy  bool // the loop will look at dirty and tasks before it sleeps
	dirty []*tcpConn
	tasks []func()
	ended bool // takes no more tasks; the poller may be closed

	// An eventfd of our own that wakes the loop. The poller's Trigger would not
	// do: it runs all triggered tasks, and what they trigger, before it looks at
	// sockets again, and it allocates.
	wakeFD int

	// Loop only: the lists that were worked on last, to be used again.
	idleTasks []func()
	idleDirty []*tcpConn
}

func newLoop(srv *Server) (*loop, error) {
	p, err := gnetpoll.OpenPoller()
	if err != nil {
		return nil, err
	}
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	l := &loop{srv: srv, poller: p, wakeFD: fd, buf: make([]byte, readBytes), conns: map[int]*tcpConn{}, accept: map[int]*listener{}}
	// Edge-triggered, so that each write wakes and the counter need not be read.
	if err := p.AddRead(&gnetpoll.PollAttachment{FD: fd}, true); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *loop) close() {
	l.poller.Close()
	unix.Close(l.wakeFD)
}

func (l *loop) run() {
	err := l.poller.Polling(l.event)
	if err != nil && !errors.Is(err, gerrors.ErrEngineShutdown) {
		l.srv.opt.Logger.Error("event loop ended", "error", err)
	}
	for _, c := range l.conns { // only if the poller has failed
		c.end(errStopping)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.close()
}

// event handles one ready socket and then what others have asked for.
func (l *loop) event(fd int, ev gnetpoll.IOEvent, _ gnetpoll.IOFlags) error {
	l.mu.Lock()
	l.busy = true
	l.mu.Unlock()
	if lis := l.accept[fd]; lis != nil {
		l.srv.acceptAll(l, lis)
	} else if c := l.conns[fd]; c != nil {
		c.guard(func() { c.ready(uint32(ev)) })
	}
	return l.drain()
}

// drain runs tasks and flushes until there is nothing left. If there is always
// something left, the sockets have their turn in between.
func (l *loop) drain() error {
	for range drainRounds {
		l.mu.Lock()
		if len(l.tasks) == 0 && len(l.dirty) == 0 {
			l.busy = false
			ended := l.ended
			l.mu.Unlock()
			if ended {
				return gerrors.ErrEngineShutdown
			}
			return nil
		}
		tasks, dirty := l.tasks, l.dirty
		l.tasks, l.dirty = l.idleTasks[:0], l.idleDirty[:0]
		l.mu.Unlock()
		for i, f := range tasks {
			f()
			tasks[i] = nil
		}
		for i, c := range dirty {
			c.isDirty.Store(false)
			c.guard(c.flush)
			dirty[i] = nil
		}
		l.idleTasks, l.idleDirty = tasks, dirty
	}
	l.wake()
	return nil
}

// wake makes the poller call event soon. The loop is busy until then.
func (l *loop) wake() {
	one := [8]byte{0: 1}
	if _, err := unix.Write(l.wakeFD, one[:]); err == unix.EAGAIN {
		// The counter is full, after 2^64 wakes on this byte order: begin again.
		unix.Read(l.wakeFD, one[:])
		unix.Write(l.wakeFD, one[:])
	}
}

// post runs fn on the loop.
func (l *loop) post(fn func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.tasks = append(l.tasks, fn)
	l.wakeLocked()
	return true
}

// markDirty has a connection flushed on the loop.
func (l *loop) markDirty(c *tcpConn) {
	if c.isDirty.Swap(true) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.dirty = append(l.dirty, c)
		l.wakeLocked()
	}
}

// wakeLocked wakes the loop unless it is awake. The lock is kept, so that the
// poller is not closed meanwhile and its descriptor's number taken by a file.
func (l *loop) wakeLocked() {
	if !l.busy {
		l.busy = true
		l.wake()
	}
}

func (l *loop) stop() {
	l.post(func() {
		for _, c := range l.conns {
			c.end(errStopping)
		}
		l.mu.Lock()
		l.ended = true
		l.mu.Unlock()
	})
}

func (l *loop) tick(now time.Time) {
	l.post(func() {
		for _, c := range l.conns {
			if err := c.overdue(now); err != nil {
				c.end(err)
			}
		}
		for fd, lis := range l.accept {
			if lis.resting {
				lis.resting = false
				l.poller.AddRead(&gnetpoll.PollAttachment{FD: fd}, false)
			}
		}
	})
}

// add takes a new connection in.
func (l *loop) add(c *tcpConn) {
	l.conns[c.fd] = c
	if err := l.poller.AddRead(&gnetpoll.PollAttachment{FD: c.fd}, false); err != nil {
		c.end(err)
		return
	}
	c.events = unix.EPOLLIN
	c.guard(func() { c.session = c.lis.Session(&c.conn) })
}
