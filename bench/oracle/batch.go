package oracle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Offsets of a record batch's header fields (KIP-98).
const (
	batchAttributesAt = 21
	batchCRCAt        = 17
	batchHeaderBytes  = 61
)

// batchFields are the fields of batch{…}, each with what it is without being named.
//
//	codec     none, gzip, snappy, lz4, zstd, xerial (snappy in the framing of snappy-java), or a number 5..7
//	records   [{k, v, h: {name: value}, ts, delta, tsdelta}], or [a, b] for values alone; null is null
//	n, size   instead of records: n records of size bytes each
//	ts        time of the first record after the base time (0); at: the same as an absolute time
//	pid, epoch, seq            -1
//	txn, control, logappend    attribute bits: true or false; attrs: all of them
//	base, leaderepoch, magic   0, -1, 2
//	count, lastdelta, maxts, length    header fields that disagree with the records
//	damage    crc (one bit of the CRC), body (one bit of the last byte), tail (last byte cut),
//	          half (half of the batch), recordlength (a record longer than the batch)
var batchFields = []string{"codec", "records", "n", "size", "ts", "at", "pid", "epoch", "seq", "txn", "control",
	"logappend", "attrs", "base", "leaderepoch", "magic", "count", "lastdelta", "maxts", "length", "damage"}

// batch builds the bytes of one record batch.
func (s *scope) batch(o *object) ([]byte, error) {
	if err := knownFields(o, batchFields); err != nil {
		return nil, err
	}
	first, err := s.firstTimestamp(o)
	if err != nil {
		return nil, err
	}
	recs, maxTS, err := s.records(o, first)
	if err != nil {
		return nil, err
	}
	var body []byte
	for _, r := range recs {
		body = r.AppendTo(body)
	}
	damage, err := s.str(o, "damage", "")
	if err != nil {
		return nil, err
	}
	if damage == "recordlength" && len(body) > 0 {
		body[0] = 0x7e // a zigzag varint: 63 bytes
	}
	codec, err := s.str(o, "codec", "none")
	if err != nil {
		return nil, err
	}
	attrs, body, err := compress(codec, body)
	if err != nil {
		return nil, err
	}
	b := kmsg.RecordBatch{FirstTimestamp: first, Records: body, Attributes: attrs}
	if err := s.batchHeader(o, &b, len(recs), maxTS); err != nil {
		return nil, err
	}
	return damaged(seal(&b), damage)
}

func knownFields(o *object, names []string) error {
next:
	for _, f := range o.fields {
		for _, n := range names {
			if f.name == n {
				continue next
			}
		}
		return fmt.Errorf("%s{…} has no field %s", o.name, f.name)
	}
	return nil
}

func (s *scope) firstTimestamp(o *object) (int64, error) {
	ts, err := s.int(o, "ts", 0)
	if err != nil {
		return 0, err
	}
	return s.int(o, "at", s.base+ts)
}

func (s *scope) batchHeader(o *object, b *kmsg.RecordBatch, n int, maxTS int64) error {
	ints := []struct {
		name      string
		otherwise int64
		put       func(int64)
	}{
		{"base", 0, func(v int64) { b.FirstOffset = v }},
		{"leaderepoch", -1, func(v int64) { b.PartitionLeaderEpoch = int32(v) }},
		{"magic", 2, func(v int64) { b.Magic = int8(v) }},
		{"count", int64(n), func(v int64) { b.NumRecords = int32(v) }},
		{"lastdelta", int64(n) - 1, func(v int64) { b.LastOffsetDelta = int32(v) }},
		{"maxts", maxTS, func(v int64) { b.MaxTimestamp = v }},
		{"pid", -1, func(v int64) { b.ProducerID = v }},
		{"epoch", -1, func(v int64) { b.ProducerEpoch = int16(v) }},
		{"seq", -1, func(v int64) { b.FirstSequence = int32(v) }},
		{"length", int64(batchHeaderBytes - 12 + len(b.Records)), func(v int64) { b.Length = int32(v) }},
		{"attrs", int64(b.Attributes), func(v int64) { b.Attributes = int16(v) }},
	}
	for _, f := range ints {
		v, err := s.int(o, f.name, f.otherwise)
		if err != nil {
			return err
		}
		f.put(v)
	}
	for name, bit := range map[string]int16{"logappend": 8, "txn": 16, "control": 32} {
		set, err := s.str(o, name, "false")
		if err != nil {
			return err
		}
		if set == "true" {
			b.Attributes |= bit
		}
	}
	return nil
}

// seal encodes the batch with its right CRC.
func seal(b *kmsg.RecordBatch) []byte {
	out := b.AppendTo(nil)
	binary.BigEndian.PutUint32(out[batchCRCAt:], crc32.Checksum(out[batchAttributesAt:], castagnoli))
	return out
}

