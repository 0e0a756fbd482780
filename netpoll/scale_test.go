package netpoll

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Without descriptors the server keeps serving those it has, and takes new
// clients in when there are some again. It runs in a process of its own, since
// it lowers the limit.
func TestOutOfDescriptors(t *testing.T) {
	if os.Getenv("NETPOLL_FEW_DESCRIPTORS") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOutOfDescriptors$", "-test.v", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), "NETPOLL_FEW_DESCRIPTORS=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{}, echo)
		old := ts.dial()
		check := func(c *client) {
			t.Helper()
			c.send([]byte("x"))
			c.expect("x")
		}
		check(old)
		var before unix.Rlimit
		unix.Getrlimit(unix.RLIMIT_NOFILE, &before)
		t.Cleanup(func() { unix.Setrlimit(unix.RLIMIT_NOFILE, &before) })
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
		var files []*os.File
		for {
			f, err := os.Open("/dev/null")
			if err != nil {
				break
			}
			files = append(files, f)
		}
		// One descriptor for the client's side; the server's side finds none.
		files[0].Close()
		raw, err := net.DialTimeout("tcp", ts.Addr("L").String(), patience)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "accepting fails", func() bool { return ts.Stats().AcceptErrors.Load() > 1 })
		check(old)
		raw.Close()
		for _, f := range files[1:] {
			f.Close()
		}
		check(ts.dial())
		check(old)
	})
}

// Many connections that wait cost little memory each. Both ends are in this
// process, so half of its descriptors are for the clients.
func TestManyConnections(t *testing.T) {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	n := min(10_000, (int(min(lim.Max, 1<<20))-500)/2)
	for _, x := range []struct {
		name string
		tls  bool
		n    int
		most uint64 // bytes of a connection, with the test's client
	}{{"plaintext", false, n, 4 << 10}, {"tls", true, min(n, 500), 128 << 10}} {
		t.Run(x.name, func(t *testing.T) {
			ts := start(t, x.tls, Options{}, echo)
			before := inUse()
			clients := make([]net.Conn, x.n)
			var wg sync.WaitGroup
			errs := make(chan error, x.n)
			for w := range 8 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := w; i < x.n; i += 8 {
						c, err := ts.tryDial()
						if err == nil {
							clients[i] = c
							_, err = c.Write(frameOf([]byte("x")))
						}
						if err == nil {
							c.SetReadDeadline(time.Now().Add(patience))
							_, err = c.Read(make([]byte, 5))
						}
						if err != nil {
							errs <- err
						}
					}
				}()
			}
			wg.Wait()
			close(errs)
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
			each := (inUse() - before) / uint64(x.n)
			t.Logf("%d connections, %d bytes each", x.n, each)
			if each > x.most {
				t.Errorf("a connection takes %d bytes, want at most %d", each, x.most)
			}
			for _, c := range clients {
				c.Close()
			}
			eventually(t, "all are closed", func() bool { return ts.Stats().Open.Load() == 0 })
		})
	}
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

func roundTrip(tb testing.TB, c net.Conn, frame, into []byte) {
	if _, err := c.Write(frame); err != nil {
		tb.Fatal(err)
	}
	for got := 0; got < len(frame); {
		n, err := c.Read(into[got:len(frame)])
		if err != nil {
			tb.Fatal(err)
		}
		got += n
	}
}

// What echo itself allocates: a list of buffers and a closure. The rest is one
// place in the order of replies.
func TestAllocations(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		c := start(t, useTLS, Options{}, echo).dial()
		frame := frameOf(pattern(1000))
		into := make([]byte, len(frame))
		n := testing.AllocsPerRun(2000, func() { roundTrip(t, c, frame, into) })
		t.Logf("%.1f allocations for each frame", n)
		if n > 6 && !raceEnabled {
			t.Errorf("%.1f allocations for each echoed frame, want at most 6", n)
		}
	})
}

func BenchmarkEcho(b *testing.B) {
	srv, err := Serve(Options{}, Listener{Name: "L", Address: "127.0.0.1:0", Session: func(c Conn) Session {
		return &testSession{c: c, frame: echo}
	}})
	if err != nil {
		b.Fatal(err)
	}
	ts := &testServer{Server: srv}
	defer ts.stop(patience)
	c, err := ts.tryDial()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	frame := frameOf(pattern(1000))
	into := make([]byte, len(frame))
	b.ReportAllocs()
	for b.Loop() {
		roundTrip(b, c, frame, into)
	}
}
