package netpoll

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Reasons for which netpoll itself ends a connection.
var (
	errPeerClosed = errors.New("closed by the peer")
	errIdle       = errors.New("idle for too long")
	errStalled    = errors.New("peer takes no answers")
	errStopping   = errors.New("server is stopping")
	errPanic      = errors.New("internal error")
)

// wire is a connection's socket: plaintext on a loop, or TLS on goroutines.
type wire interface {
	// post runs fn on the connection's loop later; false if it has ended. Any goroutine.
	post(fn func()) bool
	// flushSoon has flush called on the loop. Any goroutine.
	flushSoon()
	// listen turns reading on or off. Loop only.
	listen(on bool)
	// shut closes the socket. Loop only, once.
	shut()
}

// conn is what plaintext and TLS connections have in common.
type conn struct {
	id       uint64
	srv      *Server
	lis      *listener
	local    net.Addr
	remote   net.Addr
	tlsState *tls.ConnectionState
	wire     wire
	session  Session
	replies  replies

	// Loop only:
	framer  framer
	paused  bool
	starved bool // waits for the budget
	pumping bool
	eof     bool
	ended   bool
	closing error // no more reading; ends when all answers are written
	closeBy time.Time

	active  atomic.Int64 // unix ns of the last byte in or out
	drained atomic.Int64 // unix ns when the socket last took a byte or had nothing to take
}

func (c *conn) ID() uint64                { return c.id }
func (c *conn) LocalAddr() net.Addr       { return c.local }
func (c *conn) RemoteAddr() net.Addr      { return c.remote }
func (c *conn) Listener() string          { return c.lis.Name }
func (c *conn) TLS() *tls.ConnectionState { return c.tlsState }
func (c *conn) Execute(fn func()) bool    { return c.wire.post(fn) }
func (c *conn) wantFlush()                { c.wire.flushSoon() }

// held tells that no further frame may be begun.
func (c *conn) held() bool {
	if c.paused || c.starved || c.ended || c.closing != nil {
		return true
	}
	r := &c.replies
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unsent > c.srv.opt.MaxUnsentBytes || len(r.places) > c.srv.opt.MaxReplies
}

func (c *conn) Pause() { c.paused = true }

func (c *conn) Resume() {
	if c.paused {
		c.paused = false
		c.pump()
	}
}

// granted is called when the budget has reserved memory for the next frame.
func (c *conn) granted() {
	size := c.framer.size
	if !c.wire.post(func() {
		if c.ended {
			c.srv.opt.Budget.give(int64(frameBytes(size)))
			return
		}
		c.starved = false
		if err := c.framer.begin(); err != nil {
			c.finish(err)
			return
		}
		c.pump()
	}) {
		c.srv.opt.Budget.give(int64(frameBytes(size)))
	}
}

// pump goes on with what was kept back and turns reading on again. A session
// that resumes from within Frame does not come here twice.
func (c *conn) pump() {
	if c.pumping || c.ended {
		return
	}
	c.pumping = true
	defer func() { c.pumping = false }()
	for len(c.framer.rest) > 0 && !c.held() {
		if err := c.framer.again(); err != nil {
			c.finish(err)
			return
		}
	}
	if !c.held() && len(c.framer.rest) == 0 {
		c.wire.listen(true)
	}
}

// guard runs a piece of the session's work; a panic ends this connection only.
func (c *conn) guard(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.stats.Panics.Add(1)
			c.pumping = false
			c.srv.opt.Logger.Error("session panicked; its connection is closed", "listener", c.lis.Name,
				"remote", c.remote, "panic", p, "stack", string(debug.Stack()))
			c.end(fmt.Errorf("%w: %v", errPanic, p))
		}
	}()
	fn()
}

// Free returns a frame's memory.
func (c *conn) Free(buf []byte) {
	n := int64(cap(buf))
	if cap(buf) > 1<<maxClassBits {
		n = int64(len(buf))
	}
	putFrame(buf)
	c.srv.opt.Budget.give(n)
}

// Close ends the connection once its answers have been written.
func (c *conn) Close(reason error) {
	c.wire.post(func() { c.finish(reason) })
}

// finish stops reading and ends the connection when every reserved place has
// been filled and written, at the latest after the linger timeout.
func (c *conn) finish(reason error) {
	if c.ended || c.closing != nil {
		return
	}
	if reason == nil {
		reason = errPeerClosed
	}
	c.closing = reason
	c.closeBy = time.Now().Add(c.srv.opt.LingerTimeout)
	c.wire.listen(false)
	c.wire.flushSoon()
}

// settle ends a closing or half-closed connection that owes nothing more.
func (c *conn) settle() {
	if !c.ended && (c.closing != nil || c.eof) && c.replies.open() == 0 {
		reason := c.closing
		if reason == nil {
			reason = errPeerClosed
		}
		c.end(reason)
	}
}

// end closes the connection now.
func (c *conn) end(reason error) {
	if c.ended {
		return
	}
	c.ended = true
	c.wire.shut()
	c.replies.kill()
	c.framer.drop()
	c.srv.forget(c)
	c.srv.opt.Logger.Debug("connection closed", "listener", c.lis.Name, "remote", c.remote, "reason", reason)
	defer func() {
		if p := recover(); p != nil {
			c.srv.stats.Panics.Add(1)
			c.srv.opt.Logger.Error("session panicked in Closed", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if c.session != nil {
		c.session.Closed()
	}
}

// tick applies the timeouts.
func (c *conn) tick(now time.Time) {
	ns := now.UnixNano()
	switch {
	case c.ended:
	case c.closing != nil && now.After(c.closeBy):
		c.end(c.closing)
	case c.Unsent() > 0 && ns-c.drained.Load() > int64(c.srv.opt.StallTimeout):
		c.end(errStalled)
	case c.replies.open() == 0 && ns-c.active.Load() > int64(c.srv.opt.IdleTimeout):
		c.end(errIdle)
	}
}
