package netpoll

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// A client that sends and does not read makes the server stop reading, so that
// the client's own writes block; all is answered once it reads.
func TestSlowReaderIsNotRead(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		const limit = 1 << 20
		var most atomic.Int64
		ts := start(t, useTLS, Options{MaxUnsentBytes: limit}, func(c Conn, buf []byte) error {
			err := echo(c, buf)
			most.Store(max(most.Load(), int64(c.Unsent())))
			return err
		})
		c := ts.dial()
		body := pattern(64 << 10)
		frame := frameOf(body)
		// How much fits in all buffers on the way, and no more.
		c.SetWriteDeadline(time.Now().Add(time.Second))
		sent := 0
		for {
			n, err := c.Write(frame)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				sent += n
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if sent += n; sent > 256<<20 {
				t.Fatal("256 MiB were taken from a client that reads nothing")
			}
		}
		if m := most.Load(); m > limit+int64(len(frame)) {
			t.Fatalf("%d bytes were held for a client that reads nothing; limit %d", m, limit)
		}
		in := ts.Stats().BytesIn.Load()
		for range sent / len(frame) {
			if !bytes.Equal(c.receive(), body) {
				t.Fatal("wrong reply")
			}
			if useTLS && ts.Stats().BytesIn.Load() > in {
				break // a TLS stream is broken after a write that timed out
			}
		}
		eventually(t, "reading goes on", func() bool { return ts.Stats().BytesIn.Load() > in })
	})
}

func TestMaxReplies(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		places := make(chan Reply, 100)
		ts := start(t, useTLS, Options{MaxReplies: 4}, func(c Conn, buf []byte) error {
			c.Free(buf)
			places <- c.Reserve()
			return nil
		})
		c := ts.dial()
		c.raw(bytes.Repeat(frameOf([]byte("x")), 50))
		for range 50 {
			p := recv(t, places)
			if n := len(places); n > 4 {
				t.Fatalf("%d places are reserved, limit 4", n)
			}
			p.Send([][]byte{frameOf([]byte("y"))}, nil)
			c.expect("y")
		}
	})
}

func TestBudgetQueue(t *testing.T) {
	b := NewBudget(100)
	var order []int
	ws := make([]*budgetWaiter, 5)
	for i := range ws {
		ws[i] = &budgetWaiter{grant: func() { order = append(order, i) }}
	}
	if !b.take(ws[0], 150) {
		t.Fatal("a frame beyond the limit must be had when nothing is used")
	}
	for i, n := range []int64{60, 60, 10, 10} {
		if b.take(ws[i+1], n) {
			t.Fatal("taken beyond the limit")
		}
	}
	b.give(150)
	if len(order) != 1 || order[0] != 1 || b.Used() != 60 {
		t.Fatalf("granted %v, used %d; want [1] and 60: those behind wait for the one at the front", order, b.Used())
	}
	b.cancel(ws[2]) // the two behind it fit now
	if len(order) != 3 || order[1] != 3 || order[2] != 4 || b.Used() != 80 {
		t.Fatalf("granted %v, used %d; want [1 3 4] and 80", order, b.Used())
	}
	b.cancel(ws[3]) // granted, never accepted
	b.accept(ws[1])
	b.accept(ws[4])
	b.give(70)
	if b.Used() != 0 {
		t.Fatalf("%d bytes are lost", b.Used())
	}
}

// Frames that do not fit in the budget wait, are served in order, and a
// connection that ends while it waits leaves nothing behind.
func TestBudgetExhaustion(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		type held struct {
			c   Conn
			buf []byte
		}
		frames := make(chan held, 10)
		ts := start(t, useTLS, Options{Budget: NewBudget(1 << 20)}, func(c Conn, buf []byte) error {
			frames <- held{c, buf}
			return nil
		})
		budget := ts.opt.Budget
		waiting := func(n int) func() bool {
			return func() bool {
				budget.mu.Lock()
				defer budget.mu.Unlock()
				return len(budget.queue) == n
			}
		}
		send := func(mark byte) *client {
			c := ts.dial()
			body := pattern(1<<20 - 4)
			body[0] = mark
			go c.Write(frameOf(body))
			return c
		}
		a := send('a')
		first := recv(t, frames)
		var others []*client
		for i, mark := range []byte("bcd") {
			others = append(others, send(mark))
			eventually(t, "the connection waits for memory", waiting(i+1))
		}
		// Its client is gone: it is given up when that is noticed, at the latest
		// when its turn has come.
		others[1].Close()
		answer := func(h held, c *client, mark byte) {
			t.Helper()
			done := make(chan Reply, 1)
			if !h.c.Execute(func() { done <- h.c.Reserve() }) {
				t.Fatal("the connection has ended")
			}
			p := recv(t, done)
			if h.buf[4] != mark {
				t.Fatalf("frame %c came, want %c", h.buf[4], mark)
			}
			p.Send([][]byte{frameOf([]byte{mark})}, nil)
			h.c.Free(h.buf)
			c.expect(string(mark))
		}
		answer(first, a, 'a')
		answer(recv(t, frames), others[0], 'b')
		h := recv(t, frames)
		if h.buf[4] == 'c' { // it had arrived whole before the client closed
			h.c.Free(h.buf)
			h = recv(t, frames)
		}
		answer(h, others[2], 'd')
	})
}

