package netpoll

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// noWire is the wire of a framer that is fed by hand.
type noWire struct{}

func (noWire) post(func()) bool { return true }
func (noWire) flushSoon()       {}
func (noWire) listen(bool)      {}
func (noWire) shut()            {}
func (noWire) linger()          {}

// shortSession has frames of a 2-byte length, so that a fuzzer finds whole ones.
type shortSession struct {
	testSession
	frames []byte // all that came, joined
	pause  func() bool
}

func (s *shortSession) HeadBytes() int { return 2 }

func (s *shortSession) FrameBytes(head []byte) (int, error) {
	return int(binary.BigEndian.Uint16(head)), nil // less than 2 is netpoll's to refuse
}

func (s *shortSession) Frame(buf []byte) error {
	s.frames = append(s.frames, buf...)
	s.c.Free(buf)
	if s.pause() {
		s.c.Pause()
	}
	return nil
}

// However a stream is cut into reads and wherever the session pauses, its frames
// are its bytes in order, and no memory is left over.
func FuzzFramer(f *testing.F) {
	f.Add([]byte{0, 3, 'a', 0, 2, 0, 5, 'x', 'y', 'z', 0}, []byte{1, 2, 1, 4})
	f.Add([]byte{0, 0, 1}, []byte{})
	f.Add(append([]byte{0x20, 0}, make([]byte, 9000)...), []byte{255, 255, 7})
	f.Fuzz(func(t *testing.T, stream, cuts []byte) {
		o := Options{}
		o.defaults()
		srv := &Server{opt: o}
		c := &conn{}
		srv.prepare(c, &listener{}, noWire{}, nil, nil)
		i := 0
		next := func() byte {
			if i++; i > len(cuts) {
				return 200
			}
			return cuts[i-1]
		}
		s := &shortSession{testSession: testSession{c: c}, pause: func() bool { return next()%2 == 1 }}
		c.session = s
		var err error
		for left := stream; len(left) > 0 && err == nil; {
			n := min(len(left), 1+int(next())*8)
			if dst := c.framer.direct(); dst != nil {
				n = copy(dst, left[:n])
				err = c.framer.wrote(n)
			} else {
				err = c.framer.feed(bytes.Clone(left[:n]))
			}
			left = left[n:]
			for c.paused && err == nil {
				c.paused = false
				err = c.framer.again()
			}
		}
		if want := wholeFrames(stream); !bytes.Equal(s.frames, want) {
			t.Fatalf("%d bytes came as frames, want %d", len(s.frames), len(want))
		}
		c.framer.drop()
		if used := o.Budget.Used(); used != 0 {
			t.Fatalf("%d bytes are left over", used)
		}
	})
}

// wholeFrames is the part of a stream that is whole frames, up to a bad one.
func wholeFrames(stream []byte) []byte {
	n := 0
	for len(stream)-n >= 2 {
		size := int(binary.BigEndian.Uint16(stream[n:]))
		if size < 2 || size > len(stream)-n {
			break
		}
		n += size
	}
	return stream[:n]
}
