package netpoll

import (
	"errors"
	"sync"
	"time"

	gerrors "github.com/panjf2000/gnet/v2/pkg/errors"
	gnetpoll "github.com/panjf2000/gnet/v2/pkg/netpoll"
	"github.com/panjf2000/gnet/v2/pkg/queue"
	"golang.org/x/sys/unix"
)

const (
	readBytes = 64 << 10
	// readRounds bounds the reads for one event, so that a busy connection does
	// not keep the others of its loop waiting.
	readRounds = 8
	maxIovecs  = 256
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

	// Loop only: the lists that were worked on last, to be used again, and drain
	// as a task.
	idleTasks []func()
	idleDirty []*tcpConn
	wake      queue.Func
}

func newLoop(srv *Server) (*loop, error) {
	p, err := gnetpoll.OpenPoller()
	if err != nil {
		return nil, err
	}
	l := &loop{srv: srv, poller: p, buf: make([]byte, readBytes), conns: map[int]*tcpConn{}, accept: map[int]*listener{}}
	l.wake = func(any) error { return l.drain() }
	return l, nil
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
	l.poller.Close()
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

// drain runs tasks and flushes until there is nothing left.
func (l *loop) drain() error {
	for {
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
		l.poller.Trigger(queue.HighPriority, l.wake, nil)
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
