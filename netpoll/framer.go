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
	kept  int64  // of the budget, for rest
	size  int    // of the frame whose head has been read
	claim budgetWaiter
}

// direct is where the next bytes of a large frame belong, to be read into
// without a copy; nil when the shared buffer is better.
func (f *framer) direct() []byte {
	if f.frame == nil || len(f.frame)-f.got < 4096 || len(f.rest) > 0 {
		return nil
	}
	return f.frame[f.got:]
}

// appetite is how many bytes to read where direct has no place for them: as many
// as there are, or, when memory is short, no more than the frame needs next, so
// that nothing is left over that would have to be kept.
func (f *framer) appetite(most int) int {
	switch {
	case !f.c.srv.opt.Budget.short():
		return most
	case f.frame != nil:
		return min(most, len(f.frame)-f.got)
	default:
		return f.headBytes() - f.heads
	}
}

// keep holds back what is left of data.
func (f *framer) keep(left []byte) {
	if len(left) > 0 {
		f.rest = append(f.rest[:0], left...)
		f.account(int64(cap(f.rest)))
	}
}

func (f *framer) account(n int64) {
	if n != f.kept {
		f.c.srv.opt.Budget.kept.Add(n - f.kept)
		f.kept = n
	}
}

// wrote says that n bytes have been read into direct.
func (f *framer) wrote(n int) error {
	f.got += n
	return f.deliver()
}

// feed takes bytes from the socket. What cannot be taken now, because the
// session has paused or memory is short, is kept in rest.
func (f *framer) feed(data []byte) error {
	left, err := f.cut(data)
	f.keep(left)
	return err
}

// again feeds what was kept.
func (f *framer) again() error {
	left, err := f.cut(f.rest)
	f.rest = left
	if len(left) == 0 {
		f.rest = nil // most connections never need it again
		f.account(0)
	}
	return err
}

// cut makes frames of data until it is used up or the connection has to wait,
// and returns what is left.
func (f *framer) cut(data []byte) ([]byte, error) {
	for len(data) > 0 && !f.c.held() {
		var n int
		var err error
		if f.frame == nil {
			n, err = f.takeHead(data)
		} else {
			n = copy(f.frame[f.got:], data)
			f.got += n
			err = f.deliver()
		}
		if err != nil {
			return nil, err
		}
		data = data[n:]
	}
	return data, nil
}

func (f *framer) headBytes() int {
	need := f.c.session.HeadBytes()
	if need < 1 || need > maxHeadBytes {
		panic(fmt.Sprintf("BUG: a head of %d bytes; want 1 to %d", need, maxHeadBytes))
	}
	return need
}

func (f *framer) takeHead(data []byte) (int, error) {
	need := f.headBytes()
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
	if f.c.srv.opt.Budget.take(&f.claim, int64(frameBytes(size))) {
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
	f.c.frameBegins(f.size)
	return f.deliver()
}

// deliver hands the frame over if it is whole.
func (f *framer) deliver() error {
	if f.got < len(f.frame) {
		return nil
	}
	buf := f.frame
	f.frame, f.got = nil, 0
	f.c.frameBy.Store(0)
	return f.c.session.Frame(buf)
}

// drop gives back what a connection that reads no more holds: a frame begun,
// and memory waited for or granted and not yet used.
func (f *framer) drop() {
	f.c.srv.opt.Budget.cancel(&f.claim)
	f.c.starved = false
	if f.frame != nil {
		f.c.Free(f.frame)
		f.frame, f.got = nil, 0
		f.c.frameBy.Store(0)
	}
	f.rest = nil
	f.account(0)
}
