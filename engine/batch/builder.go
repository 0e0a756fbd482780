package batch

import "fmt"

// BuilderOptions is what a batch to build has in its header. Zero values are
// not "none": start from NewOptions.
type BuilderOptions struct {
	BaseOffset    int64
	LeaderEpoch   int32
	Codec         Codec
	Level         int // of the codec; DefaultLevel
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32
	Transactional bool
	Control       bool
	// LogAppendTime, if LogAppendTimeSet, becomes the timestamp of all records, in ms.
	LogAppendTime    int64
	LogAppendTimeSet bool
	// DeleteHorizon, if DeleteHorizonSet, is stored as base timestamp, in ms.
	DeleteHorizon    int64
	DeleteHorizonSet bool
}

// NewOptions gives options for a batch without producer, uncompressed.
func NewOptions() BuilderOptions {
	return BuilderOptions{Level: DefaultLevel, ProducerID: NoProducerID,
		ProducerEpoch: NoEpoch, BaseSequence: NoSequence}
}

// Builder makes one batch at a time and keeps its buffers for the next. The
// zero value needs Reset.
type Builder struct {
	o       BuilderOptions
	buf     []byte // header and records, uncompressed
	out     []byte // compressed form
	count   int32
	last    int32 // last offset delta
	baseTS  int64
	maxTS   int64
	lastSet bool
}

// NewBuilder is a Builder that has been Reset with o.
func NewBuilder(o BuilderOptions) *Builder {
	b := new(Builder)
	b.Reset(o)
	return b
}

// Reset starts a new batch, reusing memory: a batch that Finish returned before
// is no longer valid.
func (w *Builder) Reset(o BuilderOptions) {
	if !o.Codec.Valid() {
		panic(fmt.Sprintf("BUG: building a batch with %v", o.Codec))
	}
	buf := w.buf[:0]
	if cap(buf) < HeaderBytes {
		buf = make([]byte, 0, 1<<10)
	}
	*w = Builder{o: o, buf: buf[:HeaderBytes], out: w.out[:0], last: -1, baseTS: NoTimestamp, maxTS: NoTimestamp}
}

// Append adds a record with the next offset. timestamp is in ms; a nil key,
// value or header value is null.
func (w *Builder) Append(timestamp int64, key, value []byte, headers ...Header) {
	n := headersLen(headers)
	w.begin(w.last+1, timestamp, key, value, int32(len(headers)), n)
	for _, h := range headers {
		w.buf = appendVarint(w.buf, int64(len(h.Key)))
		w.buf = append(w.buf, h.Key...)
		w.buf = appendField(w.buf, h.Value)
	}
}

// AppendRecord adds a record read from another batch with its headers. Offset
// deltas must rise; gaps are allowed, as compaction leaves them.
func (w *Builder) AppendRecord(offsetDelta int32, r *Record) {
	w.begin(offsetDelta, r.Timestamp, r.Key, r.Value, r.HeaderCount, len(r.RawHeaders))
	w.buf = append(w.buf, r.RawHeaders...)
}

func (w *Builder) begin(offsetDelta int32, timestamp int64, key, value []byte, headers int32, headerBytes int) {
	if offsetDelta <= w.last {
		panic(fmt.Sprintf("BUG: record with offset delta %d after %d", offsetDelta, w.last))
	}
	if w.count == 0 {
		w.baseTS = timestamp
		if w.o.DeleteHorizonSet {
			w.baseTS = w.o.DeleteHorizon
		}
	}
	w.count++
	w.last = offsetDelta
	w.maxTS = max(w.maxTS, timestamp)
	delta := timestamp - w.baseTS
	size := 1 + varintLen(delta) + varintLen(int64(offsetDelta)) + fieldLen(key) + fieldLen(value) +
		varintLen(int64(headers)) + headerBytes
	w.buf = appendVarint(w.buf, int64(size))
	w.buf = append(w.buf, 0)
	w.buf = appendVarint(w.buf, delta)
	w.buf = appendVarint(w.buf, int64(offsetDelta))
	w.buf = appendField(w.buf, key)
	w.buf = appendField(w.buf, value)
	w.buf = appendVarint(w.buf, int64(headers))
}

// SetLastOffsetDelta makes the batch cover offsets after its last record, as
// compaction must when it has removed the records there. Without records it must
// be called.
func (w *Builder) SetLastOffsetDelta(d int32) {
	if d < w.last {
		panic(fmt.Sprintf("BUG: last offset delta %d before the last record's %d", d, w.last))
	}
	w.last, w.lastSet = d, true
}

// Count is the number of records added.
func (w *Builder) Count() int32 { return w.count }

// Bytes is the uncompressed size so far, header included.
func (w *Builder) Bytes() int { return len(w.buf) }

// Finish compresses the records, fills the header and returns the batch. It is
// valid until Reset. Nothing may be added afterwards.
func (w *Builder) Finish() Batch {
	if w.count == 0 && !w.lastSet {
		panic("BUG: batch without records or last offset delta")
	}
	b := Batch(w.buf)
	if w.o.Codec != None && w.count > 0 {
		w.out = append(w.out[:0], b[:HeaderBytes]...)
		w.out = Compress(w.out, w.o.Codec, w.o.Level, b[HeaderBytes:])
		b = w.out
	}
	w.header(b)
	b.UpdateCRC()
	return b
}

func (w *Builder) header(b Batch) {
	attr := int16(w.o.Codec)
	baseTS, maxTS := w.baseTS, w.maxTS
	if w.o.LogAppendTimeSet {
		attr |= attrLogAppendTime
		maxTS = w.o.LogAppendTime
	}
	if w.o.Transactional {
		attr |= attrTransactional
	}
	if w.o.Control {
		attr |= attrControl
	}
	if w.o.DeleteHorizonSet {
		attr |= attrDeleteHorizon
		baseTS = w.o.DeleteHorizon
	}
	put64(b, posBaseOffset, w.o.BaseOffset)
	put32(b, posLength, int32(len(b)-PrefixBytes))
	put32(b, posLeaderEpoch, w.o.LeaderEpoch)
	b[posMagic] = 2
	put16(b, posAttributes, attr)
	put32(b, posLastOffsetDelta, w.last)
	put64(b, posBaseTimestamp, baseTS)
	put64(b, posMaxTimestamp, maxTS)
	put64(b, posProducerID, w.o.ProducerID)
	put16(b, posProducerEpoch, w.o.ProducerEpoch)
	put32(b, posBaseSequence, w.o.BaseSequence)
	put32(b, posCount, w.count)
}

func headersLen(hs []Header) int {
	n := 0
	for _, h := range hs {
		n += varintLen(int64(len(h.Key))) + len(h.Key) + fieldLen(h.Value)
	}
	return n
}

func fieldLen(b []byte) int {
	if b == nil {
		return 1
	}
	return varintLen(int64(len(b))) + len(b)
}

func appendField(dst, b []byte) []byte {
	if b == nil {
		return appendVarint(dst, -1)
	}
	return append(appendVarint(dst, int64(len(b))), b...)
}
