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
	ended bool
}

func newLoop(srv *Server) (*loop, error) {
	p, err := gnetpoll.OpenPoller()
	if err != nil {
		return nil, err
	}
	return &loop{srv: srv, poller: p, buf: make([]byte, readBytes), conns: map[int]*tcpConn{}, accept: map[int]*listener{}}, nil
}

func (l *loop) run() {
	err := l.poller.Polling(l.event)
	if err != nil && !errors.Is(err, gerrors.ErrEngineShutdown) {
		l.srv.opt.Logger.Error("event loop ended", "error", err)
	}
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
	var tasks []func()
	var dirty []*tcpConn
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
		tasks, l.tasks = l.tasks, tasks[:0]
		dirty, l.dirty = l.dirty, dirty[:0]
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
	}
}

// post runs fn on the loop.
func (l *loop) post(fn func()) bool {
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
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
	l.dirty = append(l.dirty, c)
	l.wakeLocked()
}

// wakeLocked wakes the loop unless it is awake; it unlocks.
func (l *loop) wakeLocked() {
	wake := !l.busy
	l.busy = true
	l.mu.Unlock()
	if wake {
		l.poller.Trigger(queue.HighPriority, func(any) error { return l.drain() }, nil)
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
			c.guard(func() { c.tick(now) })
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
