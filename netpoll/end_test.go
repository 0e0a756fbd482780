package netpoll

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func (ts *testServer) stop(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return ts.Stop(ctx)
}

// A client that has sent all it wants to and closes its side still gets the
// answers under way.
func TestHalfClose(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		answers := make(chan func(), 10)
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			p := c.Reserve()
			answers <- func() { p.Send([][]byte{buf}, func() { c.Free(buf) }) }
			return nil
		})
		c := ts.dial()
		c.raw(append(frameOf([]byte("one")), frameOf(pattern(1<<20))...))
		c.halfClose()
		first, second := recv(t, answers), recv(t, answers)
		second()
		first()
		c.expect("one")
		if !bytes.Equal(c.receive(), pattern(1<<20)) {
			t.Fatal("the second reply is wrong")
		}
		c.expectEnd()
	})
}

// The same while the session has paused, with a frame not yet looked at.
func TestHalfCloseWhilePaused(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		conns := make(chan Conn, 10)
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			c.Pause()
			conns <- c
			return echo(c, buf)
		})
		c := ts.dial()
		c.raw(append(frameOf([]byte("one")), frameOf([]byte("two"))...))
		c.halfClose()
		for _, want := range []string{"one", "two"} {
			c.expect(want)
			conn := recv(t, conns)
			conn.Execute(conn.Resume)
		}
		c.expectEnd()
	})
}

func TestCloseFlushes(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		body := pattern(6 << 20)
		var released atomic.Int32
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			c.Free(buf)
			for range 3 {
				c.Reserve().Send([][]byte{frameOf(body)}, func() { released.Add(1) })
			}
			c.Close(errors.New("enough"))
			return nil
		})
		c := ts.dial()
		c.raw(bytes.Repeat(frameOf([]byte("x")), 100))
		for range 3 {
			if !bytes.Equal(c.receive(), body) {
				t.Fatal("wrong reply")
			}
		}
		c.expectEnd()
		eventually(t, "all three are released", func() bool { return released.Load() == 3 })
	})
}

// A client that goes on sending after its connection was closed can still read its
// last answers, and is cut off when the linger timeout is over.
func TestLinger(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{LingerTimeout: 500 * time.Millisecond}, func(c Conn, buf []byte) error {
			err := echo(c, buf)
			c.Close(nil)
			return err
		})
		c := ts.dial()
		c.send([]byte("x"))
		eventually(t, "the answer is written", func() bool { return ts.Stats().BytesOut.Load() == 5 })
		for range 20 { // more chances for a reset to arrive before the answer is read
			c.send(pattern(1000))
			time.Sleep(time.Millisecond)
		}
		c.expect("x")
		c.expectEnd()
		eventually(t, "the connection is cut off", func() bool { return ts.Stats().Open.Load() == 0 })
	})
}

// Every release is called once, whether its reply was written, was under way,
// waited its turn, or came after the end.
func TestReleasedOnce(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		var released [4]atomic.Int32
		ready, ended := make(chan Reply, 1), make(chan bool, 1)
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			c.Free(buf)
			send := func(p Reply, i, size int) {
				p.Send([][]byte{make([]byte, size)}, func() { released[i].Add(1) })
			}
			send(c.Reserve(), 0, 10)
			send(c.Reserve(), 1, 64<<20)
			late := c.Reserve()
			send(c.Reserve(), 2, 10)
			ready <- late
			return nil
		})
		c := ts.dial()
		c.send([]byte("x"))
		if _, err := io.ReadFull(c, make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
		late := recv(t, ready)
		go func() {
			for ts.Stats().Open.Load() > 0 {
				time.Sleep(time.Millisecond)
			}
			ended <- true
		}()
		c.Close()
		recv(t, ended)
		late.Send([][]byte{make([]byte, 10)}, func() { released[3].Add(1) })
		for i := range released {
			eventually(t, "the reply is released", func() bool { return released[i].Load() > 0 })
		}
		if err := ts.stop(patience); err != nil {
			t.Fatal(err)
		}
		for i := range released {
			if n := released[i].Load(); n != 1 {
				t.Errorf("reply %d was released %d times", i, n)
			}
		}
	})
}

// Goroutines fill places while their connection ends.
func TestSendWhileEnding(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		var sent, released atomic.Int64
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			p := c.Reserve()
			sent.Add(1)
			go p.Send([][]byte{buf}, func() { released.Add(1); c.Free(buf) })
			return nil
		})
		for range 100 {
			c := ts.dial()
			c.raw(bytes.Repeat(frameOf(pattern(500)), 50))
			c.receive()
			c.Close()
		}
		eventually(t, "all connections are closed", func() bool { return ts.Stats().Closed.Load() == 100 })
		eventually(t, "all replies are released", func() bool { return sent.Load() == released.Load() })
	})
}

func TestPanicEndsOneConnection(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			switch string(buf[4:]) {
			case "panic":
				c.Free(buf)
				panic("as asked")
			case "later":
				c.Free(buf)
				c.Execute(func() { panic("as asked") })
				return nil
			case "twice":
				defer c.Free(buf)
				p := c.Reserve()
				p.Skip()
				p.Skip()
			}
			return echo(c, buf)
		})
		good := ts.dial()
		for i, how := range []string{"panic", "later", "twice"} {
			bad := ts.dial()
			bad.send([]byte(how))
			bad.expectEnd()
			good.send([]byte("still here"))
			good.expect("still here")
			if n := ts.Stats().Panics.Load(); n != uint64(i+1) {
				t.Fatalf("%d panics counted, want %d", n, i+1)
			}
		}
	})
}

