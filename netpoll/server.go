package netpoll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	gnetpoll "github.com/panjf2000/gnet/v2/pkg/netpoll"
	"golang.org/x/sys/unix"
)

// Transport serves listeners until it is stopped.
type Transport interface {
	// Addr is the address a listener got.
	Addr(name string) net.Addr
	// Stop accepts no more, lets answers under way be written until ctx ends, and
	// then closes everything.
	Stop(ctx context.Context) error
	Stats() *Stats
}

// Server is the Transport for plaintext (event loops) and TLS (goroutines).
type Server struct {
	opt       Options
	loops     []*loop
	listeners []*listener
	stats     Stats
	nextID    atomic.Uint64
	nextLoop  atomic.Uint64
	stopping  atomic.Bool
	done      chan struct{}
	wg        sync.WaitGroup
	tls       tlsConns
	ctx       context.Context // of TLS handshakes; ends when Stop begins
	cancel    context.CancelFunc
}

type listener struct {
	Listener
	ln      net.Listener
	fd      int
	file    interface{ Close() error }
	resting bool // not watched until the next tick: out of descriptors
}

const tickEvery = 200 * time.Millisecond

// Serve opens all listeners and begins to accept. If one cannot be opened none
// is, and the error names it.
func Serve(o Options, listeners ...Listener) (*Server, error) {
	o.defaults()
	s := &Server{opt: o, done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for i := range listeners {
		ln, err := net.Listen("tcp", listeners[i].Address)
		if err != nil {
			s.closeListeners()
			return nil, fmt.Errorf("listener %s: cannot listen on %s: %w", listeners[i].Name, listeners[i].Address, err)
		}
		s.listeners = append(s.listeners, &listener{Listener: listeners[i], ln: ln, fd: -1})
	}
	for range o.Loops {
		l, err := newLoop(s)
		if err != nil {
			s.abandon()
			return nil, fmt.Errorf("event loop: %w", err)
		}
		s.loops = append(s.loops, l)
	}
	for _, lis := range s.listeners {
		if err := s.open(lis); err != nil {
			s.abandon()
			return nil, fmt.Errorf("listener %s: %w", lis.Name, err)
		}
	}
	for _, l := range s.loops {
		s.wg.Add(1)
		go func() { defer s.wg.Done(); l.run() }()
	}
	s.wg.Add(1)
	go func() { defer s.wg.Done(); s.ticker() }()
	return s, nil
}

// open puts a plaintext listener on the first loop; a TLS one gets a goroutine.
func (s *Server) open(lis *listener) error {
	if lis.TLS != nil {
		s.wg.Add(1)
		go func() { defer s.wg.Done(); s.acceptTLS(lis) }()
		return nil
	}
	f, err := lis.ln.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	lis.file, lis.fd = f, int(f.Fd())
	if err := unix.SetNonblock(lis.fd, true); err != nil {
		return err
	}
	s.loops[0].accept[lis.fd] = lis
	return s.loops[0].poller.AddRead(&gnetpoll.PollAttachment{FD: lis.fd}, false)
}

func (s *Server) ticker() {
	t := time.NewTicker(tickEvery)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			for _, l := range s.loops {
				l.tick(now)
			}
			s.tls.tick(now)
		case <-s.done:
			return
		}
	}
}

// acceptAll takes the connections that wait. Out of descriptors or memory it
// rests until the next tick; the kernel keeps the clients waiting.
func (s *Server) acceptAll(l *loop, lis *listener) {
	for range 64 {
		fd, sa, err := unix.Accept4(lis.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case err == nil:
			s.welcome(lis, fd, sa)
		case err == unix.EAGAIN:
			return
		case err == unix.EINTR || err == unix.ECONNABORTED:
		default:
			if s.stopping.Load() {
				return
			}
			if s.stats.AcceptErrors.Add(1)%100 == 1 {
				s.opt.Logger.Error("connection cannot be accepted; new clients wait", "listener", lis.Name, "error", err)
			}
			lis.resting = true
			l.poller.Delete(lis.fd)
			return
		}
	}
}

