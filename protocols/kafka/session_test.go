package kafka

import (
	"encoding/binary"
	"log/slog"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/spatemq/spate/engine/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testConfig(t testing.TB, set ...string) *config.Broker {
	c, err := config.NewBroker(config.Input{Set: set, Hostname: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bareServer is a server without an engine, for what does not need one.
func bareServer(t testing.TB, set ...string) *Server {
	return New(Options{Config: testConfig(t, set...), Log: slog.New(slog.DiscardHandler)})
}

func encode(req kmsg.Request, version int16, corrID int32) []byte {
	req.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("tester")).AppendRequest(nil, req, corrID)
}

func apiVersions(corrID int32) []byte {
	r := kmsg.NewPtrApiVersionsRequest()
	r.ClientSoftwareName, r.ClientSoftwareVersion = "test", "1.0"
	return encode(r, 3, corrID)
}

// stub replaces the handler of an API key for a test.
func stub(t *testing.T, key int16, h handlerFunc, f frameFunc) {
	was := apis[key]
	t.Cleanup(func() { apis[key] = was })
	a := *was
	a.handle, a.frame = h, f
	apis[key] = &a
}

func TestRequestsOfOneConnectionAreServedInTurn(t *testing.T) {
	started := make(chan *request, 10)
	stub(t, keyApiVersions, func(r *request) { started <- r }, nil)
	c := newMemConn(t, bareServer(t))
	for id := int32(1); id <= 3; id++ {
		c.receive(apiVersions(id))
	}
	for id := int32(1); id <= 3; id++ {
		r := <-started
		c.settle()
		if len(started) > 0 {
			t.Fatal("a request began before the one before it was answered")
		}
		if r.corrID != id || r.client != "tester" {
			t.Fatalf("request %d of client %q began, want %d", r.corrID, r.client, id)
		}
		go r.reply(kmsg.NewPtrApiVersionsResponse())
		if got, _ := c.next(); got != id {
			t.Fatalf("answer to %d, want %d", got, id)
		}
	}
}

// fakeProduce has a Produce request in work until it is told to answer.
type fakeProduce struct {
	s *session
	f frame
	w func()
}

func stubProduce(t *testing.T, started chan *fakeProduce) {
	stub(t, keyProduce, nil, func(s *session, f frame) error {
		place := s.conn.Reserve()
		s.produces.Add(1)
		s.produceBytes.Add(int64(len(f.buf)))
		p := &fakeProduce{s: s, f: f}
		p.w = func() {
			w := getWriter(s)
			w.begin(f.corrID, true)
			w.send(place)
			s.conn.Free(f.buf)
			s.produceBytes.Add(-int64(len(f.buf)))
			s.produces.Add(-1)
			s.wake()
		}
		started <- p
		return nil
	})
}

func produceFrame(corrID int32) []byte {
	r := kmsg.NewPtrProduceRequest()
	r.Acks = 1
	return encode(r, 9, corrID)
}

func TestProducesOverlapAndOthersWait(t *testing.T) {
	produces := make(chan *fakeProduce, 10)
	stubProduce(t, produces)
	c := newMemConn(t, newBroker(t).Server)
	c.receive(produceFrame(1))
	c.receive(produceFrame(2))
	c.receive(apiVersions(3))
	c.receive(produceFrame(4))
	first, second := <-produces, <-produces
	c.settle()
	if len(produces) > 0 || len(c.sent) > 0 {
		t.Fatal("a request passed one that had to wait")
	}
	second.w()
	c.settle()
	if len(c.sent) > 0 {
		t.Fatal("an answer passed an earlier one")
	}
	first.w()
	for want := int32(1); want <= 3; want++ {
		if got, _ := c.next(); got != want {
			t.Fatalf("answer to %d, want %d", got, want)
		}
	}
	(<-produces).w()
	if got, _ := c.next(); got != 4 {
		t.Fatalf("answer to %d, want 4", got)
	}
	if n := c.live.Load(); n != 0 {
		t.Fatalf("%d frames were not freed", n)
	}
}

func TestProducesInFlightAreBounded(t *testing.T) {
	produces := make(chan *fakeProduce, 1000)
	stubProduce(t, produces)
	c := newMemConn(t, bareServer(t))
	const all = maxProducesInFlight + 50
	for id := range int32(all) {
		c.receive(produceFrame(id))
	}
	c.settle()
	if n := len(produces); n != maxProducesInFlight {
		t.Fatalf("%d produces in work, want %d", n, maxProducesInFlight)
	}
	for id := range int32(all) {
		(<-produces).w()
		if got, _ := c.next(); got != id {
			t.Fatalf("answer to %d, want %d", got, id)
		}
	}
}

func TestClientThatDoesNotReadIsNotServed(t *testing.T) {
	started := make(chan *request, 10)
	stub(t, keyApiVersions, func(r *request) {
		started <- r
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.SupportedFeatures = []kmsg.ApiVersionsResponseSupportedFeature{{Name: strings.Repeat("x", 100_000)}}
		r.reply(resp)
	}, nil)
	c := newMemConn(t, bareServer(t, "spate.connection.unsent.bytes=150000"))
	c.holdBack(true)
	for id := range int32(5) {
		c.receive(apiVersions(id))
	}
	c.settle()
	if n := len(started); n != 2 {
		t.Fatalf("%d requests served while 150000 bytes may be unsent, want 2", n)
	}
	c.holdBack(false)
	for want := range int32(5) {
		if got, _ := c.next(); got != want {
			t.Fatalf("answer to %d, want %d", got, want)
		}
	}
}

func TestBadFramesCloseTheConnection(t *testing.T) {
	head := func(key, version int16, rest ...byte) []byte {
		b := []byte{0, 0, 0, 0}
		b = binary.BigEndian.AppendUint16(b, uint16(key))
		b = binary.BigEndian.AppendUint16(b, uint16(version))
		b = append(append(b, 0, 0, 0, 7), rest...)
		binary.BigEndian.PutUint32(b, uint32(len(b)-4))
		return b
	}
	for name, bad := range map[string]struct {
		frame []byte
		want  string
	}{
		"negative size":         {[]byte{0xff, 0xff, 0xff, 0xff}, "request of -1 bytes"},
		"empty":                 {[]byte{0, 0, 0, 0}, "request of 0 bytes"},
		"two gigabytes":         {[]byte{0x7f, 0xff, 0xff, 0xff}, "request of 2147483647 bytes"},
		"above the limit":       {[]byte{0x06, 0x40, 0, 1}, "request of 104857601 bytes"},
		"HTTP":                  {[]byte("GET / HTTP/1.1\r\n"), "HTTP"},
		"TLS":                   {[]byte{0x16, 3, 1, 2, 0}, "TLS"},
		"unknown key":           {head(9999, 0, 0xff, 0xff), "not served"},
		"negative key":          {head(-1, 0, 0xff, 0xff), "not served"},
		"key not served":        {head(4, 0, 0xff, 0xff), "not served"},
		"version not served":    {head(3, 99, 0xff, 0xff), "not served"},
		"negative version":      {head(3, -1, 0xff, 0xff), "not served"},
		"no client id":          {head(3, 1), "malformed"},
		"client id too long":    {head(3, 1, 0x7f, 0xff, 'x'), "malformed"},
		"cut tags":              {head(3, 9, 0xff, 0xff, 1), "malformed"},
		"cut body":              {head(3, 1, 0xff, 0xff, 0, 0, 0, 9), "malformed"},
		"huge array":            {head(3, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff), "malformed"},
		"produce version 2":     {head(0, 2, 0xff, 0xff, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0), "not served"},
		"produce cut":           {head(0, 9, 0xff, 0xff, 0, 0, 0), "malformed"},
		"fetch cut":             {head(1, 12, 0xff, 0xff, 0, 0, 0), "malformed"},
		"api versions, no name": {head(18, 3, 0xff, 0xff, 0, 0), "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newMemConn(t, bareServer(t))
			c.receive(bad.frame)
			if err := c.ended(); !strings.Contains(err.Error(), bad.want) {
				t.Fatalf("closed with %q, want %q", err, bad.want)
			}
			if n := c.live.Load(); n != 0 {
				t.Fatalf("%d frames were not freed", n)
			}
		})
	}
}

func TestHeldFrameIsFreedAtTheEnd(t *testing.T) {
	started := make(chan *request, 1)
	stub(t, keyApiVersions, func(r *request) { started <- r }, nil)
	produces := make(chan *fakeProduce, 10)
	stubProduce(t, produces)
	c := newMemConn(t, bareServer(t))
	c.receive(produceFrame(1))
	c.receive(apiVersions(2))
	p := <-produces
	c.settle()
	c.Close(nil)
	<-c.done
	p.w()
	if n := c.live.Load(); n != 0 {
		t.Fatalf("%d frames were not freed", n)
	}
}

// FuzzFrame feeds the session bytes that parse as some request; nothing may
// panic, and what is not understood closes the connection.
func FuzzFrame(f *testing.F) {
	for key := range int16(maxKey) {
		a := apis[key]
		if a == nil || key == keyProduce || key == keyFetch {
			continue
		}
		for v := a.min; v <= a.max; v++ {
			f.Add(encode(kmsg.RequestForKey(key), v, 1)[4:])
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fr, err := parseFrame(append(make([]byte, 4), body...))
		if err != nil || fr.api.frame != nil || fr.unsupported {
			return
		}
		kreq := kmsg.RequestForKey(fr.api.key)
		kreq.SetVersion(fr.version)
		if kreq.ReadFrom(fr.body) == nil {
			kreq.AppendTo(nil)
		}
	})
}

// FuzzSession feeds a whole broker frames of which only the size is right. None
// may bring it down, keep its frame, or be answered twice.
func FuzzSession(f *testing.F) {
	for key := range int16(maxKey) {
		if a := apis[key]; a != nil {
			for v := max(a.min, 3); v <= a.max; v++ {
				f.Add(encode(kmsg.RequestForKey(key), v, 1)[4:])
			}
		}
	}
	b := newBroker(f, "auto.create.topics.enable=false", "spate.max.partitions=1000")
	b.topic("t", 1)
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) < minFrameBytes {
			return
		}
		c := newMemConn(t, b.Server)
		c.receive(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
		c.settle()
		c.Close(nil)
		<-c.done
	})
}