// Connections that end while they wait for memory, or have it and no whole
// frame, give everything back.
func TestBudgetOfEndedConnections(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{Budget: NewBudget(1 << 20), IdleTimeout: 300 * time.Millisecond}, echo)
		for range 20 {
			ts.dial().raw(frameOf(pattern(1 << 19))[:1000])
		}
		eventually(t, "all connections have been closed", func() bool { return ts.Stats().Closed.Load() == 20 })
		eventually(t, "all memory is back", func() bool { return ts.opt.Budget.Used() == 0 })
		if n := ts.closedSessions(); n != 20 {
			t.Fatalf("%d sessions were told, of 20", n)
		}
		c := ts.dial()
		c.send([]byte("well"))
		c.expect("well")
	})
}

func TestIdleTimeout(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{IdleTimeout: 300 * time.Millisecond}, echo)
		silent, half := ts.dial(), ts.dial()
		half.raw(frameOf(pattern(100))[:50])
		silent.expectEnd()
		half.expectEnd()
	})
}

// Memory is not kept for a client that stops in the middle of a frame, though it
// has an answer outstanding and so is not idle.
func TestHalfFrameTimeout(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{StallTimeout: 300 * time.Millisecond}, func(c Conn, buf []byte) error {
			c.Free(buf)
			c.Reserve()
			return nil
		})
		c := ts.dial()
		c.raw(append(frameOf([]byte("never answered")), frameOf(pattern(1 << 20))[:50]...))
		c.expectEnd()
	})
}

// A connection that waits for its answer is not idle.
func TestWaitingIsNotIdle(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		o := Options{IdleTimeout: 300 * time.Millisecond, StallTimeout: 300 * time.Millisecond}
		ts := start(t, useTLS, o, func(c Conn, buf []byte) error {
			p, q := c.Reserve(), c.Reserve()
			q.Send([][]byte{frameOf([]byte("second"))}, nil)
			time.AfterFunc(time.Second, func() { p.Send([][]byte{buf}, func() { c.Free(buf) }) })
			return nil
		})
		c := ts.dial()
		c.send([]byte("first"))
		c.expect("first")
		c.expect("second")
	})
}

func TestStallTimeout(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		released := make(chan bool, 1)
		ts := start(t, useTLS, Options{StallTimeout: 300 * time.Millisecond}, func(c Conn, buf []byte) error {
			c.Free(buf)
			c.Reserve().Send([][]byte{make([]byte, 64<<20)}, func() { released <- true })
			return nil
		})
		ts.dial().send([]byte("more than I take"))
		recv(t, released)
		eventually(t, "the connection is closed", func() bool { return ts.Stats().Open.Load() == 0 })
	})
}

func TestMaxConnections(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{MaxConnections: 2}, echo)
		a, b := ts.dial(), ts.dial()
		for _, c := range []*client{a, b} {
			c.send([]byte("in"))
			c.expect("in")
		}
		if c, err := ts.tryDial(); err == nil {
			third := &client{c, t}
			third.SetDeadline(time.Now().Add(patience))
			third.expectEnd()
			third.Close()
		}
		eventually(t, "it is counted", func() bool { return ts.Stats().Refused.Load() == 1 })
		a.Close()
		eventually(t, "there is room", func() bool { return ts.Stats().Open.Load() == 1 })
		c := ts.dial()
		c.send([]byte("in"))
		c.expect("in")
	})
}

func TestHandshakeTimeout(t *testing.T) {
	ts := start(t, true, Options{HandshakeTimeout: 200 * time.Millisecond}, echo)
	ts.tls = false
	c := ts.dial() // says nothing
	c.expectEnd()
	d := ts.dial()
	eventually(t, "it is in", func() bool { return ts.Stats().Accepted.Load() == 2 })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := ts.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	d.expectEnd()
}
