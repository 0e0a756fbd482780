package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/protocols"
)

const (
	// maxProducesInFlight is far more than Java's clients send (5) and enough
	// for librdkafka, which has no limit of its own, to fill the log's groups.
	maxProducesInFlight = 256
	// maxProduceBytesInFlight bounds what one connection holds in memory; a
	// single request may be larger.
	maxProduceBytesInFlight = 16 << 20
)

// session is one connection. Requests are served as Kafka does it, strictly in
// order: one begins when all before it have been answered. Only Produce
// requests that follow each other overlap, since appending keeps their order
// and the reply queue that of the answers.
//
// A frame that may not begin yet is held, and reading is paused meanwhile. So
// one connection holds at most the produces in work, one other request, and one
// frame.
type session struct {
	srv  *Server
	conn protocols.Conn

	// Used on the loop only.
	client string // last client id, so that it is not allocated for each request
	serial *turn  // of the request in work that is not Produce
	held   []byte // frame that may not begin yet
	fetch  *fetch // of this connection, nil before the first
	paused bool

	// Used on any goroutine.
	produces     atomic.Int32 // in work
	produceBytes atomic.Int64
	waiting      atomic.Bool // something waits for advance
	ended        atomic.Bool // closed or being closed

	advanceFunc func() // s.advance, bound once
}

func newSession(srv *Server, c protocols.Conn) *session {
	s := &session{srv: srv, conn: c}
	s.advanceFunc = s.advance
	return s
}

// HeadBytes is the size field.
func (s *session) HeadBytes() int { return 4 }

// minFrameBytes is the shortest request: key, version and correlation id.
const minFrameBytes = 8

// FrameBytes checks a request's size. HTTP and TLS look like sizes of more than
// 300 MB, but say so more helpfully.
func (s *session) FrameBytes(head []byte) (int, error) {
	size := int(int32(binary.BigEndian.Uint32(head)))
	if size >= minFrameBytes && size <= s.srv.limits.frameBytes {
		return 4 + size, nil
	}
	switch {
	case head[0] == 0x16 && head[1] == 3:
		return 0, errors.New("TLS on a plaintext Kafka listener")
	case string(head) == "GET " || string(head) == "POST" || string(head) == "HEAD":
		return 0, errors.New("HTTP on a Kafka listener")
	}
	return 0, fmt.Errorf("request of %d bytes; want %d to socket.request.max.bytes, which is %d",
		size, minFrameBytes, s.srv.limits.frameBytes)
}

// Frame takes one request.
func (s *session) Frame(buf []byte) error {
	if s.ended.Load() || s.held != nil {
		s.conn.Free(buf)
		return errEnded
	}
	f, err := s.parse(buf)
	if err != nil {
		s.conn.Free(buf)
		return err
	}
	if s.mayBegin(&f) {
		if err = s.begin(f); err != nil {
			s.ended.Store(true)
		}
		return err
	}
	s.held = buf
	s.pause()
	return nil
}

var errEnded = errors.New("connection has ended")

// Closed ends the session.
func (s *session) Closed() {
	s.ended.Store(true)
	if s.held != nil {
		s.conn.Free(s.held)
		s.held = nil
	}
	if s.fetch != nil {
		s.fetch.closed()
	}
}

// close ends the connection after the answers before. Any goroutine.
func (s *session) close(err error) {
	if !s.ended.Swap(true) {
		s.conn.Close(err)
	}
}

func (s *session) parse(buf []byte) (frame, error) {
	f, err := parseFrame(buf)
	if err == nil && f.api.key != keyProduce && len(buf) > 4+s.srv.limits.requestBytes {
		err = fmt.Errorf("request of %d bytes with API key %d; want at most %d", len(buf), f.api.key, s.srv.limits.requestBytes)
	}
	return f, err
}

// mayBegin tells whether the order of requests and the connection's limits
// allow a request to begin.
func (s *session) mayBegin(f *frame) bool {
	if s.serial != nil || s.conn.Unsent() > s.srv.limits.unsentBytes {
		return false
	}
	if f.api.key != keyProduce {
		return s.produces.Load() == 0
	}
	return s.produces.Load() < int32(s.srv.limits.produces) && s.produceBytes.Load() < s.srv.limits.produceBytes
}

// begin starts a request that may begin.
func (s *session) begin(f frame) error {
	if string(f.client) != s.client {
		s.client = string(f.client)
	}
	if f.api.frame != nil {
		return f.api.frame(s, f)
	}
	return s.handle(f)
}

// handle decodes a request with kmsg and calls its handler.
func (s *session) handle(f frame) error {
	kreq := kmsg.RequestForKey(f.api.key)
	version := f.version
	if f.unsupported {
		version, f.body = 0, nil
	}
	kreq.SetVersion(version)
	// kmsg's byte slices refer to what they are read from, and handlers may keep
	// them.
	body := bytes.Clone(f.body)
	s.conn.Free(f.buf)
	if err := kreq.ReadFrom(body); err != nil && !f.unsupported {
		return fmt.Errorf("%w: API key %d version %d: %w", errMalformed, f.api.key, f.version, err)
	}
	r := s.newRequest(f)
	r.kreq, r.version, r.unsupported = kreq, version, f.unsupported
	f.api.handle(r)
	s.handled(&r.turn)
	return nil
}

func (s *session) newRequest(f frame) *request {
	return &request{key: f.api.key, version: f.version, corrID: f.corrID, client: s.client,
		conn: s.conn, srv: s.srv, sess: s, place: s.conn.Reserve()}
}

// handled is called when the handler of a request that is not Produce has
// returned.
func (s *session) handled(t *turn) {
	if t.returned() {
		s.serial = t
		s.pause()
	}
}

// pause stops reading until advance finds that it may go on.
func (s *session) pause() {
	if !s.paused {
		s.paused = true
		s.conn.Pause()
	}
	s.waiting.Store(true)
	if s.ready() {
		s.wake()
	}
}

// ready tells whether advance has something to do, for the case that it became
// so just before waiting was set.
func (s *session) ready() bool {
	if s.serial != nil && !s.serial.over() {
		return false
	}
	return s.conn.Unsent() <= s.srv.limits.unsentBytes
}

// wake makes advance run on the loop if anything waits for it. Any goroutine.
func (s *session) wake() {
	if s.waiting.Load() {
		s.conn.Execute(s.advanceFunc)
	}
}

// advance goes on with what had to wait.
func (s *session) advance() {
	if s.serial != nil && s.serial.over() {
		s.serial = nil
	}
	if s.ended.Load() || !s.paused || s.serial != nil {
		return
	}
	if s.held != nil && !s.beginHeld() {
		return
	}
	if s.serial == nil && s.held == nil {
		s.waiting.Store(false)
		s.paused = false
		s.conn.Resume()
	}
}

// beginHeld starts the held request; false if it still may not begin.
func (s *session) beginHeld() bool {
	f, err := s.parse(s.held)
	if err == nil {
		if !s.mayBegin(&f) {
			return false
		}
		s.held = nil
		err = s.begin(f)
	}
	if err != nil {
		s.close(err)
	}
	return true
}
