package kafka

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spatemq/spate/protocols"
)

// memConn is a connection whose loop is a goroutine and whose socket is memory.
type memConn struct {
	t       testing.TB
	session protocols.Session
	queue   chan func()
	done    chan struct{} // closed when the loop has ended

	// Of the loop.
	frames [][]byte // received and not yet handed over
	paused bool

	mu     sync.Mutex
	places []*memReply
	sent   chan []byte
	hold   bool // the client does not read
	unsent int
	reason error
	closed bool

	live atomic.Int64 // frames not freed
}

type memReply struct {
	c      *memConn
	filled bool
	bytes  []byte
	skip   bool
	free   func()
}

func newMemConn(t testing.TB, p protocols.Protocol) *memConn {
	c := &memConn{t: t, queue: make(chan func(), 10000), done: make(chan struct{}), sent: make(chan []byte, 10000)}
	c.session = p.NewSession(c)
	go func() {
		defer close(c.done)
		for f := range c.queue {
			f()
			c.mu.Lock()
			end := c.closed && len(c.queue) == 0
			c.mu.Unlock()
			if end {
				c.session.Closed()
				return
			}
		}
	}()
	t.Cleanup(func() { c.Close(errors.New("test has ended")); <-c.done })
	return c
}

// receive hands a frame's bytes to the session as soon as it is not paused.
func (c *memConn) receive(frame []byte) {
	c.Execute(func() {
		c.frames = append(c.frames, frame)
		c.deliver()
	})
}

func (c *memConn) deliver() {
	for len(c.frames) > 0 && !c.paused {
		f := c.frames[0]
		c.frames = c.frames[1:]
		n, err := c.session.FrameBytes(f[:c.session.HeadBytes()])
		if err == nil && n != len(f) {
			c.t.Errorf("FrameBytes = %d for a frame of %d", n, len(f))
		}
		if err == nil {
			c.live.Add(1)
			err = c.session.Frame(f)
		}
		if err != nil {
			c.Close(err)
			return
		}
	}
}

func (c *memConn) ID() uint64                { return 1 }
func (c *memConn) Listener() string          { return "PLAINTEXT" }
func (c *memConn) TLS() *tls.ConnectionState { return nil }
func (c *memConn) LocalAddr() net.Addr       { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9092} }
func (c *memConn) RemoteAddr() net.Addr      { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5} }

func (c *memConn) Execute(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.queue <- f
	return true
}

func (c *memConn) Pause() { c.paused = true }

func (c *memConn) Resume() {
	c.paused = false
	c.Execute(c.deliver)
}

func (c *memConn) Free([]byte) {
	if c.live.Add(-1) < 0 {
		c.t.Error("frame freed twice")
	}
}

func (c *memConn) Unsent() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsent
}

func (c *memConn) Close(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed, c.reason = true, reason
		c.queue <- func() {}
	}
}

func (c *memConn) Reserve() protocols.Reply {
	r := &memReply{c: c}
	c.mu.Lock()
	c.places = append(c.places, r)
	c.mu.Unlock()
	return r
}

func (r *memReply) Send(bufs [][]byte, release func()) {
	for _, b := range bufs {
		r.bytes = append(r.bytes, b...)
	}
	r.free = release
	r.c.fill(r)
}

func (r *memReply) Skip() {
	r.skip = true
	r.c.fill(r)
}

func (c *memConn) fill(r *memReply) {
	c.mu.Lock()
	if r.filled {
		c.t.Error("a place in the order of replies was filled twice")
	}
	r.filled = true
	c.unsent += len(r.bytes)
	free := c.flush()
	c.mu.Unlock()
	for _, f := range free {
		f()
	}
}

// flush sends what may leave; the lock is held.
func (c *memConn) flush() (free []func()) {
	for len(c.places) > 0 && c.places[0].filled && !c.hold {
		r := c.places[0]
		c.places = c.places[1:]
		c.unsent -= len(r.bytes)
		if !r.skip {
			c.sent <- r.bytes
		}
		if r.free != nil {
			free = append(free, r.free)
		}
	}
	return free
}

// holdBack makes the client stop or go on reading.
func (c *memConn) holdBack(hold bool) {
	c.mu.Lock()
	c.hold = hold
	free := c.flush()
	c.mu.Unlock()
	for _, f := range free {
		f()
	}
}

const testTimeout = 10 * time.Second

// next is the next answer's correlation id and body.
func (c *memConn) next() (corrID int32, rest []byte) {
	c.t.Helper()
	select {
	case b := <-c.sent:
		if int(binary.BigEndian.Uint32(b)) != len(b)-4 {
			c.t.Fatalf("size field %d of an answer of %d bytes", binary.BigEndian.Uint32(b), len(b))
		}
		return int32(binary.BigEndian.Uint32(b[4:])), b[8:]
	case <-time.After(testTimeout):
		c.t.Fatal("no answer")
	}
	return 0, nil
}

// ended waits for the connection to be closed and returns why.
func (c *memConn) ended() error {
	c.t.Helper()
	select {
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.reason
	case <-time.After(testTimeout):
		c.t.Fatal("connection was not closed")
	}
	return nil
}

// settle waits until the loop has done what is queued.
func (c *memConn) settle() {
	done := make(chan struct{})
	if c.Execute(func() { close(done) }) {
		<-done
	}
}
