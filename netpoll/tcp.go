package netpoll

import (
	"fmt"
	"sync/atomic"
	"time"

	gnetpoll "github.com/panjf2000/gnet/v2/pkg/netpoll"
	"golang.org/x/sys/unix"
)

// tcpConn is a plaintext connection on a loop.
type tcpConn struct {
	conn
	loop    *loop
	fd      int
	events  uint32 // what epoll watches: EPOLLIN, EPOLLOUT, both or 0
	reading bool   // reading is wanted
	blocked bool   // the socket's send buffer is full
	isDirty atomic.Bool
}

func (c *tcpConn) post(fn func()) bool {
	return !c.ended.Load() && c.loop.post(func() {
		if !c.ended.Load() {
			c.guard(fn)
		}
	})
}

func (c *tcpConn) flushSoon() { c.loop.markDirty(c) }

func (c *tcpConn) listen(on bool) {
	c.reading = on
	c.watch()
}

// watch makes epoll watch what is wanted. Reading that is not wanted stays
// watched until bytes come: most connections that wait for an answer send none.
func (c *tcpConn) watch() {
	if c.ended.Load() {
		return
	}
	var want uint32
	if c.reading && !c.eof {
		want |= unix.EPOLLIN
	}
	if c.blocked {
		want |= unix.EPOLLOUT
	}
	if want == c.events {
		return
	}
	pa := &gnetpoll.PollAttachment{FD: c.fd}
	p := c.loop.poller
	if c.events != 0 && !(want&unix.EPOLLIN != 0) {
		p.Delete(c.fd)
		c.events = 0
	}
	var err error
	switch {
	case want == 0:
	case want == unix.EPOLLOUT:
		err = p.AddWrite(pa, false)
	case want == unix.EPOLLIN && c.events == 0:
		err = p.AddRead(pa, false)
	case want == unix.EPOLLIN:
		err = p.ModRead(pa, false)
	case c.events == 0:
		err = p.AddReadWrite(pa, false)
	default:
		err = p.ModReadWrite(pa, false)
	}
	c.events = want
	if err != nil {
		c.end(fmt.Errorf("epoll: %w", err))
	}
}

// ready handles an epoll event.
func (c *tcpConn) ready(ev uint32) {
	if c.lingering {
		if c.discard() {
			c.end(c.closing)
		}
		return
	}
	if ev&unix.EPOLLOUT != 0 {
		c.blocked = false
		c.flush()
	}
	if !c.ended.Load() && ev&(unix.EPOLLIN|unix.EPOLLPRI|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		if c.held() || len(c.framer.rest) > 0 {
			if ev&(unix.EPOLLHUP|unix.EPOLLERR) != 0 {
				c.end(errPeerClosed)
				return
			}
			c.listen(false)
			return
		}
		c.read()
	}
}

// read takes what the socket has, frame by frame.
func (c *tcpConn) read() {
	c.pumping = true
	defer func() { c.pumping = false }()
	for range readRounds {
		dst := c.framer.direct()
		straight := dst != nil
		if !straight {
			dst = c.loop.buf[:c.framer.appetite(len(c.loop.buf))]
		}
		n, err := unix.Read(c.fd, dst)
		switch {
		case err == unix.EAGAIN:
			return
		case err == unix.EINTR:
			continue
		case err != nil:
			c.end(err)
			return
		case n == 0:
			c.peerDone()
			return
		}
		c.active.Store(time.Now().UnixNano())
		c.srv.stats.BytesIn.Add(uint64(n))
		if straight {
			err = c.framer.wrote(n)
		} else {
			err = c.framer.feed(dst[:n])
		}
		if err != nil {
			c.finish(err)
			return
		}
		if c.held() || n < len(dst) {
			return
		}
	}
}

// peerDone: the client sends no more, but may still want answers.
func (c *tcpConn) peerDone() {
	c.eof = true
	c.listen(false)
	c.settle()
}

// flush writes what is ready, in as few calls as possible.
func (c *tcpConn) flush() {
	for !c.ended.Load() && !c.blocked {
		l := c.loop
		l.iov = c.replies.take(l.iov[:0], maxIovecs)
		if len(l.iov) == 0 {
			c.wrote(0) // outputs without bytes are done too
			break
		}
		total := 0
		for _, b := range l.iov {
			total += len(b)
		}
		n, err := c.writev(l.iov)
		clear(l.iov)
		now := time.Now().UnixNano()
		if n > 0 {
			c.active.Store(now)
			c.drained.Store(now)
			c.srv.stats.BytesOut.Add(uint64(n))
			c.wrote(n)
		}
		if err != nil && err != unix.EAGAIN {
			c.end(err)
			return
		}
		if n < total {
			c.blocked = true
		}
	}
	if c.ended.Load() {
		return
	}
	c.watch()
	c.settle()
	if !c.ended.Load() {
		c.pump()
	}
}

func (c *tcpConn) writev(iov [][]byte) (int, error) {
	for {
		var n int
		var err error
		if len(iov) == 1 {
			n, err = unix.Write(c.fd, iov[0])
		} else {
			n, err = unix.Writev(c.fd, iov)
		}
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

func (c *tcpConn) linger() {
	unix.Shutdown(c.fd, unix.SHUT_WR)
	c.listen(true)
}

func (c *tcpConn) shut() {
	if c.events != 0 {
		c.loop.poller.Delete(c.fd)
		c.events = 0
	}
	delete(c.loop.conns, c.fd)
	if c.orderly {
		c.discard() // what has arrived would make the kernel reset the connection
	}
	unix.Close(c.fd)
	c.dropReplies()
	c.srv.forget()
}

// discard reads without use; true if the client is done.
func (c *tcpConn) discard() bool {
	for range readRounds {
		n, err := unix.Read(c.fd, c.loop.buf)
		switch {
		case err == unix.EAGAIN:
			return false
		case err == unix.EINTR:
		case n <= 0:
			return true
		}
	}
	return false
}
