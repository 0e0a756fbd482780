package batch

import "sync"

// DefaultMaxDecompressedBytes bounds what the records of one compressed batch
// may decompress to: 128 MiB, more than a hundred times the default
// max.message.bytes.
const DefaultMaxDecompressedBytes = 128 << 20

// Iterator reads the records of one batch in order. Close it when done.
//
//	it := batch.Records(b)
//	defer it.Close()
//	for it.Next(&rec) { ... }
//	return it.Err()
type Iterator struct {
	b     Batch
	data  []byte // records, decompressed
	buf   *[]byte
	pos   int
	left  int32
	err   error
	fixed bool // LogAppendTime: every timestamp is maxTimestamp
}

var iterators = sync.Pool{New: func() any { return new(Iterator) }}

// Records starts reading b's records, decompressing at most
// DefaultMaxDecompressedBytes. The CRC is not checked. Uncompressed records are
// read in place, so b must not change until Close.
func Records(b Batch) *Iterator { return RecordsLimit(b, DefaultMaxDecompressedBytes) }

// RecordsLimit is Records with another cap on the decompressed size in bytes.
func RecordsLimit(b Batch, maxBytes int) *Iterator {
	it := iterators.Get().(*Iterator)
	*it = Iterator{b: b, left: b.Count(), fixed: b.TimestampType()}
	it.data, it.buf, it.err = payload(b, maxBytes)
	return it
}

// payload gives b's records in uncompressed form. If buf is not nil, data lie in
// it and it must be given back with putBuf.
func payload(b Batch, maxBytes int) (data []byte, buf *[]byte, err error) {
	if b.Codec() == None {
		return b[HeaderBytes:], nil, nil
	}
	buf = getBuf()
	out, err := Decompress((*buf)[:0], b.Codec(), b[HeaderBytes:], maxBytes)
	*buf = out
	if err != nil {
		putBuf(buf)
		return nil, nil, err
	}
	return out, buf, nil
}

// Next reads the next record into r; false at the end or on an error, which Err
// tells. r's slices are valid until Close.
func (it *Iterator) Next(r *Record) bool {
	if it.err != nil {
		return false
	}
	if it.left <= 0 {
		if it.pos != len(it.data) {
			it.err = errf(InvalidRecord, "%d bytes remain after the last of %d records", len(it.data)-it.pos, it.b.Count())
		}
		return false
	}
	var p raw
	if bad := p.parse(it.data, it.pos); bad != "" {
		it.err = errf(InvalidRecord, "record %d of %d: %s", it.b.Count()-it.left, it.b.Count(), bad)
		return false
	}
	r.OffsetDelta = p.offsetDelta
	r.Offset = it.b.BaseOffset() + int64(p.offsetDelta)
	r.Timestamp = it.b.BaseTimestamp() + p.tsDelta
	if it.fixed {
		r.Timestamp = it.b.MaxTimestamp()
	}
	r.Key, r.Value = p.key.of(it.data), p.value.of(it.data)
	r.HeaderCount = p.headerCount
	r.RawHeaders = it.data[p.headers:p.end:p.end]
	r.Raw = it.data[it.pos:p.end:p.end]
	it.pos = p.end
	it.left--
	return true
}

// Err is why Next ended early: an *Error, or nil.
func (it *Iterator) Err() error { return it.err }

// Close ends reading. Slices of records that came from a compressed batch are
// no longer valid. The Iterator must not be used afterwards.
func (it *Iterator) Close() {
	if it.buf != nil {
		putBuf(it.buf)
	}
	*it = Iterator{}
	iterators.Put(it)
}
