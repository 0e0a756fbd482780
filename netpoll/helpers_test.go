package netpoll

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait of a test.
const patience = 10 * time.Second

const maxTestFrame = 16 << 20

// testSession serves frames of a big-endian length (of what follows) and a body.
type testSession struct {
	c      Conn
	frame  func(c Conn, buf []byte) error
	closed func()
}

func (s *testSession) HeadBytes() int { return 4 }

func (s *testSession) FrameBytes(head []byte) (int, error) {
	n := int(int32(binary.BigEndian.Uint32(head)))
	if n < 0 || n > maxTestFrame {
		return 0, fmt.Errorf("frame of %d bytes", n)
	}
	return 4 + n, nil
}

func (s *testSession) Frame(buf []byte) error { return s.frame(s.c, buf) }

func (s *testSession) Closed() {
	if s.closed != nil {
		s.closed()
	}
}

// echo answers each frame with itself and frees it when it has been written.
func echo(c Conn, buf []byte) error {
	c.Reserve().Send([][]byte{buf[:4], buf[4:]}, func() { c.Free(buf) })
	return nil
}

// testServer is a server with one listener.
type testServer struct {
	*Server
	t      *testing.T
	tls    bool
	mu     sync.Mutex
	closed int
}

// start serves frame, in plaintext or TLS; the server is stopped at the test's
// end, and must then have no frame memory in use.
func start(t *testing.T, useTLS bool, o Options, frame func(Conn, []byte) error) *testServer {
	return startAt(t, "127.0.0.1:0", useTLS, o, frame)
}

func startAt(t *testing.T, addr string, useTLS bool, o Options, frame func(Conn, []byte) error) *testServer {
	t.Helper()
	ts := &testServer{t: t, tls: useTLS}
	l := Listener{Name: "L", Address: addr, Session: func(c Conn) Session {
		return &testSession{c: c, frame: frame, closed: func() {
			ts.mu.Lock()
			ts.closed++
			ts.mu.Unlock()
		}}
	}}
	if useTLS {
		l.TLS = &tls.Config{Certificates: []tls.Certificate{certificate()}}
	}
	srv, err := Serve(o, l)
	if err != nil {
		t.Fatal(err)
	}
	ts.Server = srv
	t.Cleanup(func() {
		if !srv.stopping.Load() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel() // now
			srv.Stop(ctx)
		}
		if n := srv.opt.Budget.Used(); n != 0 && !t.Failed() {
			t.Errorf("%d bytes of frame memory are in use after the end", n)
		}
		st := srv.Stats()
		if st.Open.Load() != 0 || st.Accepted.Load() != st.Closed.Load() {
			t.Errorf("open %d, accepted %d, closed %d after the end", st.Open.Load(), st.Accepted.Load(), st.Closed.Load())
		}
	})
	return ts
}

func (ts *testServer) closedSessions() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.closed
}

// client is a connection's other end.
type client struct {
	net.Conn
	t *testing.T
}

func (ts *testServer) dial() *client {
	ts.t.Helper()
	c, err := ts.tryDial()
	if err != nil {
		ts.t.Fatal(err)
	}
	ts.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return &client{c, ts.t}
}

func (ts *testServer) tryDial() (net.Conn, error) {
	if ts.tls {
		d := &net.Dialer{Timeout: patience}
		return tls.DialWithDialer(d, "tcp", ts.Addr("L").String(), &tls.Config{RootCAs: roots(), ServerName: "localhost"})
	}
	return net.DialTimeout("tcp", ts.Addr("L").String(), patience)
}

func frameOf(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func (c *client) send(body []byte) {
	c.t.Helper()
	c.raw(frameOf(body))
}

func (c *client) raw(b []byte) {
	c.t.Helper()
	if _, err := c.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() []byte {
	c.t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		c.t.Fatalf("reading a reply's head: %v", err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c, body); err != nil {
		c.t.Fatalf("reading a reply's body: %v", err)
	}
	return body
}

func (c *client) expect(want string) {
	c.t.Helper()
	if got := c.receive(); string(got) != want {
		c.t.Fatalf("got reply %.60q, want %.60q", got, want)
	}
}

// expectEnd reads to the end of the stream, which must come without a further
// byte.
func (c *client) expectEnd() {
	c.t.Helper()
	n, err := c.Read(make([]byte, 1))
	var timeout net.Error
	if n != 0 || err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		c.t.Fatalf("read %d bytes, error %v; want the end of the connection", n, err)
	}
}

// halfClose ends what the client sends.
func (c *client) halfClose() {
	c.t.Helper()
	if err := c.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		c.t.Fatal(err)
	}
}

// eventually waits for a condition that has no channel.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so after %s: %s", patience, what)
		}
	}
}

func recv[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// both runs a test on plaintext and on TLS.
func both(t *testing.T, fn func(t *testing.T, useTLS bool)) {
	t.Run("plaintext", func(t *testing.T) { fn(t, false) })
	t.Run("tls", func(t *testing.T) { fn(t, true) })
}

func pattern(n int) []byte {
	return bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxy"), n/35+1)[:n]
}

var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	x := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, x, x, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

func roots() *x509.CertPool {
	c, err := x509.ParseCertificate(certificate().Certificate[0])
	if err != nil {
		panic(err)
	}
	p := x509.NewCertPool()
	p.AddCert(c)
	return p
}