func TestExecuteAfterEnd(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		conns := make(chan Conn, 1)
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			conns <- c
			return echo(c, buf)
		})
		c := ts.dial()
		c.send([]byte("x"))
		c.expect("x")
		conn := recv(t, conns)
		if (conn.TLS() != nil) != useTLS || conn.Listener() != "L" || conn.RemoteAddr().String() != c.LocalAddr().String() ||
			conn.LocalAddr().String() != c.RemoteAddr().String() {
			t.Errorf("connection says TLS %v, listener %s, remote %s, local %s", conn.TLS() != nil, conn.Listener(), conn.RemoteAddr(), conn.LocalAddr())
		}
		c.Close()
		eventually(t, "it has ended", func() bool { return ts.Stats().Open.Load() == 0 })
		if conn.Execute(func() { t.Error("ran after the end") }) {
			t.Error("Execute was accepted after the end")
		}
		conn.Close(nil)
		p := conn.Reserve()
		p.Send([][]byte{{1}}, nil)
	})
}

// Stop waits for outstanding replies and for what the client has not taken yet.
func TestStopDrains(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		body := pattern(32 << 20)
		answers := make(chan func(), 1)
		ts := start(t, useTLS, Options{LingerTimeout: 10 * time.Millisecond}, func(c Conn, buf []byte) error {
			c.Free(buf)
			p := c.Reserve()
			answers <- func() { p.Send([][]byte{frameOf(body)}, nil) }
			return nil
		})
		idle := ts.dial()
		c := ts.dial()
		c.send([]byte("x"))
		answer := recv(t, answers)
		stopped := make(chan error, 1)
		go func() { stopped <- ts.stop(patience) }()
		idle.expectEnd()
		if late, err := ts.tryDial(); err == nil {
			late.Close()
			t.Error("a connection was accepted after Stop")
		}
		c.send([]byte("comes too late"))
		answer()
		time.Sleep(2 * tickEvery) // the client is slow, and the linger timeout long over
		select {
		case err := <-stopped:
			t.Fatalf("stopped (%v) with an answer not taken", err)
		default:
		}
		if !bytes.Equal(c.receive(), body) {
			t.Fatal("wrong reply")
		}
		c.expectEnd()
		if err := recv(t, stopped); err != nil {
			t.Fatal(err)
		}
		if ts.Stop(context.Background()) == nil {
			t.Error("stopped twice")
		}
	})
}

// Stop while clients come and go and goroutines fill places; what they touch
// must not be the poller's descriptors any more, which are closed.
func TestStopUnderLoad(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		for range 20 {
			var sent, released atomic.Int64
			ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
				p := c.Reserve()
				sent.Add(1)
				go func() {
					p.Send([][]byte{buf}, func() { released.Add(1); c.Free(buf) })
					c.Execute(func() { c.Resume() })
					c.Close(nil)
				}()
				return nil
			})
			var wg sync.WaitGroup
			for range 4 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for {
						c, err := ts.tryDial()
						if err != nil {
							return
						}
						c.SetDeadline(time.Now().Add(patience))
						c.Write(bytes.Repeat(frameOf([]byte("x")), 20))
						io.Copy(io.Discard, c)
						c.Close()
					}
				}()
			}
			eventually(t, "some have been served", func() bool { return ts.Stats().Closed.Load() >= 4 })
			if err := ts.stop(patience); err != nil {
				t.Fatal(err)
			}
			wg.Wait()
			eventually(t, "all replies are released", func() bool { return sent.Load() == released.Load() })
		}
	})
}

// What is not done when the time is over is cut off.
func TestStopEnds(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		var released atomic.Int32
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			c.Free(buf)
			c.Reserve().Send([][]byte{make([]byte, 64<<20)}, func() { released.Add(1) })
			c.Reserve() // never filled
			return nil
		})
		ts.dial().send([]byte("x"))
		c := ts.dial()
		c.send([]byte("x"))
		io.ReadFull(c, make([]byte, 1))
		if err := ts.stop(200 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		if released.Load() == 0 || ts.Stats().Open.Load() != 0 {
			t.Fatalf("released %d, open %d", released.Load(), ts.Stats().Open.Load())
		}
	})
}

// A port is free at once, though connections of before are in TIME_WAIT.
func TestRestartOnSamePort(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		addr := "127.0.0.1:0"
		for range 5 {
			ts := startAt(t, addr, useTLS, Options{}, echo)
			addr = ts.Addr("L").String()
			c := ts.dial()
			c.send([]byte("x"))
			c.expect("x")
			if err := ts.stop(patience); err != nil {
				t.Fatal(err)
			}
			c.expectEnd()
		}
	})
}

func TestAddressInUse(t *testing.T) {
	ts := start(t, false, Options{}, echo)
	addr := ts.Addr("L").String()
	_, err := Serve(Options{}, Listener{Name: "A", Address: "127.0.0.1:0"}, Listener{Name: "B", Address: addr})
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("listener B: cannot listen on "+addr)) {
		t.Fatalf("got %v", err)
	}
}
