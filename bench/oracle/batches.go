package oracle

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var codecNames = []string{"none", "gzip", "snappy", "lz4", "zstd", "5", "6", "7"}

// batches renders the records of a Fetch answer. Compressed bytes may differ between
// brokers that compress, so it is their content that is compared.
func (d *dumper) batches(path string, b []byte, null bool) {
	if null {
		d.add(path, "null")
		return
	}
	for i := 0; len(b) > 0; i++ {
		p := fmt.Sprintf("%s[%d]", path, i)
		size := 0
		if len(b) >= 12 {
			size = 12 + int(int32(binary.BigEndian.Uint32(b[8:])))
		}
		if size < batchHeaderBytes || size > len(b) {
			d.add(p, fmt.Sprintf("cut: %d bytes", len(b)))
			return
		}
		d.batch(p, b[:size])
		b = b[size:]
	}
}

func (d *dumper) batch(path string, raw []byte) {
	var b kmsg.RecordBatch
	if err := b.ReadFrom(raw); err != nil {
		d.add(path, err.Error())
		return
	}
	crc := "good"
	if crc32.Checksum(raw[batchAttributesAt:], castagnoli) != uint32(b.CRC) {
		crc = "bad"
	}
	d.add(path, fmt.Sprintf("offset %d count %d lastdelta %d leaderepoch %d magic %d crc %s codec %s flags %#x pid %s epoch %d seq %d ts %s..%s",
		b.FirstOffset, b.NumRecords, b.LastOffsetDelta, b.PartitionLeaderEpoch, b.Magic, crc, codecNames[b.Attributes&7], b.Attributes&^7,
		d.norm.integer("ProducerID", b.ProducerID), b.ProducerEpoch, b.FirstSequence,
		d.norm.integer("", b.FirstTimestamp), d.norm.integer("", b.MaxTimestamp)))
	body, err := kgo.DefaultDecompressor().Decompress(b.Records, kgo.CompressionCodecType(b.Attributes&7))
	if err != nil {
		d.add(path+".records", err.Error())
		return
	}
	d.records(path, &b, body)
}

func (d *dumper) records(path string, b *kmsg.RecordBatch, body []byte) {
	for i := range b.NumRecords {
		length, n := binary.Varint(body)
		if n <= 0 || length < 0 || int(length) > len(body)-n {
			d.add(fmt.Sprintf("%s.%d", path, i), "cut")
			return
		}
		var r kmsg.Record
		if err := r.ReadFrom(body[:n+int(length)]); err != nil {
			d.add(fmt.Sprintf("%s.%d", path, i), err.Error())
			return
		}
		body = body[n+int(length):]
		d.add(fmt.Sprintf("%s.%d", path, i), d.record(b, &r))
	}
	if len(body) > 0 {
		d.add(path+".rest", fmt.Sprintf("%d bytes", len(body)))
	}
}

func (d *dumper) record(b *kmsg.RecordBatch, r *kmsg.Record) string {
	var h strings.Builder
	for _, hd := range r.Headers {
		fmt.Fprintf(&h, " %s:%s", hd.Key, d.nullable(hd.Value))
	}
	return fmt.Sprintf("+%d ts %s key %s value %s%s", r.OffsetDelta, d.norm.integer("", b.FirstTimestamp+r.TimestampDelta64),
		d.nullable(r.Key), d.nullable(r.Value), h.String())
}

func (d *dumper) nullable(b []byte) string { return d.norm.scalar("", reflect.ValueOf(b)) }
