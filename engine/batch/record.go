package batch

// raw is one record's structure: positions within the buffer it was parsed from.
type raw struct {
	tsDelta     int64
	offsetDelta int32
	key, value  span
	headers     int // where the header list starts, after its count
	headerCount int32
	end         int
	attributes  int8
}

// span is a stretch of the buffer; n < 0 is null.
type span struct{ at, n int }

func (s span) of(b []byte) []byte {
	if s.n < 0 {
		return nil
	}
	return b[s.at : s.at+s.n : s.at+s.n]
}

// Reasons why a record is malformed.
const (
	badTruncated = "record is cut off"
	badLength    = "record length does not fit the batch"
	badVarint    = "record has a malformed varint"
	badField     = "record field is longer than the record"
	badHeaders   = "record has an impossible number of headers"
	badHeaderKey = "record header has a null key"
	badSize      = "record length does not match its fields"
)

// parse reads the record at b[pos:]. It returns a reason, or "" if the record is
// well-formed down to its last header. r is valid only then.
func (r *raw) parse(b []byte, pos int) (bad string) {
	length, n := varint32(b[pos:])
	if n == 0 {
		return badTruncated
	}
	pos += n
	if length < 1 || int(length) > len(b)-pos {
		return badLength
	}
	// From here on b ends with the record, so that no field can leave it.
	r.end = pos + int(length)
	b = b[:r.end]
	r.attributes = int8(b[pos])
	pos++
	if r.tsDelta, n = varint64(b[pos:]); n == 0 {
		return badVarint
	}
	pos += n
	if r.offsetDelta, n = varint32(b[pos:]); n == 0 {
		return badVarint
	}
	pos += n
	if r.key, pos, bad = field(b, pos); bad != "" {
		return bad
	}
	if r.value, pos, bad = field(b, pos); bad != "" {
		return bad
	}
	if r.headerCount, n = varint32(b[pos:]); n == 0 {
		return badVarint
	}
	pos += n
	r.headers = pos
	if r.headerCount != 0 {
		if pos, bad = skipHeaders(b, pos, r.headerCount); bad != "" {
			return bad
		}
	}
	if pos != r.end {
		return badSize
	}
	return ""
}

func field(b []byte, pos int) (s span, next int, bad string) {
	length, n := varint32(b[pos:])
	if n == 0 {
		return s, 0, badVarint
	}
	pos += n
	if length < 0 {
		return span{pos, -1}, pos, ""
	}
	if int(length) > len(b)-pos {
		return s, 0, badField
	}
	return span{pos, int(length)}, pos + int(length), ""
}

func skipHeaders(b []byte, pos int, count int32) (next int, bad string) {
	// A header takes at least two bytes.
	if count < 0 || int(count) > (len(b)-pos)/2 {
		return 0, badHeaders
	}
	var s span
	for ; count > 0; count-- {
		if s, pos, bad = field(b, pos); bad != "" {
			return 0, bad
		}
		if s.n < 0 {
			return 0, badHeaderKey
		}
		if _, pos, bad = field(b, pos); bad != "" {
			return 0, bad
		}
	}
	return pos, ""
}

// Header is one record header. Value is nil if null.
type Header struct {
	Key   []byte
	Value []byte
}

// Record is one record of a batch. Its slices are read-only and share memory
// with the batch or, if that is compressed, with the Iterator.
type Record struct {
	Offset      int64
	OffsetDelta int32 // to the batch's base offset
	Timestamp   int64 // ms; -1: none
	Key         []byte
	Value       []byte // nil: null, a tombstone on compacted topics
	HeaderCount int32
	// RawHeaders is the header list as encoded, without its count.
	RawHeaders []byte
	// Raw is the whole record as encoded, with its length.
	Raw []byte
}

// AppendHeaders appends the record's headers to dst.
func (r *Record) AppendHeaders(dst []Header) []Header {
	pos := 0
	for range r.HeaderCount {
		var k, v span
		k, pos, _ = field(r.RawHeaders, pos) // checked when the record was parsed
		v, pos, _ = field(r.RawHeaders, pos)
		dst = append(dst, Header{k.of(r.RawHeaders), v.of(r.RawHeaders)})
	}
	return dst
}

// Header returns the value of the last header named key, as Kafka clients do.
func (r *Record) Header(key string) (value []byte, ok bool) {
	pos := 0
	for range r.HeaderCount {
		var k, v span
		k, pos, _ = field(r.RawHeaders, pos)
		v, pos, _ = field(r.RawHeaders, pos)
		if string(k.of(r.RawHeaders)) == key {
			value, ok = v.of(r.RawHeaders), true
		}
	}
	return value, ok
}
