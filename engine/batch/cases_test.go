package batch

import (
	"bytes"
	"encoding/binary"
	"math"
)

// produceCase is one records field to be produced, good or bad. The same cases
// go through Validate here and were sent to a real Kafka, whose answers are in
// testdata/kafka-answers.txt (see oracle_test.go).
type produceCase struct {
	name    string
	topic   string // a key of casePolicies
	version int16  // of the Produce request; 0 means 9
	records func(now int64) []byte
}

// casePolicies are the topics that the cases are produced to, as settings of
// Kafka and as the Policy they amount to.
var casePolicies = map[string]struct {
	configs map[string]string
	policy  func(*Policy)
}{
	"plain":   {nil, func(*Policy) {}},
	"compact": {map[string]string{"cleanup.policy": "compact"}, func(p *Policy) { p.Compacted = true }},
	"appendtime": {map[string]string{"message.timestamp.type": "LogAppendTime"},
		func(p *Policy) { p.LogAppendTime = true }},
	"gzip":         {map[string]string{"compression.type": "gzip"}, func(p *Policy) { p.Codec = Gzip }},
	"zstd":         {map[string]string{"compression.type": "zstd"}, func(p *Policy) { p.Codec = Zstd }},
	"uncompressed": {map[string]string{"compression.type": "uncompressed"}, func(p *Policy) { p.Codec = None }},
	"small":        {map[string]string{"max.message.bytes": "200"}, func(p *Policy) { p.MaxBytes = 200 }},
	"smallraw": {map[string]string{"max.message.bytes": "200", "compression.type": "uncompressed"},
		func(p *Policy) { p.MaxBytes, p.Codec = 200, None }},
	"before": {map[string]string{"message.timestamp.before.max.ms": "60000"},
		func(p *Policy) { p.TimestampBeforeMaxMs = 60000 }},
	"compactbefore": {map[string]string{"cleanup.policy": "compact", "message.timestamp.before.max.ms": "60000"},
		func(p *Policy) { p.Compacted, p.TimestampBeforeMaxMs = true, 60000 }},
}

// rec is a record to be encoded field by field, right or wrong.
type rec struct {
	ts, off  int64
	key, val []byte
	tail     []byte // instead of the header count 0
	lenAdd   int64  // added to the true length
	raw      []byte // instead of everything
}

func (r rec) encode(dst []byte) []byte {
	if r.raw != nil {
		return append(dst, r.raw...)
	}
	body := []byte{0}
	body = appendVarint(body, r.ts)
	body = appendVarint(body, r.off)
	body = appendField(body, r.key)
	body = appendField(body, r.val)
	if r.tail == nil {
		body = append(body, 0)
	}
	body = append(body, r.tail...)
	return append(appendVarint(dst, int64(len(body))+r.lenAdd), body...)
}

func encodeAll(rs []rec) (out []byte) {
	for _, r := range rs {
		out = r.encode(out)
	}
	return out
}

// forge makes a batch whose header is right for rs, then lets edit spoil it and
// sets the length and the CRC if they were right before.
func forge(now int64, c Codec, rs []rec, edit func(b Batch)) Batch {
	o := NewOptions()
	w := NewBuilder(o)
	w.SetLastOffsetDelta(int32(len(rs) - 1))
	b := Batch(append([]byte(nil), w.Finish()...))
	b = append(b, Compress(nil, c, DefaultLevel, encodeAll(rs))...)
	return finishForged(b, now, c, rs, edit)
}

// forgePayload is forge with given bytes in place of the compressed records.
func forgePayload(now int64, c Codec, rs []rec, payload []byte) Batch {
	b := forge(now, None, nil, nil)
	return finishForged(append(b[:HeaderBytes:HeaderBytes], payload...), now, c, rs, nil)
}

func finishForged(b Batch, now int64, c Codec, rs []rec, edit func(b Batch)) Batch {
	maxTS := int64(0)
	for _, r := range rs {
		maxTS = max(maxTS, r.ts)
	}
	put32(b, posLength, int32(len(b)-PrefixBytes))
	put16(b, posAttributes, int16(c))
	put32(b, posLastOffsetDelta, int32(len(rs)-1))
	put64(b, posBaseTimestamp, now)
	put64(b, posMaxTimestamp, now+maxTS)
	put32(b, posCount, int32(len(rs)))
	if edit != nil {
		edit(b)
	}
	b.UpdateCRC()
	return b
}