func damaged(b []byte, damage string) ([]byte, error) {
	switch damage {
	case "", "recordlength":
	case "crc":
		b[batchCRCAt] ^= 1
	case "body":
		b[len(b)-1] ^= 1
	case "tail":
		b = b[:len(b)-1]
	case "half":
		b = b[:len(b)/2]
	default:
		return nil, fmt.Errorf("no damage is called %q", damage)
	}
	return b, nil
}

func (s *scope) records(o *object, first int64) ([]kmsg.Record, int64, error) {
	var items list
	if v, ok := o.get("records"); ok {
		items, _ = v.(list)
	}
	n, err := s.int(o, "n", 0)
	if err != nil {
		return nil, 0, err
	}
	size, err := s.int(o, "size", 10)
	if err != nil {
		return nil, 0, err
	}
	for i := range n {
		fill := bytes.Repeat([]byte{byte('a' + i%26)}, int(size))
		items = append(items, text(fill))
	}
	var out []kmsg.Record
	maxTS := first
	for i, item := range items {
		r, ts, err := s.record(item, i, first)
		if err != nil {
			return nil, 0, fmt.Errorf("records[%d]: %w", i, err)
		}
		maxTS = max(maxTS, ts)
		out = append(out, r)
	}
	return out, maxTS, nil
}

func (s *scope) record(item value, i int, first int64) (kmsg.Record, int64, error) {
	r := kmsg.Record{OffsetDelta: int32(i)}
	o, ok := item.(*object)
	if !ok || o.name != "" {
		v, err := s.bytes(item)
		r.Value = v
		r.Length = recordLength(&r)
		return r, first, err
	}
	for name, dst := range map[string]*[]byte{"k": &r.Key, "v": &r.Value} {
		v, ok := o.get(name)
		if !ok {
			continue
		}
		b, err := s.bytes(v)
		if err != nil {
			return r, 0, err
		}
		*dst = b
	}
	if err := s.headers(o, &r); err != nil {
		return r, 0, err
	}
	ts, err := s.int(o, "ts", first-s.base)
	if err != nil {
		return r, 0, err
	}
	at, err := s.int(o, "at", s.base+ts)
	if err != nil {
		return r, 0, err
	}
	delta, err := s.int(o, "delta", int64(i))
	r.OffsetDelta, r.TimestampDelta64 = int32(delta), at-first
	r.Length = recordLength(&r)
	return r, at, err
}

func (s *scope) headers(o *object, r *kmsg.Record) error {
	v, _ := o.get("h")
	h, ok := v.(*object)
	if !ok {
		return nil
	}
	for _, f := range h.fields {
		b, err := s.bytes(f.value)
		if err != nil {
			return err
		}
		r.Headers = append(r.Headers, kmsg.Header{Key: f.name, Value: b})
	}
	return nil
}

// recordLength is the bytes that follow the record's length field.
func recordLength(r *kmsg.Record) int32 {
	r.Length = 0
	return int32(len(r.AppendTo(nil)) - 1)
}

var codecs = map[string]kgo.CompressionCodec{
	"gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

// compress gives the codec's attribute bits and the compressed records.
func compress(codec string, body []byte) (int16, []byte, error) {
	switch codec {
	case "none":
		return 0, body, nil
	case "xerial":
		_, raw, err := compress("snappy", body)
		return 2, xerial(raw), err
	case "5", "6", "7":
		return int16(codec[0] - '0'), body, nil
	}
	c, ok := codecs[codec]
	if !ok {
		return 0, nil, fmt.Errorf("no codec is called %q", codec)
	}
	comp, err := kgo.DefaultCompressor(c)
	if err != nil {
		return 0, nil, err
	}
	out, kind := comp.Compress(new(bytes.Buffer), body)
	return int16(kind), bytes.Clone(out), nil
}

// xerial frames one snappy block as the Java library snappy-java does.
func xerial(block []byte) []byte {
	out := []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}
	out = binary.BigEndian.AppendUint32(out, uint32(len(block)))
	return append(out, block...)
}

// messageSet builds one message of format 0 or 1, as clients before Kafka 0.11 sent.
func (s *scope) messageSet(o *object) ([]byte, error) {
	if err := knownFields(o, []string{"magic", "v"}); err != nil {
		return nil, err
	}
	magic, err := s.int(o, "magic", 1)
	if err != nil {
		return nil, err
	}
	var val []byte
	if v, ok := o.get("v"); ok {
		if val, err = s.bytes(v); err != nil {
			return nil, err
		}
	}
	msg := []byte{byte(magic), 0}
	if magic == 1 {
		msg = binary.BigEndian.AppendUint64(msg, uint64(s.base))
	}
	msg = binary.BigEndian.AppendUint32(msg, 0xffffffff) // null key
	msg = binary.BigEndian.AppendUint32(msg, uint32(len(val)))
	msg = append(msg, val...)
	out := binary.BigEndian.AppendUint64(nil, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(len(msg)+4))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(msg))
	return append(out, msg...), nil
}
