package netpoll

import (
	"crypto/tls"
	"log/slog"
	"net"
	"sync/atomic"
	"time"
)

// Session is a protocol's side of one connection; see protocols.Session.
type Session interface {
	HeadBytes() int
	FrameBytes(head []byte) (int, error)
	Frame(buf []byte) error
	Closed()
}

// Reply is one place in the order of replies; see protocols.Reply.
type Reply = interface {
	Send(bufs [][]byte, release func())
	Skip()
}

// Conn is a connection; see protocols.Conn.
type Conn interface {
	ID() uint64
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
	Listener() string
	TLS() *tls.ConnectionState
	Execute(fn func()) bool
	Reserve() Reply
	Pause()
	Resume()
	Free(buf []byte)
	Unsent() int
	Close(reason error)
}

// Listener is one address to serve.
type Listener struct {
	Name    string // what sessions see as Conn.Listener
	Address string // host:port; port 0 takes a free one
	// TLS makes it a TLS listener.
	TLS *tls.Config
	// Session makes the session of a new connection.
	Session func(Conn) Session
}

// Options of a Server. Zero values mean the defaults.
type Options struct {
	Loops          int           // event loops; default 2
	MaxConnections int           // default 20,000; more are closed at once
	MaxUnsentBytes int           // of one connection before reading stops; default 8 MiB
	MaxReplies     int           // places reserved and not filled before reading stops; default 1000
	IdleTimeout    time.Duration // connections.max.idle.ms; default 10 min
	// StallTimeout ends a connection that takes no byte of its answers, or has
	// begun a frame, for which memory is held, and sends no byte, for so long;
	// default 2 min. While memory is short a frame may take so long and a second
	// for each 64 KiB.
	StallTimeout time.Duration
	// LingerTimeout bounds how long a closing connection may take its last
	// answers; default 5 s.
	LingerTimeout    time.Duration
	HandshakeTimeout time.Duration // of TLS; default 10 s
	Budget           *Budget       // memory of frames; default 256 MiB
	Logger           *slog.Logger
}

func (o *Options) defaults() {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&o.Loops, 2)
	set(&o.MaxConnections, 20000)
	set(&o.MaxUnsentBytes, 8<<20)
	set(&o.MaxReplies, 1000)
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 10 * time.Minute
	}
	if o.StallTimeout <= 0 {
		o.StallTimeout = 2 * time.Minute
	}
	if o.LingerTimeout <= 0 {
		o.LingerTimeout = 5 * time.Second
	}
	if o.HandshakeTimeout <= 0 {
		o.HandshakeTimeout = 10 * time.Second
	}
	if o.Budget == nil {
		o.Budget = NewBudget(256 << 20)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Stats counts since start.
type Stats struct {
	Accepted, Refused, AcceptErrors, Closed, Panics atomic.Uint64
	BytesIn, BytesOut                               atomic.Uint64
	Open                                            atomic.Int64
}
