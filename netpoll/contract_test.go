package netpoll

import "testing"

// A session that always has something more to execute does not keep its loop
// from the other connections.
func TestExecuteIsFair(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{Loops: 1}, func(c Conn, buf []byte) error {
			if string(buf[4:]) != "spin" {
				return echo(c, buf)
			}
			c.Free(buf)
			var again func()
			again = func() { c.Execute(again) }
			again()
			return nil
		})
		spinning, c := ts.dial(), ts.dial()
		spinning.send([]byte("spin"))
		for range 3 {
			c.send([]byte("and me"))
			c.expect("and me")
		}
		spinning.Close()
		eventually(t, "the spinning connection has ended", func() bool { return ts.Stats().Open.Load() == 1 })
	})
}

// A panic in a release callback ends its connection, not the process.
func TestPanicInRelease(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		released := make(chan struct{})
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			if string(buf[4:]) != "panic" {
				return echo(c, buf)
			}
			c.Free(buf)
			first, second := c.Reserve(), c.Reserve()
			second.Send([][]byte{frameOf([]byte("two"))}, func() { close(released) })
			first.Send([][]byte{frameOf([]byte("one"))}, func() { panic("in release") })
			return nil
		})
		good, bad := ts.dial(), ts.dial()
		bad.send([]byte("panic"))
		recv(t, released)
		eventually(t, "the connection is closed", func() bool { return ts.Stats().Open.Load() == 1 })
		if n := ts.Stats().Panics.Load(); n != 1 {
			t.Errorf("%d panics counted, want 1", n)
		}
		good.send([]byte("still here"))
		good.expect("still here")
	})
}
