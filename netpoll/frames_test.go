package netpoll

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestRepliesKeepOrder(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			p := c.Reserve()
			go func() {
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
				if buf[4]%5 == 0 {
					p.Skip()
					c.Free(buf)
					return
				}
				p.Send([][]byte{buf[:4], nil, buf[4:]}, func() { c.Free(buf) })
			}()
			return nil
		})
		c := ts.dial()
		const n = 2000
		go func() {
			var b []byte
			for i := range n {
				b = append(b, frameOf([]byte{byte(i), byte(i >> 8)})...)
			}
			c.Write(b)
		}()
		for i := range n {
			if byte(i)%5 != 0 {
				c.expect(string([]byte{byte(i), byte(i >> 8)}))
			}
		}
	})
}

func TestFrameSizes(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{}, echo)
		c := ts.dial()
		for _, n := range []int{0, 1, 507, 508, 509, 4095, 4096, readBytes - 5, readBytes - 4, readBytes - 3, 3*readBytes + 17, 1 << 20, 4<<20 - 4, 4<<20 - 3, 8 << 20} {
			body := pattern(n)
			go c.Write(frameOf(body))
			if got := c.receive(); !bytes.Equal(got, body) {
				t.Fatalf("a frame of %d bytes came back as %d other bytes", n, len(got))
			}
		}
	})
}

// Frames that begin and end anywhere in what the socket hands over.
func TestFramesStraddleReads(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		ts := start(t, useTLS, Options{}, echo)
		c := ts.dial()
		r := rand.New(rand.NewPCG(1, 2))
		var all []byte
		var sizes []int
		for range 300 {
			n := 1 + r.IntN(1<<r.IntN(18))
			sizes = append(sizes, n)
			all = append(all, frameOf(pattern(n))...)
		}
		go func() {
			for b := all; len(b) > 0; {
				n := min(len(b), 1+r.IntN(1<<r.IntN(17)))
				c.Write(b[:n])
				b = b[n:]
			}
		}()
		for _, n := range sizes {
			if got := c.receive(); !bytes.Equal(got, pattern(n)) {
				t.Fatalf("a frame of %d bytes came back as %d other bytes", n, len(got))
			}
		}
	})
}

func TestHeadByteByByte(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		c := start(t, useTLS, Options{}, echo).dial()
		for range 3 {
			for _, b := range frameOf([]byte("xyz")) {
				c.raw([]byte{b})
			}
			c.expect("xyz")
		}
	})
}

// Urgent data is data in its place.
func TestUrgentByte(t *testing.T) {
	c := start(t, false, Options{}, echo).dial()
	frame := frameOf([]byte("xyz"))
	c.raw(frame[:5])
	raw, err := c.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Write(func(fd uintptr) bool {
		err = unix.Sendto(int(fd), frame[5:6], unix.MSG_OOB, nil)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	c.raw(frame[6:])
	c.expect("xyz")
}

// Each frame pauses; a goroutine resumes by Execute. Every third resumes at once,
// within Frame.
func TestPauseAndResume(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		paused := false // on the loop
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			if paused {
				return errors.New("a frame came while the session had paused")
			}
			c.Pause()
			p := c.Reserve()
			answer := func() { p.Send([][]byte{buf}, func() { c.Free(buf) }) }
			if buf[4]%3 == 0 {
				c.Resume()
				answer()
				return nil
			}
			paused = true
			go func() {
				answer()
				c.Execute(func() { paused = false; c.Resume() })
			}()
			return nil
		})
		c := ts.dial()
		go func() {
			var b []byte
			for i := range 3000 {
				b = append(b, frameOf([]byte(fmt.Sprintf("%c%d", i%256, i)))...)
			}
			c.Write(b)
		}()
		for i := range 3000 {
			c.expect(fmt.Sprintf("%c%d", i%256, i))
		}
	})
}

func TestBadFrameCloses(t *testing.T) {
	size := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	both(t, func(t *testing.T, useTLS bool) {
		for name, bad := range map[string][]byte{
			"garbage": []byte("GET / HTTP/1.1\r\n\r\n"), "2 GiB": size(1<<31 - 1), "-1": size(1<<32 - 1), "too large": size(maxTestFrame + 1),
		} {
			t.Run(name, func(t *testing.T) {
				c := start(t, useTLS, Options{}, echo).dial()
				c.raw(append(frameOf([]byte("good")), append(bad, pattern(1_000_000)...)...))
				c.expect("good")
				c.expectEnd()
			})
		}
	})
}

// A frame's error closes after the replies before it, even unfilled ones.
func TestFrameErrorFlushes(t *testing.T) {
	both(t, func(t *testing.T, useTLS bool) {
		late := make(chan func(), 1)
		ts := start(t, useTLS, Options{}, func(c Conn, buf []byte) error {
			if string(buf[4:]) == "bad" {
				c.Free(buf)
				return errors.New("bad")
			}
			p := c.Reserve()
			late <- func() { p.Send([][]byte{buf}, func() { c.Free(buf) }) }
			return nil
		})
		c := ts.dial()
		c.send([]byte("good"))
		answer := recv(t, late)
		c.send([]byte("bad"))
		c.send([]byte("never looked at"))
		answer()
		c.expect("good")
		c.expectEnd()
	})
}
