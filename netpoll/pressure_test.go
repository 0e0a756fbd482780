package netpoll

import (
	"io"
	"sync"
	"testing"
	"time"
)

// hold keeps the frames of a test session until they are let go.
type hold struct {
	mu    sync.Mutex
	free  []func()
	hold  bool
	taken chan struct{}
}

func newHold() *hold { return &hold{hold: true, taken: make(chan struct{}, 1)} }

func (h *hold) frame(c Conn, buf []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hold {
		return echo(c, buf)
	}
	p := c.Reserve()
	h.free = append(h.free, func() { p.Send([][]byte{buf}, func() { c.Free(buf) }) })
	select {
	case h.taken <- struct{}{}:
	default:
	}
	return nil
}

func (h *hold) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hold = false
	for _, f := range h.free {
		f()
	}
	h.free = nil
}

// While memory is short, connections that wait for it do not pile up what they
// have read: each would keep a whole read otherwise.
func TestWaitingConnectionsKeepLittle(t *testing.T) {
	const (
		limit   = 1 << 20
		clients = 100
		frames  = 60
	)
	both(t, func(t *testing.T, useTLS bool) {
		h := newHold()
		ts := start(t, useTLS, Options{Budget: NewBudget(limit), Loops: 2}, h.frame)
		big := ts.dial()
		big.send(pattern(limit - 100)) // all of the budget
		recv(t, h.taken)
		var stream []byte
		for range frames {
			stream = append(stream, frameOf(pattern(1000))...)
		}
		var wg sync.WaitGroup
		errs := make(chan error, clients)
		for range clients {
			c := ts.dial()
			wg.Add(2)
			go func() { defer wg.Done(); c.Write(stream) }()
			go func() {
				defer wg.Done()
				if _, err := io.ReadFull(c, make([]byte, len(stream))); err != nil {
					errs <- err
				}
			}()
		}
		budget := ts.opt.Budget
		eventually(t, "all wait", func() bool { return budget.waiting.Load() == clients })
		// Those that read before memory was short may have kept a whole read;
		// a TLS connection has a buffer of its own that is that large.
		most := int64(limit/8 + 2*readBytes)
		if useTLS {
			most = clients * 16 << 10
		}
		if kept := budget.kept.Load(); kept > most {
			t.Errorf("%d bytes are kept, want at most %d", kept, most)
		}
		h.letGo()
		wg.Wait()
		close(errs)
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
		if len(big.receive()) != limit-100 {
			t.Error("wrong reply")
		}
		if kept, waiting := budget.kept.Load(), budget.waiting.Load(); kept != 0 || waiting != 0 {
			t.Errorf("%d bytes kept, %d connections waiting after the end", kept, waiting)
		}
	})
}

// A client that sends a byte now and then holds a frame's memory only as long as
// nobody else needs it.
func TestTricklingFrame(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{Budget: NewBudget(64 << 10), StallTimeout: 200 * time.Millisecond}, echo)
		slow := ts.dial()
		slow.SetDeadline(time.Time{})
		stop := make(chan struct{})
		ended := make(chan struct{})
		slow.raw(frameOf(pattern(60_000))[:100])
		go func() {
			defer close(ended)
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				if _, err := slow.Write([]byte{1}); err != nil {
					return
				}
			}
		}()
		defer func() { close(stop); <-ended }()
		eventually(t, "the frame has begun", func() bool { return ts.opt.Budget.Used() > 0 })
		// Long after the timeout it may still go on, since it hurts nobody.
		eventually(t, "time has passed", func() bool { return ts.Stats().BytesIn.Load() > 140 })
		if ts.Stats().Open.Load() != 1 {
			t.Fatal("a slow client was turned away though there was memory")
		}
		c := ts.dial()
		c.SetDeadline(time.Now().Add(patience / 2))
		c.send(pattern(50_000))
		if got := c.receive(); len(got) != 50_000 {
			t.Errorf("got a reply of %d bytes", len(got))
		}
	})
}
