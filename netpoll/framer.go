package netpoll

import (
	"errors"
	"fmt"
)

const maxHeadBytes = 64

var errFrame = errors.New("bad frame")

// framer cuts a stream of bytes into frames. It has no socket of its own.
type framer struct {
	c     *conn
	head  [maxHeadBytes]byte
	heads int    // bytes in head
	frame []byte // being filled, nil between frames
	got   int    // bytes in frame
	rest  []byte // bytes read and not yet looked at, while paused
	size  int    // of a frame that waits for memory
}

// direct is where the next bytes of a large frame belong, to be read into
// without a copy; nil when the shared buffer is better.
func (f *framer) direct() []byte {
	if f.frame == nil || len(f.frame)-f.got < 4096 || len(f.rest) > 0 {
		return nil
	}
	return f.frame[f.got:]
}

// wrote says that n bytes have been read into direct.
func (f *framer) wrote(n int) error {
	f.got += n
	return f.deliver()
}

// feed takes bytes from the socket. What cannot be taken now, because the
// session has paused or memory is short, is kept in rest.
func (f *framer) feed(data []byte) error {
	for len(data) > 0 && !f.c.held() {
		if f.frame == nil {
			n, err := f.takeHead(data)
			if err != nil {
				return err
			}
			data = data[n:]
			continue
		}
		n := copy(f.frame[f.got:], data)
		f.got += n
		data = data[n:]
		if err := f.deliver(); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		f.rest = append(f.rest[:0], data...)
	}
	return nil
}

// again feeds what was kept.
func (f *framer) again() error {
	if len(f.rest) == 0 {
		return nil
	}
	data := f.rest
	f.rest = nil
	return f.feed(data)
}

func (f *framer) takeHead(data []byte) (int, error) {
	need := f.c.session.HeadBytes()
	n := copy(f.head[f.heads:need], data)
	f.heads += n
	if f.heads < need {
		return n, nil
	}
	size, err := f.c.session.FrameBytes(f.head[:need])
	if err != nil {
		return n, err
	}
	if size < need {
		return n, fmt.Errorf("%w: %d bytes with a head of %d", errFrame, size, need)
	}
	f.size = size
	if f.c.srv.opt.Budget.take(int64(frameBytes(size)), f.c.granted) {
		return n, f.begin()
	}
	f.c.starved = true
	return n, nil
}

// begin starts a frame for which memory is reserved.
func (f *framer) begin() error {
	f.frame = getFrame(f.size)
	f.got = copy(f.frame, f.head[:f.heads])
	f.heads = 0
	return f.deliver()
}

// deliver hands the frame over if it is whole.
func (f *framer) deliver() error {
	if f.got < len(f.frame) {
		return nil
	}
	buf := f.frame
	f.frame, f.got = nil, 0
	return f.c.session.Frame(buf)
}

// drop gives back what an ended connection holds.
func (f *framer) drop() {
	if f.frame != nil {
		f.c.Free(f.frame)
		f.frame = nil
	}
	f.rest = nil
}
