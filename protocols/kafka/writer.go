package kafka

import (
	"encoding/binary"
	"sync"

	"github.com/spatemq/spate/protocols"
)

// maxPooledBytes is the largest buffer that goes back into a pool.
const maxPooledBytes = 64 << 10

// writer encodes one answer into a pooled buffer. Records are put between
// pieces of it by reference.
type writer struct {
	b    []byte
	refs []reference
	bufs [][]byte

	sess    *session
	after   func() // called when the bytes have been taken; may be nil
	release func() // w.done, bound once
}

// reference says that bufs come after the first at bytes of the writer's own.
type reference struct {
	at   int
	bufs [][]byte
}

var writers sync.Pool

func getWriter(s *session) *writer {
	w, _ := writers.Get().(*writer)
	if w == nil {
		w = &writer{b: make([]byte, 0, 512)}
		w.release = w.done
	}
	w.sess = s
	return w
}

// begin writes the size field, filled in by send, and the response header.
func (w *writer) begin(corrID int32, flexible bool) {
	w.b = append(w.b[:0], 0, 0, 0, 0)
	w.i32(corrID)
	if flexible {
		w.b = append(w.b, 0)
	}
}

// reference puts bufs at the current position. They must stay unchanged until
// after is called.
func (w *writer) reference(bufs [][]byte) {
	if len(bufs) > 0 {
		w.refs = append(w.refs, reference{at: len(w.b), bufs: bufs})
	}
}

// send fills place with what has been written. The writer must not be used
// any more.
func (w *writer) send(place protocols.Reply) {
	size := len(w.b) - 4
	from := 0
	w.bufs = w.bufs[:0]
	for _, r := range w.refs {
		if r.at > from {
			w.bufs = append(w.bufs, w.b[from:r.at:r.at])
		}
		from = r.at
		for _, b := range r.bufs {
			size += len(b)
		}
		w.bufs = append(w.bufs, r.bufs...)
	}
	if from < len(w.b) {
		w.bufs = append(w.bufs, w.b[from:])
	}
	binary.BigEndian.PutUint32(w.b, uint32(size))
	place.Send(w.bufs, w.release)
}

func (w *writer) done() {
	sess, after := w.sess, w.after
	w.sess, w.after = nil, nil
	clear(w.refs)
	clear(w.bufs)
	w.refs = w.refs[:0]
	if cap(w.b) <= maxPooledBytes {
		writers.Put(w)
	}
	if after != nil {
		after()
	}
	sess.wake()
}

func (w *writer) i16(v int16) { w.b = binary.BigEndian.AppendUint16(w.b, uint16(v)) }
func (w *writer) i32(v int32) { w.b = binary.BigEndian.AppendUint32(w.b, uint32(v)) }
func (w *writer) i64(v int64) { w.b = binary.BigEndian.AppendUint64(w.b, uint64(v)) }

func (w *writer) uvarint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

// array writes an array's length.
func (w *writer) array(n int, flexible bool) {
	if flexible {
		w.uvarint(uint64(n) + 1)
	} else {
		w.i32(int32(n))
	}
}

// str writes a string that is not null.
func (w *writer) str(s string, flexible bool) {
	if flexible {
		w.uvarint(uint64(len(s)) + 1)
	} else {
		w.i16(int16(len(s)))
	}
	w.b = append(w.b, s...)
}

// nullStr writes a string, null if it is empty.
func (w *writer) nullStr(s string, flexible bool) {
	switch {
	case s != "":
		w.str(s, flexible)
	case flexible:
		w.uvarint(0)
	default:
		w.i16(-1)
	}
}
