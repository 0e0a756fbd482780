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
	errHalf       = errors.New("peer has stopped in the middle of a frame")
	errSlow       = errors.New("peer sends a frame too slowly while memory is short")
	errStalled    = errors.New("peer takes no answers")
	errStopping   = errors.New("server is stopping")
	errLinger     = errors.New("answers were not taken in time after the connection was to be closed")
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
	// linger tells the client that no more comes, reads without use until the
	// client is done too, and ends the connection. Loop only, once.
	linger()
	// shut closes the socket, releases the replies and has the server forget the
	// connection, now or soon. Loop only, once.
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
	framer    framer
	paused    bool
	starved   bool // waits for the budget
	pumping   bool
	eof       bool
	closing   error // no more reading; ends when all answers are written
	lingering bool  // all is written; what still comes is read without use
	orderly   bool  // ends with nothing owed

	ended   atomic.Bool  // set on the loop
	closeBy atomic.Int64 // unix ns when closing has taken too long; 0 for no limit
	frameBy atomic.Int64 // unix ns when the frame that has begun has taken too long if memory is short; 0 if none has
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
	if c.paused || c.starved || c.ended.Load() || c.closing != nil {
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

// granted is called, on any goroutine, when the budget has reserved memory for
// the next frame. If the connection ends first, framer.drop returns it.
func (c *conn) granted() { c.wire.post(c.startFrame) }

func (c *conn) startFrame() {
	if !c.starved {
		return
	}
	c.starved = false
	c.srv.opt.Budget.accept(&c.framer.claim)
	c.active.Store(time.Now().UnixNano()) // it was not the client that kept us waiting
	c.pumping = true
	err := c.framer.begin()
	c.pumping = false
	if err != nil {
		c.finish(err)
		return
	}
	c.pump()
}

// pump goes on with what was kept back and turns reading on again. A session
// that resumes from within Frame does not come here twice.
func (c *conn) pump() {
	if c.pumping || c.ended.Load() {
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
		c.settle()
	}
}

// guard runs a piece of the session's work; a panic ends this connection only.
func (c *conn) guard(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			c.pumping = false
			c.panicked(p)
			c.end(fmt.Errorf("%w: %v", errPanic, p))
		}
	}()
	fn()
}

func (c *conn) panicked(p any) {
	c.srv.stats.Panics.Add(1)
	c.srv.opt.Logger.Error("session panicked; its connection is closed", "listener", c.lis.Name,
		"remote", c.remote, "panic", p, "stack", string(debug.Stack()))
}

// Free returns a frame's memory.
func (c *conn) Free(buf []byte) {
	n := int64(cap(buf))
	putFrame(buf)
	c.srv.opt.Budget.give(n)
}

// Close ends the connection once its answers have been written.
func (c *conn) Close(reason error) {
	c.wire.post(func() { c.finish(reason) })
}

// finish stops reading and ends the connection when every reserved place has
// been filled and written, at the latest after the linger timeout. A server that
// stops has its own limit.
func (c *conn) finish(reason error) {
	if c.lingering && reason == errStopping {
		c.end(reason)
	}
	if c.ended.Load() || c.closing != nil {
		return
	}
	if reason == nil {
		reason = errPeerClosed
	}
	c.closing = reason
	if reason != errStopping {
		c.closeBy.Store(time.Now().Add(c.srv.opt.LingerTimeout).UnixNano())
	}
	c.wire.listen(false)
	c.framer.drop()
	c.wire.flushSoon()
}

// settle ends a closing or half-closed connection that owes nothing more.
func (c *conn) settle() {
	if c.ended.Load() || c.replies.open() > 0 {
		return
	}
	if c.closing != nil {
		c.hangUp()
	} else if c.eof && !c.held() && len(c.framer.rest) == 0 {
		c.orderly = true
		c.end(errPeerClosed)
	}
}

// hangUp ends a closing connection whose answers have all been written. If the
// client may still be sending, the socket is not closed at once: the kernel
// would reset the connection, and the client could lose the answers.
func (c *conn) hangUp() {
	if c.lingering {
		return
	}
	c.orderly = true
	if c.eof || c.closing == errStopping {
		c.end(c.closing)
		return
	}
	c.lingering = true
	c.wire.linger()
}

// end closes the connection now.
func (c *conn) end(reason error) {
	if c.ended.Swap(true) {
		return
	}
	c.wire.shut()
	c.framer.drop()
	c.srv.opt.Logger.Debug("connection closed", "listener", c.lis.Name, "remote", c.remote, "reason", reason)
	defer func() {
		if p := recover(); p != nil {
			c.panicked(p)
		}
	}()
	if c.session != nil {
		c.session.Closed()
	}
}

// minFrameRate is how fast a frame has to come, in bytes a second, if others wait
// for memory.
const minFrameRate = 64 << 10

// frameBegins notes when a frame of so many bytes has to be whole.
func (c *conn) frameBegins(size int) {
	most := c.srv.opt.StallTimeout + time.Duration(size)*time.Second/minFrameRate
	c.frameBy.Store(c.active.Load() + int64(most))
}

// overdue applies the timeouts and returns why the connection has to end, nil if
// it may stay. Any goroutine.
func (c *conn) overdue(now time.Time) error {
	ns := now.UnixNano()
	open, waiting := c.replies.load()
	if waiting == 0 {
		c.drained.Store(ns)
	}
	closeBy, frameBy := c.closeBy.Load(), c.frameBy.Load()
	switch {
	case closeBy != 0 && ns > closeBy:
		return errLinger
	case waiting > 0 && ns-c.drained.Load() > int64(c.srv.opt.StallTimeout):
		return errStalled
	case frameBy != 0 && ns-c.active.Load() > int64(c.srv.opt.StallTimeout):
		return errHalf
	case frameBy != 0 && ns > frameBy && c.srv.opt.Budget.short():
		return errSlow
	case open == 0 && ns-c.active.Load() > int64(c.srv.opt.IdleTimeout):
		return errIdle
	}
	return nil
}
