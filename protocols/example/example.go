package example

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/spatemq/spate/protocols"
)

const (
	headBytes    = 2
	requestBytes = headBytes + 9
)

// errBye ends a connection whose client has asked for it.
var errBye = errors.New("the client has said goodbye")

// Protocol is the example protocol; its connections share one counter.
type Protocol struct{ counter counter }

// New makes the protocol, with the counter at 0.
func New() *Protocol {
	return &Protocol{counter: counter{waiters: map[*waiter]struct{}{}}}
}

// Name implements protocols.Protocol.
func (p *Protocol) Name() string { return "example" }

// NewSession implements protocols.Protocol.
func (p *Protocol) NewSession(c protocols.Conn) protocols.Session {
	return &session{counter: &p.counter, conn: c, waiters: map[*waiter]struct{}{}}
}

// session is one connection. Its methods run on the connection's loop, one at a
// time, so what only they use needs no lock.
type session struct {
	counter *counter
	conn    protocols.Conn
	waiters map[*waiter]struct{} // of this connection
}

// HeadBytes implements protocols.Session.
func (s *session) HeadBytes() int { return headBytes }

// FrameBytes implements protocols.Session.
func (s *session) FrameBytes(head []byte) (int, error) {
	if n := headBytes + int(binary.BigEndian.Uint16(head)); n != requestBytes {
		return 0, fmt.Errorf("request of %d bytes; want %d", n, requestBytes)
	}
	return requestBytes, nil
}

// Frame implements protocols.Session.
func (s *session) Frame(buf []byte) error {
	op, n := buf[headBytes], int64(binary.BigEndian.Uint64(buf[headBytes+1:]))
	s.conn.Free(buf) // all that is needed has been taken from it
	switch op {
	case '+':
		answer(s.conn.Reserve(), s.counter.add(n))
	case '?':
		return s.wait(n)
	case '-':
		s.counter.add(n)
	case '.':
		return errBye
	default:
		return fmt.Errorf("request %q; want '+', '?', '-' or '.'", op)
	}
	return nil
}

// wait reserves the answer's place now, so that answers keep the order of
// requests, and fills it when the counter is high enough.
func (s *session) wait(least int64) error {
	place := s.conn.Reserve()
	w := &waiter{least: least}
	w.send = func(value int64) {
		answer(place, value)
		// This may be another connection's loop; s.waiters belongs to ours.
		s.conn.Execute(func() { delete(s.waiters, w) })
	}
	s.waiters[w] = struct{}{}
	if !s.counter.wait(w) {
		place.Skip()
		return fmt.Errorf("%d requests wait already", maxWaiters)
	}
	return nil
}

// Closed implements protocols.Session. Nobody takes the answers any more.
func (s *session) Closed() { s.counter.forget(s.waiters) }

func answer(place protocols.Reply, value int64) {
	place.Send([][]byte{binary.BigEndian.AppendUint64(nil, uint64(value))}, nil)
}
