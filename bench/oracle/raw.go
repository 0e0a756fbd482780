package oracle

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const rawShownBytes = 6

// raw sends a frame built by hand:
//
//	raw {bytes: hex{of: ff}}                                      exactly these bytes
//	raw {key: 99, version: 0, correlation: 7, client: x, body: hex{of: 00}, size: 5}   size: instead of the right one
//
// What comes back is shown as hexadecimal, the correlation id and the next two bytes of it: the rest has to
// do with other things than the frame.
func (x *run) raw(st *stmt) error {
	o, ok := st.body.(*object)
	if !ok {
		return errors.New("raw {…} expected")
	}
	frame, err := x.rawFrame(o)
	if err != nil {
		return err
	}
	var s step
	if err := s.options(x.scope, st.args); err != nil {
		return err
	}
	c, err := x.conn(st.conn)
	if err != nil {
		return err
	}
	failure := c.writeRaw(frame)
	if s.noreply && failure == nil {
		return nil
	}
	b := Block{Title: st.conn + " raw", Line: st.line}
	answer, err := c.read(answerTimeout)
	if err == nil {
		err = failure
	}
	if err != nil {
		x.drop(st.conn)
		b.Lines = append(b.Lines, Line{"connection", err.Error()})
	} else {
		n := min(len(answer), rawShownBytes)
		b.Lines = append(b.Lines, Line{"answer", fmt.Sprintf("%x", answer[:n])})
	}
	x.out = append(x.out, b)
	return nil
}

func (x *run) rawFrame(o *object) ([]byte, error) {
	if err := knownFields(o, []string{"bytes", "key", "version", "correlation", "client", "tags", "body", "size"}); err != nil {
		return nil, err
	}
	if v, ok := o.get("bytes"); ok {
		return x.scope.bytes(v)
	}
	var ints [4]int64
	for i, name := range []string{"key", "version", "correlation", "size"} {
		n, err := x.scope.int(o, name, []int64{0, 0, 1, -1}[i])
		if err != nil {
			return nil, err
		}
		ints[i] = n
	}
	out := binary.BigEndian.AppendUint16(nil, uint16(ints[0]))
	out = binary.BigEndian.AppendUint16(out, uint16(ints[1]))
	out = binary.BigEndian.AppendUint32(out, uint32(ints[2]))
	client, err := x.scope.str(o, "client", "null")
	if err != nil {
		return nil, err
	}
	if client == "null" {
		out = append(out, 0xff, 0xff)
	} else {
		out = binary.BigEndian.AppendUint16(out, uint16(len(client)))
		out = append(out, client...)
	}
	for _, name := range []string{"tags", "body"} {
		v, ok := o.get(name)
		if !ok {
			continue
		}
		b, err := x.scope.bytes(v)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	size := ints[3]
	if _, ok := o.get("size"); !ok {
		size = int64(len(out))
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(size)), out...), nil
}
