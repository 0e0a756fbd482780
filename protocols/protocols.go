package protocols

import (
	"crypto/tls"
	"net"
)

// Protocol is one wire protocol, shared by all its connections.
type Protocol interface {
	// Name is the protocol's name in settings, logs and metrics ("kafka").
	Name() string
	// NewSession is called on the connection's loop when it has been accepted
	// (for TLS: when the handshake is done).
	NewSession(c Conn) Session
}

// Session is the protocol's side of one connection. All its methods are called
// on the connection's loop, one at a time; none may block.
type Session interface {
	// HeadBytes is how many bytes FrameBytes needs to see (1 to 64).
	HeadBytes() int
	// FrameBytes tells the length of the next frame including the head. An error
	// closes the connection: too large, negative, another protocol's bytes. It
	// is called before any memory is taken for the frame.
	FrameBytes(head []byte) (int, error)
	// Frame hands over one whole frame, head included. The session owns buf and
	// gives it back with Conn.Free exactly once, on any goroutine. An error
	// closes the connection after the replies before it have been sent.
	Frame(buf []byte) error
	// Closed is called once when the connection has ended. Replies still
	// reserved may be sent or dropped; they go nowhere.
	Closed()
}

// Conn is netpoll's side of one connection.
type Conn interface {
	// ID is unique in the process.
	ID() uint64
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
	// Listener is the name of the listener the client came in on.
	Listener() string
	// TLS is nil on plaintext connections.
	TLS() *tls.ConnectionState

	// Execute runs fn on the connection's loop, after what is already queued
	// there; false if the connection has ended (fn will not run). If it ends
	// before fn's turn, fn does not run either: Closed is called instead. Any
	// goroutine.
	Execute(fn func()) bool
	// Reserve takes the next place in the order of replies. Loop only.
	Reserve() Reply
	// Pause stops reading further frames until Resume: no further Frame call is
	// made and the socket is no longer read. Loop only. Not counted.
	Pause()
	// Resume undoes Pause. Loop only.
	Resume()
	// Free returns a frame's buffer. Any goroutine.
	Free(buf []byte)
	// Unsent is the number of bytes handed over in replies that the socket has
	// not yet taken.
	Unsent() int
	// Close ends the connection after the replies already sent have been
	// written. Any goroutine.
	Close(reason error)
}

// Reply (an alias, so that netpoll can name the same type without importing
// this package) is one place in a connection's reply order. Exactly one of Send and
// Skip is called, on any goroutine; the bytes leave when all earlier places
// have been filled.
type Reply = interface {
	// Send fills the place. The buffers are not copied and must not change
	// until release (may be nil) is called: after the socket has taken them or
	// the connection has ended.
	Send(bufs [][]byte, release func())
	// Skip leaves the place empty (a request without an answer).
	Skip()
}
