package batch

import "math"

// Producer as Policy.Codec keeps batches compressed as they come
// (compression.type=producer).
const Producer Codec = -1

// Policy is what a topic's settings ask of a batch, worked out once when the
// settings change.
type Policy struct {
	// MaxBytes is max.message.bytes: the largest stored batch.
	MaxBytes int
	// MaxDecompressedBytes caps the records of a compressed batch once
	// decompressed, which Kafka does not.
	MaxDecompressedBytes int
	// Compacted is set if cleanup.policy has compact: records need a key.
	Compacted bool
	// LogAppendTime is message.timestamp.type=LogAppendTime.
	LogAppendTime bool
	// Codec is compression.type; other than Producer, batches that come with
	// another codec are recompressed with Level.
	Codec Codec
	Level int
	// TimestampBeforeMaxMs and TimestampAfterMaxMs are
	// message.timestamp.before.max.ms and message.timestamp.after.max.ms.
	TimestampBeforeMaxMs int64
	TimestampAfterMaxMs  int64
}

// DefaultPolicy is the policy of a topic with Kafka's default settings.
func DefaultPolicy() Policy {
	return Policy{
		MaxBytes:             1048588,
		MaxDecompressedBytes: DefaultMaxDecompressedBytes,
		Codec:                Producer,
		Level:                DefaultLevel,
		TimestampBeforeMaxMs: math.MaxInt64,
		TimestampAfterMaxMs:  3600000,
	}
}

// timestamps gives the bounds of CreateTime timestamps at nowMs ≥ 0. The lower
// one cannot overflow, the upper one saturates.
func (p *Policy) timestamps(nowMs int64) (lo, hi int64) {
	lo, hi = nowMs-p.TimestampBeforeMaxMs, nowMs+p.TimestampAfterMaxMs
	if hi < nowMs {
		hi = math.MaxInt64
	}
	return lo, hi
}
