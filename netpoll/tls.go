package netpoll

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// tlsConns are the TLS connections of a server.
type tlsConns struct {
	mu sync.Mutex
	m  map[*tlsConn]struct{}
}

func (t *tlsConns) each(fn func(*tlsConn)) {
	t.mu.Lock()
	list := make([]*tlsConn, 0, len(t.m))
	for c := range t.m {
		list = append(list, c)
	}
	t.mu.Unlock()
	for _, c := range list {
		fn(c)
	}
}

func (t *tlsConns) tick(now time.Time) {
	t.each(func(c *tlsConn) {
		if err := c.overdue(now); err != nil {
			c.post(func() { c.end(err) })
		}
	})
}
func (t *tlsConns) finishAll() { t.each(func(c *tlsConn) { c.post(func() { c.finish(errStopping) }) }) }
func (t *tlsConns) endAll()    { t.each(func(c *tlsConn) { c.post(func() { c.end(errStopping) }) }) }

// tlsConn is a TLS connection: one goroutine reads, one is the loop that the
// session runs on, one writes.
type tlsConn struct {
	conn
	tls *tls.Conn

	mu    sync.Mutex
	tasks []func()
	dead  bool
	wake  chan struct{}

	read    chan []byte   // bytes from the socket, one piece at a time
	taken   chan struct{} // the loop has looked at them
	flushed chan struct{} // there is something to write
	closed  chan struct{}
	waiting bool // a piece has been looked at and reading is held; loop only
}

// acceptTLS accepts until the listener is closed.
func (s *Server) acceptTLS(lis *listener) {
	for {
		nc, err := lis.ln.Accept()
		if err != nil {
			if s.stopping.Load() || errors.Is(err, net.ErrClosed) {
				return
			}
			s.stats.AcceptErrors.Add(1)
			time.Sleep(tickEvery)
			continue
		}
		if !s.admit() {
			nc.Close()
			continue
		}
		s.wg.Add(1)
		go func() { defer s.wg.Done(); s.serveTLS(lis, nc) }()
	}
}

func (s *Server) serveTLS(lis *listener, nc net.Conn) {
	t := tls.Server(nc, lis.TLS)
	ctx, cancel := context.WithTimeout(s.ctx, s.opt.HandshakeTimeout)
	err := t.HandshakeContext(ctx)
	cancel()
	c := &tlsConn{tls: t, wake: make(chan struct{}, 1), read: make(chan []byte), taken: make(chan struct{}, 1),
		flushed: make(chan struct{}, 1), closed: make(chan struct{})}
	s.prepare(&c.conn, lis, c, nc.LocalAddr(), nc.RemoteAddr())
	if err != nil {
		s.opt.Logger.Debug("TLS handshake failed", "listener", lis.Name, "remote", nc.RemoteAddr(), "error", err)
		nc.Close()
		s.forget()
		return
	}
	state := t.ConnectionState()
	c.tlsState = &state
	s.tls.mu.Lock()
	if s.tls.m == nil {
		s.tls.m = map[*tlsConn]struct{}{}
	}
	s.tls.m[c] = struct{}{}
	s.tls.mu.Unlock()
	if s.stopping.Load() {
		c.post(func() { c.finish(errStopping) })
	}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); c.reader() }()
	go func() { defer wg.Done(); c.writer() }()
	c.guard(func() { c.session = lis.Session(&c.conn) })
	c.loop()
	wg.Wait()
	c.closeSocket()
	s.tls.mu.Lock()
	delete(s.tls.m, c)
	s.tls.mu.Unlock()
}

// loop runs tasks and takes bytes until the connection has ended.
func (c *tlsConn) loop() {
	for !c.ended.Load() {
		select {
		case <-c.wake:
			c.runTasks()
		case data, ok := <-c.read:
			if !ok {
				c.eof = true
				c.guard(c.settle)
				c.read = nil
				continue
			}
			c.guard(func() { c.take(data) })
		}
	}
	c.runTasks()
}

func (c *tlsConn) runTasks() {
	c.mu.Lock()
	tasks := c.tasks
	c.tasks = nil
	c.mu.Unlock()
	for _, f := range tasks {
		if !c.ended.Load() {
			c.guard(f)
		}
	}
	if !c.ended.Load() {
		c.guard(func() { c.settle(); c.pump() })
	}
}

