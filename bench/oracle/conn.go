package oracle

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// answerTimeout is how long an answer may take; no scenario asks for a longer wait.
const answerTimeout = 15 * time.Second

// maxAnswerBytes is more than any scenario's answer has.
const maxAnswerBytes = 64 << 20

var (
	errClosed = errors.New("closed") // by the broker
	errSilent = errors.New("silent") // no answer in answerTimeout
)

// conn is one connection to a broker.
type conn struct {
	c       net.Conn
	r       *bufio.Reader
	corr    int32
	pending []*sent // not yet answered, oldest first
}

// sent is a request whose answer is due.
type sent struct {
	stmt    *stmt
	step    step
	corr    int32
	at      time.Time
	failure error // of the send itself
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, r: bufio.NewReader(c)}, nil
}

// write sends one frame; the size goes before it.
func (c *conn) write(frame []byte) error {
	out := binary.BigEndian.AppendUint32(make([]byte, 0, len(frame)+4), uint32(len(frame)))
	return c.writeRaw(append(out, frame...))
}

func (c *conn) writeRaw(b []byte) error {
	if err := c.c.SetWriteDeadline(time.Now().Add(answerTimeout)); err != nil {
		return err
	}
	_, err := c.c.Write(b)
	return outcome(err)
}

// read gives the next frame without its size, or errClosed, or errSilent.
func (c *conn) read(timeout time.Duration) ([]byte, error) {
	if err := c.c.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(c.r, size[:]); err != nil {
		return nil, outcome(err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxAnswerBytes {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(c.r, frame)
	return frame, outcome(err)
}

func outcome(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSilent
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errClosed
	}
	return err
}