func three() []rec {
	return []rec{
		{0, 0, []byte("a"), []byte("one"), nil, 0, nil},
		{1, 1, []byte("b"), []byte("two"), nil, 0, nil},
		{2, 2, []byte("c"), nil, nil, 0, nil},
	}
}

func edited(c Codec, edit func(b Batch)) func(int64) []byte {
	return func(now int64) []byte { return forge(now, c, three(), edit) }
}

func records(c Codec, change func(rs []rec)) func(int64) []byte {
	return func(now int64) []byte {
		rs := three()
		change(rs)
		return forge(now, c, rs, nil)
	}
}

// onBytes spoils the finished batch without repairing the CRC.
func onBytes(change func(b []byte) []byte) func(int64) []byte {
	return func(now int64) []byte { return change(forge(now, None, three(), nil)) }
}

func payloadCase(c Codec, change func(z []byte) []byte) func(int64) []byte {
	return func(now int64) []byte {
		return forgePayload(now, c, three(), change(Compress(nil, c, DefaultLevel, encodeAll(three()))))
	}
}

func attr(bits byte) func(b Batch) { return func(b Batch) { b[posAttributes+1] |= bits } }

var produceCases = []produceCase{
	{"good", "plain", 0, edited(None, nil)},
	{"good gzip", "plain", 0, edited(Gzip, nil)},
	{"good snappy", "plain", 0, edited(Snappy, nil)},
	{"good lz4", "plain", 0, edited(LZ4, nil)},
	{"good zstd", "plain", 0, edited(Zstd, nil)},
	{"empty records field", "plain", 0, func(int64) []byte { return []byte{} }},
	{"11 bytes", "plain", 0, onBytes(func(b []byte) []byte { return b[:11] })},
	{"16 bytes", "plain", 0, onBytes(func(b []byte) []byte { return b[:16] })},
	{"cut off by one byte", "plain", 0, onBytes(func(b []byte) []byte { return b[:len(b)-1] })},
	{"length field negative", "plain", 0, onBytes(func(b []byte) []byte { put32(b, posLength, -1); return b })},
	{"length field 13", "plain", 0, onBytes(func(b []byte) []byte { put32(b, posLength, 13); return b })},
	{"length field 48", "plain", 0, onBytes(func(b []byte) []byte { put32(b, posLength, 48); return b })},
	{"length field 20 and nothing more", "plain", 0, onBytes(func(b []byte) []byte { put32(b, posLength, 20); return b[:32] })},
	{"length field huge", "plain", 0, onBytes(func(b []byte) []byte { put32(b, posLength, math.MaxInt32); return b })},
	{"header only, count 0", "plain", 0, func(now int64) []byte { return forge(now, None, nil, nil) }},
	{"two batches", "plain", 0, onBytes(func(b []byte) []byte { return append(b, b...) })},
	{"trailing bytes", "plain", 0, onBytes(func(b []byte) []byte { return append(b, 1, 2, 3) })},
	{"trailing 17 zero bytes", "plain", 0, onBytes(func(b []byte) []byte { return append(b, make([]byte, 17)...) })},
	{"magic 0", "plain", 0, onBytes(func(b []byte) []byte { b[posMagic] = 0; return b })},
	{"magic 1", "plain", 0, onBytes(func(b []byte) []byte { b[posMagic] = 1; return b })},
	{"magic 3", "plain", 0, onBytes(func(b []byte) []byte { b[posMagic] = 3; return b })},
	{"magic -1", "plain", 0, onBytes(func(b []byte) []byte { b[posMagic] = 0xff; return b })},
	{"real message set of magic 1", "plain", 0, func(now int64) []byte { return messageV1(now) }},
	{"crc wrong", "plain", 0, onBytes(func(b []byte) []byte { b[posCRC]++; return b })},
	{"crc zero", "plain", 0, onBytes(func(b []byte) []byte { put32(b, posCRC, 0); return b })},
	{"last byte flipped", "plain", 0, onBytes(func(b []byte) []byte { b[len(b)-1] ^= 1; return b })},
	{"crc wrong and too large", "small", 0, onBytes(func(b []byte) []byte {
		b = append(b, make([]byte, 200)...)
		put32(b, posLength, int32(len(b)-PrefixBytes))
		return b
	})},
	{"leader epoch set", "plain", 0, edited(None, func(b Batch) { b.SetLeaderEpoch(7) })},
	{"base offset 1", "plain", 0, edited(None, func(b Batch) { b.SetBaseOffset(1) })},
	{"base offset -1", "plain", 0, edited(None, func(b Batch) { b.SetBaseOffset(-1) })},
	{"base offset 5 gzip", "plain", 0, edited(Gzip, func(b Batch) { b.SetBaseOffset(5) })},
	{"control", "plain", 0, edited(None, attr(attrControl))},
	{"delete horizon bit", "plain", 0, edited(None, attr(attrDeleteHorizon))},
	{"unused attribute bits", "plain", 0, edited(None, func(b Batch) { b[posAttributes] = 0x7f; b[posAttributes+1] |= 0x80 })},
	{"transactional without producer", "plain", 0, edited(None, attr(attrTransactional))},
	{"codec 5", "plain", 0, edited(None, attr(5))},
	{"codec 7", "plain", 0, edited(None, attr(7))},
	{"zstd in produce 6", "plain", 6, edited(Zstd, nil)},
	{"zstd in produce 7", "plain", 7, edited(Zstd, nil)},
	{"uncompressed batch in produce 3", "plain", 3, edited(None, nil)},
	{"count 0", "plain", 0, edited(None, func(b Batch) { put32(b, posCount, 0) })},
	{"count -1", "plain", 0, edited(None, func(b Batch) { put32(b, posCount, -1) })},
	{"count 2 of 3", "plain", 0, edited(None, func(b Batch) { put32(b, posCount, 2) })},
	{"count and last delta 2 of 3", "plain", 0, edited(None, func(b Batch) { put32(b, posCount, 2); put32(b, posLastOffsetDelta, 1) })},
	{"count and last delta 4 of 3", "plain", 0, edited(None, func(b Batch) { put32(b, posCount, 4); put32(b, posLastOffsetDelta, 3) })},
	{"count and last delta 2 of 3 gzip", "plain", 0, edited(Gzip, func(b Batch) { put32(b, posCount, 2); put32(b, posLastOffsetDelta, 1) })},
	{"count and last delta 4 of 3 gzip", "plain", 0, edited(Gzip, func(b Batch) { put32(b, posCount, 4); put32(b, posLastOffsetDelta, 3) })},
	{"count and last delta 2 of 3 lz4", "plain", 0, edited(LZ4, func(b Batch) { put32(b, posCount, 2); put32(b, posLastOffsetDelta, 1) })},
	{"last delta -1", "plain", 0, edited(None, func(b Batch) { put32(b, posLastOffsetDelta, -1) })},
	{"last delta huge", "plain", 0, edited(None, func(b Batch) { put32(b, posLastOffsetDelta, math.MaxInt32); put32(b, posCount, math.MaxInt32) })},
	{"producer without sequence", "plain", 0, edited(None, func(b Batch) { put64(b, posProducerID, 777); put16(b, posProducerEpoch, 0) })},
	{"producer with sequence", "plain", 0, edited(None, func(b Batch) {
		put64(b, posProducerID, 778)
		put16(b, posProducerEpoch, 0)
		put32(b, posBaseSequence, 0)
	})},
	{"producer with sequence and no epoch", "plain", 0, edited(None, func(b Batch) {
		put64(b, posProducerID, 779)
		put32(b, posBaseSequence, 0)
	})},
	{"producer -2", "plain", 0, edited(None, func(b Batch) { put64(b, posProducerID, -2) })},
	{"producer -2 with sequence", "plain", 0, edited(None, func(b Batch) {
		put64(b, posProducerID, -2)
		put32(b, posBaseSequence, 0)
	})},
	{"sequence without producer", "plain", 0, edited(None, func(b Batch) { put32(b, posBaseSequence, 5) })},
	{"max timestamp too low", "plain", 0, edited(None, func(b Batch) { put64(b, posMaxTimestamp, b.BaseTimestamp()) })},
	{"max timestamp too high", "plain", 0, edited(None, func(b Batch) { put64(b, posMaxTimestamp, math.MaxInt64) })},
	{"max timestamp too high gzip", "plain", 0, edited(Gzip, func(b Batch) { put64(b, posMaxTimestamp, math.MaxInt64) })},
	{"max timestamp -1", "plain", 0, edited(None, func(b Batch) { put64(b, posMaxTimestamp, -1) })},
	{"no timestamps", "plain", 0, func(now int64) []byte {
		return forge(-1, None, []rec{{val: []byte("x")}}, nil)
	}},
	{"timestamp -2", "plain", 0, func(now int64) []byte { return forge(-2, None, []rec{{val: []byte("x")}}, nil) }},
	{"timestamp 0", "plain", 0, func(now int64) []byte { return forge(0, None, []rec{{val: []byte("x")}}, nil) }},
	{"two hours ahead", "plain", 0, func(now int64) []byte { return forge(now+7200000, None, three(), nil) }},
	{"one of three two hours ahead", "plain", 0, records(None, func(rs []rec) { rs[1].ts = 7200000 })},
	{"one of three two hours ahead lz4", "plain", 0, records(LZ4, func(rs []rec) { rs[1].ts = 7200000 })},
	{"two minutes ago", "before", 0, records(None, func(rs []rec) { rs[0].ts = -120000 })},
	{"two minutes ago zstd", "before", 0, records(Zstd, func(rs []rec) { rs[0].ts = -120000 })},
	{"no timestamps on bounded topic", "before", 0, func(now int64) []byte {
		return forge(-1, None, []rec{{val: []byte("x")}}, nil)
	}},
	{"two hours ahead on append time topic", "appendtime", 0, func(now int64) []byte { return forge(now+7200000, None, three(), nil) }},
	{"append time topic", "appendtime", 0, edited(None, nil)},
	{"append time topic gzip", "appendtime", 0, edited(Gzip, nil)},
	{"append time bit", "plain", 0, edited(None, attr(attrLogAppendTime))},
	{"append time bit gzip", "plain", 0, edited(Gzip, attr(attrLogAppendTime))},
	{"append time bit and no max timestamp", "plain", 0, edited(None, func(b Batch) { attr(attrLogAppendTime)(b); put64(b, posMaxTimestamp, -1) })},
	{"append time bit and max timestamp two hours ahead", "plain", 0, edited(None, func(b Batch) {
		attr(attrLogAppendTime)(b)
		put64(b, posMaxTimestamp, b.MaxTimestamp()+7200000)
	})},
	{"append time bit on append time topic", "appendtime", 0, edited(None, attr(attrLogAppendTime))},
	{"append time bit on append time topic gzip", "appendtime", 0, edited(Gzip, attr(attrLogAppendTime))},
	{"null key on compacted topic", "compact", 0, records(None, func(rs []rec) { rs[1].key = nil })},
	{"null keys on compacted topic zstd", "compact", 0, records(Zstd, func(rs []rec) { rs[0].key, rs[2].key = nil, nil })},
	{"empty key on compacted topic", "compact", 0, records(None, func(rs []rec) { rs[1].key = []byte{} })},
	{"five null keys on compacted topic", "compact", 0, func(now int64) []byte {
		rs := append(three(), rec{off: 3}, rec{off: 4}, rec{off: 5}, rec{off: 6}, rec{off: 7})
		return forge(now, None, rs, nil)
	}},
	{"null key and bad timestamps on compacted topic", "compactbefore", 0, records(None, func(rs []rec) {
		rs[1].key, rs[1].ts, rs[2].ts = nil, -120000, -120000
	})},
	{"null value", "plain", 0, records(None, func(rs []rec) { rs[0].val, rs[0].key = nil, nil })},
	{"inner offsets 0 2 1", "plain", 0, records(None, func(rs []rec) { rs[1].off, rs[2].off = 2, 1 })},
	{"inner offsets all 0", "plain", 0, records(None, func(rs []rec) { rs[1].off, rs[2].off = 0, 0 })},
	{"inner offsets 5 6 7", "plain", 0, records(None, func(rs []rec) { rs[0].off, rs[1].off, rs[2].off = 5, 6, 7 })},
	{"inner offsets all 0 gzip", "plain", 0, records(Gzip, func(rs []rec) { rs[1].off, rs[2].off = 0, 0 })},
	{"inner offsets 5 6 7 zstd", "plain", 0, records(Zstd, func(rs []rec) { rs[0].off, rs[1].off, rs[2].off = 5, 6, 7 })},
	{"record length 0", "plain", 0, records(None, func(rs []rec) { rs[1].raw = []byte{0} })},
	{"record length negative", "plain", 0, records(None, func(rs []rec) { rs[1].raw = []byte{1} })},
	{"record length one too many", "plain", 0, records(None, func(rs []rec) { rs[1].lenAdd = 1 })},
	{"record length one too few", "plain", 0, records(None, func(rs []rec) { rs[1].lenAdd = -1 })},
	{"record length one too few gzip", "plain", 0, records(Gzip, func(rs []rec) { rs[1].lenAdd = -1 })},
	{"last record length one too many", "plain", 0, records(None, func(rs []rec) { rs[2].lenAdd = 1 })},
	{"last record length one too many gzip", "plain", 0, records(Gzip, func(rs []rec) { rs[2].lenAdd = 1 })},
	{"record length varint of 6 bytes", "plain", 0, records(None, func(rs []rec) { rs[0].raw = bytes.Repeat([]byte{0x80}, 6) })},
	{"key length beyond record", "plain", 0, records(None, func(rs []rec) { rs[0].raw = []byte{14, 0, 0, 0, 100, 1, 1, 1} })},
	{"key length beyond record gzip", "plain", 0, records(Gzip, func(rs []rec) { rs[0].raw = []byte{14, 0, 0, 0, 100, 1, 1, 1} })},
	{"key length -2", "plain", 0, records(None, func(rs []rec) { rs[0].raw = []byte{12, 0, 0, 0, 3, 1, 0} })},
	{"header count negative", "plain", 0, records(None, func(rs []rec) { rs[0].tail = []byte{1} })},
	{"header count 100", "plain", 0, records(None, func(rs []rec) { rs[0].tail = appendVarint(nil, 100) })},
	{"header count too few", "plain", 0, records(None, func(rs []rec) { rs[0].tail = []byte{2, 2, 'k', 2, 'v', 2, 'k', 2, 'v'} })},
	{"header key null", "plain", 0, records(None, func(rs []rec) { rs[0].tail = []byte{2, 1, 2, 'v'} })},
	{"header key null gzip", "plain", 0, records(Gzip, func(rs []rec) { rs[0].tail = []byte{2, 1, 2, 'v'} })},
	{"header key empty", "plain", 0, records(None, func(rs []rec) { rs[0].tail = []byte{2, 0, 2, 'v'} })},
	{"header key not UTF-8", "plain", 0, records(None, func(rs []rec) { rs[0].tail = []byte{2, 2, 0xff, 2, 'v'} })},
	{"header value null", "plain", 0, records(None, func(rs []rec) { rs[0].tail = []byte{2, 2, 'k', 1} })},
	{"record attributes set", "plain", 0, records(None, func(rs []rec) { rs[0].raw = []byte{14, 7, 0, 0, 0, 2, 'v', 0} })},
	{"bytes after the last record", "plain", 0, func(now int64) []byte {
		rs := append(three(), rec{raw: []byte{1, 2, 3}})
		return forge(now, None, rs, func(b Batch) { put32(b, posCount, 3); put32(b, posLastOffsetDelta, 2) })
	}},
	{"zero bytes after the last record gzip", "plain", 0, func(now int64) []byte {
		rs := append(three(), rec{raw: []byte{0, 0, 0}})
		return forge(now, Gzip, rs, func(b Batch) { put32(b, posCount, 3); put32(b, posLastOffsetDelta, 2) })
	}},
	{"gzip garbage", "plain", 0, payloadCase(Gzip, garbage)},
	{"snappy garbage", "plain", 0, payloadCase(Snappy, garbage)},
	{"lz4 garbage", "plain", 0, payloadCase(LZ4, garbage)},
	{"zstd garbage", "plain", 0, payloadCase(Zstd, garbage)},
	{"gzip cut off", "plain", 0, payloadCase(Gzip, cutHalf)},
	{"snappy cut off", "plain", 0, payloadCase(Snappy, cutHalf)},
	{"lz4 cut off", "plain", 0, payloadCase(LZ4, cutHalf)},
	{"zstd cut off", "plain", 0, payloadCase(Zstd, cutHalf)},
	{"gzip empty payload", "plain", 0, payloadCase(Gzip, nothing)},
	{"snappy empty payload", "plain", 0, payloadCase(Snappy, nothing)},
	{"lz4 empty payload", "plain", 0, payloadCase(LZ4, nothing)},
	{"zstd empty payload", "plain", 0, payloadCase(Zstd, nothing)},
	{"gzip without its last byte", "plain", 0, payloadCase(Gzip, cutOne)},
	{"lz4 without end mark", "plain", 0, payloadCase(LZ4, func(z []byte) []byte { return z[:len(z)-4] })},
	{"gzip trailing bytes", "plain", 0, payloadCase(Gzip, trail)},
	{"snappy trailing bytes", "plain", 0, payloadCase(Snappy, trail)},
	{"lz4 trailing bytes", "plain", 0, payloadCase(LZ4, trail)},
	{"zstd trailing bytes", "plain", 0, payloadCase(Zstd, trail)},
	{"gzip two members", "plain", 0, func(now int64) []byte {
		rs := three()
		z := Compress(nil, Gzip, DefaultLevel, encodeAll(rs[:1]))
		return forgePayload(now, Gzip, rs, Compress(z, Gzip, DefaultLevel, encodeAll(rs[1:])))
	}},
	{"lz4 two frames", "plain", 0, func(now int64) []byte {
		rs := three()
		z := Compress(nil, LZ4, DefaultLevel, encodeAll(rs[:1]))
		return forgePayload(now, LZ4, rs, Compress(z, LZ4, DefaultLevel, encodeAll(rs[1:])))
	}},
	{"zstd two frames", "plain", 0, func(now int64) []byte {
		rs := three()
		z := Compress(nil, Zstd, DefaultLevel, encodeAll(rs[:1]))
		return forgePayload(now, Zstd, rs, Compress(z, Zstd, DefaultLevel, encodeAll(rs[1:])))
	}},
	{"lz4 header checksum wrong", "plain", 0, payloadCase(LZ4, func(z []byte) []byte { z[6]++; return z })},
	{"lz4 linked blocks", "plain", 0, payloadCase(LZ4, func(z []byte) []byte {
		z[4] &^= 0x20
		z[6] = byte(xxh32(z[4:6]) >> 8)
		return z
	})},
	{"lz4 content checksum wrong", "plain", 0, payloadCase(LZ4, func(z []byte) []byte {
		z[4] |= 0x04
		z[6] = byte(xxh32(z[4:6]) >> 8)
		return append(z, 1, 2, 3, 4)
	})},
	{"lz4 content checksum missing", "plain", 0, payloadCase(LZ4, func(z []byte) []byte {
		z[4] |= 0x04
		z[6] = byte(xxh32(z[4:6]) >> 8)
		return z
	})},
	{"snappy raw block", "plain", 0, func(now int64) []byte {
		return forgePayload(now, Snappy, three(), rawSnappy(encodeAll(three())))
	}},
	{"snappy lying length", "plain", 0, func(now int64) []byte {
		return forgePayload(now, Snappy, three(), []byte{0xff, 0xff, 0xff, 0xff, 0x07, 0})
	}},
	{"too large", "small", 0, records(None, func(rs []rec) { rs[0].val = make([]byte, 200) })},
	{"small once compressed", "small", 0, records(Gzip, func(rs []rec) { rs[0].val = make([]byte, 1000) })},
	{"too large once decompressed", "smallraw", 0, records(Gzip, func(rs []rec) { rs[0].val = make([]byte, 1000) })},
	{"none to gzip", "gzip", 0, edited(None, nil)},
	{"snappy to gzip", "gzip", 0, edited(Snappy, nil)},
	{"gzip to gzip", "gzip", 0, edited(Gzip, nil)},
	{"lz4 to none", "uncompressed", 0, edited(LZ4, nil)},
	{"none to zstd in produce 3", "zstd", 3, edited(None, nil)},
	{"bomb of 200 MiB", "plain", 0, func(now int64) []byte {
		r := rec{val: make([]byte, 200<<20)}
		return forge(now, Zstd, []rec{r}, nil)
	}},
}

func garbage(z []byte) []byte { return bytes.Repeat([]byte{0x5a}, len(z)) }
func cutHalf(z []byte) []byte { return z[:len(z)/2] }
func cutOne(z []byte) []byte  { return z[:len(z)-1] }
func nothing([]byte) []byte   { return nil }
func trail(z []byte) []byte   { return append(z, 1, 2, 3) }

// messageV1 is a message of format version 1 as old producers send it.
func messageV1(now int64) []byte {
	msg := []byte{1, 0}
	msg = binary.BigEndian.AppendUint64(msg, uint64(now))
	msg = append(msg, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 'v')
	out := binary.BigEndian.AppendUint64(nil, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(len(msg)+4))
	out = binary.BigEndian.AppendUint32(out, crcIEEE(msg))
	return append(out, msg...)
}