func (c *tlsConn) take(data []byte) {
	c.pumping = true
	err := c.framer.feed(data)
	c.pumping = false
	if err != nil {
		c.finish(err)
		return
	}
	if c.held() || len(c.framer.rest) > 0 {
		c.waiting = true
		return
	}
	c.taken <- struct{}{}
}

// listen lets the reader go on.
func (c *tlsConn) listen(on bool) {
	if on && c.waiting {
		c.waiting = false
		c.taken <- struct{}{}
	}
}

func (c *tlsConn) reader() {
	defer close(c.read)
	buf := make([]byte, 16<<10) // a TLS record
	read := c.read
	for {
		n, err := c.tls.Read(buf)
		if n > 0 {
			c.active.Store(time.Now().UnixNano())
			c.srv.stats.BytesIn.Add(uint64(n))
			select {
			case read <- buf[:n]:
			case <-c.closed:
				return
			}
			select {
			case <-c.taken:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (c *tlsConn) writer() {
	var iov [][]byte
	for {
		select {
		case <-c.flushed:
		case <-c.closed:
			return
		}
		for {
			iov = c.replies.take(iov[:0], maxIovecs)
			if len(iov) == 0 {
				c.wrote(0)
				break
			}
			if !c.writeAll(iov) {
				return
			}
		}
		c.post(func() {})
	}
}

// tlsRecordBytes is the most that one TLS record carries.
const tlsRecordBytes = 16 << 10

// tlsRecords are buffers in which small pieces are put together.
var tlsRecords = sync.Pool{New: func() any { return new([tlsRecordBytes]byte) }}

// writeAll writes output; small pieces that fit into one TLS record share it.
func (c *tlsConn) writeAll(iov [][]byte) bool {
	rec := tlsRecords.Get().(*[tlsRecordBytes]byte)
	defer tlsRecords.Put(rec)
	for len(iov) > 0 {
		b, pieces := iov[0], 1
		if len(iov) > 1 && len(b)+len(iov[1]) <= len(rec) {
			b, pieces = gather(rec[:0], iov)
		}
		iov = iov[pieces:]
		if !c.write(b) {
			return false
		}
	}
	return true
}

// gather copies as many pieces as fit whole into dst.
func gather(dst []byte, iov [][]byte) ([]byte, int) {
	n := 0
	for n < len(iov) && len(dst)+len(iov[n]) <= cap(dst) {
		dst = append(dst, iov[n]...)
		n++
	}
	return dst, n
}

func (c *tlsConn) write(b []byte) bool {
	n, err := c.tls.Write(b)
	if n > 0 {
		now := time.Now().UnixNano()
		c.active.Store(now)
		c.drained.Store(now)
		c.srv.stats.BytesOut.Add(uint64(n))
		c.wrote(n)
	}
	if err != nil {
		c.post(func() { c.end(err) })
		return false
	}
	return true
}

func (c *tlsConn) post(fn func()) bool {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return false
	}
	c.tasks = append(c.tasks, fn)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return true
}

func (c *tlsConn) flushSoon() {
	select {
	case c.flushed <- struct{}{}:
	default:
	}
}

// linger is serveTLS's to do.
func (c *tlsConn) linger() { c.end(c.closing) }

// shut makes the reader and the writer stop; serveTLS closes the socket when they
// have.
func (c *tlsConn) shut() {
	c.mu.Lock()
	c.dead = true
	c.mu.Unlock()
	close(c.closed)
	c.tls.SetDeadline(time.Unix(1, 0))
}

// closeSocket ends what shut began. The replies are only released here, since
// the writer may have been using them until it stopped.
func (c *tlsConn) closeSocket() {
	c.dropReplies()
	nc := c.tls.NetConn()
	if c.orderly {
		c.sayGoodbye(nc)
	}
	nc.Close()
	c.srv.forget()
}

// sayGoodbye tells the client that nothing was cut off, and reads without use
// until it is done too, the linger timeout is over or the server stops.
func (c *tlsConn) sayGoodbye(nc net.Conn) {
	nc.SetDeadline(time.Now().Add(100 * time.Millisecond))
	if c.tls.CloseWrite() != nil {
		return
	}
	if t, ok := nc.(*net.TCPConn); ok {
		t.CloseWrite()
	}
	nc.SetReadDeadline(time.Now().Add(c.srv.opt.LingerTimeout))
	stop := context.AfterFunc(c.srv.ctx, func() { nc.SetReadDeadline(time.Now().Add(time.Millisecond)) })
	defer stop()
	io.Copy(io.Discard, nc)
}
