package example

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/spatemq/spate/netpoll"
	"github.com/spatemq/spate/protocols"
)

// sessions lets a protocol serve netpoll's connections; cmd/spate does the same.
func sessions(p protocols.Protocol) func(netpoll.Conn) netpoll.Session {
	return func(c netpoll.Conn) netpoll.Session { return p.NewSession(c) }
}

type client struct {
	net.Conn
	t *testing.T
}

func serve(t *testing.T) (*Protocol, *netpoll.Server, func() *client) {
	p := New()
	srv, err := netpoll.Serve(netpoll.Options{}, netpoll.Listener{Name: "EXAMPLE", Address: "127.0.0.1:0", Session: sessions(p)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := srv.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return p, srv, func() *client {
		c, err := net.Dial("tcp", srv.Addr("EXAMPLE").String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(10 * time.Second))
		return &client{c, t}
	}
}

func (c *client) send(op byte, n int64) {
	c.t.Helper()
	b := append(binary.BigEndian.AppendUint16(nil, 9), op)
	if _, err := c.Write(binary.BigEndian.AppendUint64(b, uint64(n))); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) expect(want int64) {
	c.t.Helper()
	var b [8]byte
	if _, err := io.ReadFull(c, b[:]); err != nil {
		c.t.Fatal(err)
	}
	if got := int64(binary.BigEndian.Uint64(b[:])); got != want {
		c.t.Fatalf("got %d, want %d", got, want)
	}
}

func (c *client) expectEnd() {
	c.t.Helper()
	if n, err := c.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) || err == nil {
		c.t.Fatalf("read %d bytes, error %v; want the end", n, err)
	}
}

func TestCounter(t *testing.T) {
	_, _, dial := serve(t)
	a, b := dial(), dial()
	a.send('+', 5)
	a.expect(5)
	a.send('?', 10) // waits
	a.send('+', 1)  // done at once, answered after
	b.send('?', 6)
	b.expect(6)
	b.send('-', 4) // unanswered; wakes a
	b.send('+', 100)
	a.expect(10)
	a.expect(6)
	b.expect(110)
	b.send('+', 1)
	b.send('.', 0)
	b.expect(111)
	b.expectEnd()
}

func TestBadRequests(t *testing.T) {
	_, _, dial := serve(t)
	a := dial()
	a.send('!', 0)
	a.expectEnd()
	b := dial()
	b.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	b.expectEnd()
}

func TestClientGoesWhileItWaits(t *testing.T) {
	p, srv, dial := serve(t)
	c := dial()
	c.send('+', 1)
	c.expect(1)
	c.send('?', 1000)
	for p.counter.waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	c.Conn.(*net.TCPConn).SetLinger(0) // reset, not only half-closed
	c.Close()
	for end := time.Now().Add(10 * time.Second); srv.Stats().Open.Load() > 0 || p.counter.waiting() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the request still waits though its client has gone")
		}
	}
}
