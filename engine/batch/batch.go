package batch

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// Sizes of the batch header in bytes.
const (
	// HeaderBytes is the size of a batch with no records.
	HeaderBytes = 61
	// PrefixBytes is what comes before the part that batchLength counts.
	PrefixBytes = 12
)

// NoTimestamp, NoProducerID, NoEpoch and NoSequence are how a batch says that
// it has none.
const (
	NoTimestamp  int64 = -1
	NoProducerID int64 = -1
	NoEpoch      int16 = -1
	NoSequence   int32 = -1
)

// Positions of header fields in bytes from the batch's start.
const (
	posBaseOffset      = 0
	posLength          = 8
	posLeaderEpoch     = 12
	posMagic           = 16
	posCRC             = 17
	posAttributes      = 21
	posLastOffsetDelta = 23
	posBaseTimestamp   = 27
	posMaxTimestamp    = 35
	posProducerID      = 43
	posProducerEpoch   = 51
	posBaseSequence    = 53
	posCount           = 57
)

// Bits of the attributes field.
const (
	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Batch is one whole record batch: at least HeaderBytes long and exactly
// LengthBytes long, which Next ensures. Getters do not check again and panic on a
// shorter slice.
type Batch []byte

// BaseOffset is the offset of the batch's first record.
func (b Batch) BaseOffset() int64 { return be64(b, posBaseOffset) }

// SetBaseOffset sets the base offset. It lies outside the CRC.
func (b Batch) SetBaseOffset(v int64) { put64(b, posBaseOffset, v) }

// LengthBytes is the batch's whole size including its first 12 bytes, as its
// length field says.
func (b Batch) LengthBytes() int { return int(be32(b, posLength)) + PrefixBytes }

// LeaderEpoch is the partition leader epoch under which it was appended.
func (b Batch) LeaderEpoch() int32 { return be32(b, posLeaderEpoch) }

// SetLeaderEpoch sets the leader epoch. It lies outside the CRC.
func (b Batch) SetLeaderEpoch(v int32) { put32(b, posLeaderEpoch, v) }

// Magic is the format version; 2 for everything this package handles.
func (b Batch) Magic() int8 { return int8(b[posMagic]) }

// CRC is the stored CRC-32C.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[posCRC:]) }

// ComputeCRC computes the CRC-32C of the covered bytes: attributes to the end.
func (b Batch) ComputeCRC() uint32 { return crc32.Checksum(b[posAttributes:], castagnoli) }

// UpdateCRC stores the CRC of the present content.
func (b Batch) UpdateCRC() { binary.BigEndian.PutUint32(b[posCRC:], b.ComputeCRC()) }

// Attributes is the raw attributes field.
func (b Batch) Attributes() int16 { return int16(binary.BigEndian.Uint16(b[posAttributes:])) }

// Codec is how the records are compressed; it may be one that does not exist.
func (b Batch) Codec() Codec { return Codec(b[posAttributes+1] & attrCodec) }

// TimestampType reports whether record timestamps are the time of append
// (LogAppendTime) and not the producer's (CreateTime).
func (b Batch) TimestampType() (logAppendTime bool) {
	return b[posAttributes+1]&attrLogAppendTime != 0
}

// Transactional tells whether the batch belongs to a transaction.
func (b Batch) Transactional() bool { return b[posAttributes+1]&attrTransactional != 0 }

// Control tells whether the batch holds a transaction marker.
func (b Batch) Control() bool { return b[posAttributes+1]&attrControl != 0 }

// HasDeleteHorizon tells whether BaseTimestamp is the time in ms from which
// compaction may drop the batch's tombstones and markers.
func (b Batch) HasDeleteHorizon() bool { return b[posAttributes+1]&attrDeleteHorizon != 0 }

// LastOffsetDelta is LastOffset - BaseOffset.
func (b Batch) LastOffsetDelta() int32 { return be32(b, posLastOffsetDelta) }

// LastOffset is the last offset the batch takes up, whether or not compaction
// has left a record there.
func (b Batch) LastOffset() int64 { return b.BaseOffset() + int64(b.LastOffsetDelta()) }

// BaseTimestamp is the time in ms that record deltas count from.
func (b Batch) BaseTimestamp() int64 { return be64(b, posBaseTimestamp) }

// MaxTimestamp is the largest record timestamp in ms, or with LogAppendTime the
// timestamp of all records; -1: none.
func (b Batch) MaxTimestamp() int64 { return be64(b, posMaxTimestamp) }

// ProducerID is the idempotent producer's id; -1: none.
func (b Batch) ProducerID() int64 { return be64(b, posProducerID) }

// ProducerEpoch is the producer's epoch; -1: none.
func (b Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[posProducerEpoch:])) }

// BaseSequence is the first record's sequence number; -1: none.
func (b Batch) BaseSequence() int32 { return be32(b, posBaseSequence) }

// LastSequence is the last record's sequence number: after 2^31-1 comes 0.
// NoSequence if the batch has none.
func (b Batch) LastSequence() int32 {
	s := b.BaseSequence()
	if s < 0 {
		return NoSequence
	}
	return AddSequence(s, b.LastOffsetDelta())
}

// Count is the number of records in the batch.
func (b Batch) Count() int32 { return be32(b, posCount) }

// AddSequence gives the sequence number n after s, wrapping from 2^31-1 to 0.
// Both must be ≥ 0.
func AddSequence(s, n int32) int32 {
	return int32((int64(s) + int64(n)) & math.MaxInt32)
}

// StampLogAppendTime makes every record's timestamp nowMs and updates the CRC.
func (b Batch) StampLogAppendTime(nowMs int64) {
	b[posAttributes+1] |= attrLogAppendTime
	put64(b, posMaxTimestamp, nowMs)
	b.UpdateCRC()
}

func be64(b []byte, pos int) int64     { return int64(binary.BigEndian.Uint64(b[pos:])) }
func be32(b []byte, pos int) int32     { return int32(binary.BigEndian.Uint32(b[pos:])) }
func put64(b []byte, pos int, v int64) { binary.BigEndian.PutUint64(b[pos:], uint64(v)) }
func put32(b []byte, pos int, v int32) { binary.BigEndian.PutUint32(b[pos:], uint32(v)) }
func put16(b []byte, pos int, v int16) { binary.BigEndian.PutUint16(b[pos:], uint16(v)) }