func (s *Server) welcome(lis *listener, fd int, sa unix.Sockaddr) {
	if !s.admit() {
		unix.Close(fd)
		return
	}
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	// An urgent byte is a byte like others. Left apart it would never be read, and
	// the poller, which watches for it, would never sleep.
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_OOBINLINE, 1)
	l := s.loops[s.nextLoop.Add(1)%uint64(len(s.loops))]
	c := &tcpConn{fd: fd, loop: l, reading: true}
	local := lis.ln.Addr()
	if lsa, err := unix.Getsockname(fd); err == nil {
		local = tcpAddr(lsa)
	}
	s.prepare(&c.conn, lis, c, local, tcpAddr(sa))
	if !l.post(func() { l.add(c) }) {
		unix.Close(fd)
		s.forget()
	}
}

// admit counts a new connection, false past the limit.
func (s *Server) admit() bool {
	if s.stopping.Load() {
		return false
	}
	if s.stats.Open.Add(1) > int64(s.opt.MaxConnections) {
		s.stats.Open.Add(-1)
		if s.stats.Refused.Add(1)%1000 == 1 {
			s.opt.Logger.Warn("connection refused: too many", "limit", s.opt.MaxConnections)
		}
		return false
	}
	s.stats.Accepted.Add(1)
	return true
}

func (s *Server) prepare(c *conn, lis *listener, w wire, local, remote net.Addr) {
	c.id, c.srv, c.lis, c.wire, c.local, c.remote = s.nextID.Add(1), s, lis, w, local, remote
	c.framer.c = c
	c.framer.claim.grant = c.granted
	now := time.Now().UnixNano()
	c.active.Store(now)
	c.drained.Store(now)
}

func (s *Server) forget() {
	s.stats.Open.Add(-1)
	s.stats.Closed.Add(1)
}

func tcpAddr(sa unix.Sockaddr) net.Addr {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: append(net.IP(nil), a.Addr[:]...), Port: a.Port}
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: append(net.IP(nil), a.Addr[:]...), Port: a.Port}
	}
	return &net.TCPAddr{}
}

// Addr is the address that a listener got; nil if there is none of that name.
func (s *Server) Addr(name string) net.Addr {
	for _, l := range s.listeners {
		if l.Name == name {
			return l.ln.Addr()
		}
	}
	return nil
}

// Stats counts what the server has done.
func (s *Server) Stats() *Stats { return &s.stats }

// abandon undoes a start that failed.
func (s *Server) abandon() {
	s.stopping.Store(true)
	s.cancel()
	s.closeListeners()
	s.wg.Wait()
	for _, l := range s.loops {
		l.close()
	}
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		l.ln.Close()
		if l.file != nil {
			l.file.Close()
		}
	}
}

// Stop implements Transport.
func (s *Server) Stop(ctx context.Context) error {
	if s.stopping.Swap(true) {
		return errors.New("server is stopped already")
	}
	s.cancel()
	stop := func() {
		for fd, lis := range s.loops[0].accept {
			if !lis.resting {
				s.loops[0].poller.Delete(fd)
			}
			delete(s.loops[0].accept, fd)
		}
	}
	closed := make(chan struct{})
	if s.loops[0].post(func() { stop(); close(closed) }) {
		<-closed
	}
	s.closeListeners()
	for _, l := range s.loops {
		l.post(func() {
			for _, c := range l.conns {
				c.guard(func() { c.finish(errStopping) })
			}
		})
	}
	s.tls.finishAll()
	err := s.waitClosed(ctx)
	close(s.done)
	for _, l := range s.loops {
		l.stop()
	}
	s.tls.endAll()
	s.wg.Wait()
	return err
}

func (s *Server) waitClosed(ctx context.Context) error {
	for s.stats.Open.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}
