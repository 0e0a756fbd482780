package kafka

import "encoding/binary"

// reader decodes request fields from a frame without copying. After the first
// field that does not fit, bad is set and everything reads as zero.
type reader struct {
	b        []byte
	bad      bool
	flexible bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) i8() int8 {
	if p := r.take(1); p != nil {
		return int8(p[0])
	}
	return 0
}

func (r *reader) i16() int16 {
	if p := r.take(2); p != nil {
		return int16(binary.BigEndian.Uint16(p))
	}
	return 0
}

func (r *reader) i32() int32 {
	if p := r.take(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

func (r *reader) i64() int64 {
	if p := r.take(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

// uvarint reads an unsigned varint of at most 5 bytes.
func (r *reader) uvarint() uint32 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 5 || v > 1<<32-1 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return uint32(v)
}

// length reads a compact or a wide length; -1 is null.
func (r *reader) length() int {
	if r.flexible {
		return int(r.uvarint()) - 1
	}
	return int(r.i32())
}

// array reads an array's length, which is bounded by the bytes left since an
// element takes at least one; null is 0.
func (r *reader) array() int {
	n := r.length()
	if n > len(r.b) || n < -1 {
		r.bad, r.b = true, nil
	}
	if r.bad {
		return 0
	}
	return max(n, 0)
}

// nullStr reads a string; nil is null.
func (r *reader) nullStr() []byte {
	if r.flexible {
		return r.sized(r.length())
	}
	return r.sized(int(r.i16()))
}

// str reads a string that may not be null.
func (r *reader) str() []byte {
	p := r.nullStr()
	if p == nil {
		r.bad, r.b = true, nil
	}
	return p
}

// nullBytes reads bytes; nil is null.
func (r *reader) nullBytes() []byte { return r.sized(r.length()) }

func (r *reader) sized(n int) []byte {
	if r.bad || n == -1 {
		return nil
	}
	if n == 0 {
		return []byte{}
	}
	return r.take(n)
}

func (r *reader) uuid() (id [16]byte) {
	copy(id[:], r.take(16))
	return id
}

// tags skips tagged fields, if the version has them.
func (r *reader) tags() {
	if r.flexible {
		r.eachTag(func(uint32, []byte) {})
	}
}

// eachTag hands over tagged fields, each tag's bytes whole.
func (r *reader) eachTag(f func(tag uint32, value []byte)) {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		tag := r.uvarint()
		value := r.take(int(r.uvarint()))
		if !r.bad {
			f(tag, value)
		}
	}
}
