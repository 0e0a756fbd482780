package batch

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/klauspost/compress/snappy"
)

func crcIEEE(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

func rawSnappy(b []byte) []byte { return snappy.Encode(nil, b) }

// describe says what was stored, without what differs from run to run.
func describe(b Batch, now int64) string {
	var s strings.Builder
	attrs := ""
	if b.TimestampType() {
		attrs += " appendtime"
	}
	if b.Attributes()&^0x0f != 0 {
		attrs += fmt.Sprintf(" attributes=%#x", uint16(b.Attributes())&^0x0f)
	}
	fmt.Fprintf(&s, "%v%s epoch=%d count=%d last=%d max=%s offsets=", b.Codec(), attrs, b.LeaderEpoch(), b.Count(), b.LastOffsetDelta(), relative(b.MaxTimestamp(), now, b.TimestampType()))
	it := Records(b)
	defer it.Close()
	var r Record
	for it.Next(&r) {
		fmt.Fprintf(&s, "%d,", r.OffsetDelta)
	}
	if it.Err() != nil {
		fmt.Fprintf(&s, " (%v)", it.Err())
	}
	return strings.TrimSuffix(s.String(), ",")
}

func relative(ts, now int64, appendTime bool) string {
	switch {
	case appendTime:
		return "now"
	case ts < now/2 || ts > 2*now:
		return fmt.Sprint(ts)
	}
	return fmt.Sprintf("now%+d", ts-now)
}
