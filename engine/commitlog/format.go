package commitlog

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/spatemq/spate/engine/disk"
)

// FormatVersion is the version of segments and blocks that this package writes.
const FormatVersion = 1

const (
	align        = disk.BlockSize
	headerBytes  = 64
	entryBytes   = 48
	segHeadBytes = align // the slot's header block
	magicHead    = 0x4b425053
	magicTrail   = 0x54425053
	magicSegment = "SPTESEG1"
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Kind says what an entry is.
type Kind uint8

const (
	// KindBatch is a Kafka record batch v2.
	KindBatch Kind = 1
	// KindLogStart moves the stream's log start to the entry's base offset. It
	// has no payload and takes no offset.
	KindLogStart Kind = 2
)

// LSN makes a position.
func LSN(segment uint32, off uint32) uint64 { return uint64(segment)<<32 | uint64(off) }

// Segment is the segment id of a position.
func Segment(lsn uint64) uint32 { return uint32(lsn >> 32) }

// Offset is the byte offset of a position in its segment.
func Offset(lsn uint64) uint32 { return uint32(lsn) }

// DirEntry is one entry of a block's directory.
type DirEntry struct {
	Stream       uint64
	BaseOffset   int64
	MaxTimestamp int64
	Pos          uint32 // from the block's start
	Bytes        uint32
	Span         uint32
	CRC          uint32
	LeaderEpoch  int32
	Kind         Kind
}

func (d *DirEntry) put(b []byte) {
	le.PutUint64(b[0:], d.Stream)
	le.PutUint64(b[8:], uint64(d.BaseOffset))
	le.PutUint64(b[16:], uint64(d.MaxTimestamp))
	le.PutUint32(b[24:], d.Pos)
	le.PutUint32(b[28:], d.Bytes)
	le.PutUint32(b[32:], d.Span)
	le.PutUint32(b[36:], d.CRC)
	le.PutUint32(b[40:], uint32(d.LeaderEpoch))
	b[44], b[45], b[46], b[47] = byte(d.Kind), 0, 0, 0
}

func (d *DirEntry) get(b []byte) {
	d.Stream = le.Uint64(b[0:])
	d.BaseOffset = int64(le.Uint64(b[8:]))
	d.MaxTimestamp = int64(le.Uint64(b[16:]))
	d.Pos = le.Uint32(b[24:])
	d.Bytes = le.Uint32(b[28:])
	d.Span = le.Uint32(b[32:])
	d.CRC = le.Uint32(b[36:])
	d.LeaderEpoch = int32(le.Uint32(b[40:]))
	d.Kind = Kind(b[44])
}

// blockHead is a block's header or trailer.
type blockHead struct {
	lsn, durable, prev uint64
	bytes, entries     uint32
	sealed             int64
}

func (h *blockHead) put(b []byte, magic uint32, nonce uint64, dir []byte) {
	le.PutUint32(b[0:], magic)
	le.PutUint64(b[8:], h.lsn)
	le.PutUint64(b[16:], h.durable)
	le.PutUint64(b[24:], h.prev)
	le.PutUint32(b[32:], h.bytes)
	le.PutUint32(b[36:], h.entries)
	le.PutUint64(b[40:], uint64(h.sealed))
	clear(b[48:headerBytes])
	le.PutUint32(b[4:], headCRC(b, nonce, dir))
}

func headCRC(b []byte, nonce uint64, dir []byte) uint32 {
	var n [8]byte
	le.PutUint64(n[:], nonce)
	c := crc32.Update(0, castagnoli, n[:])
	c = crc32.Update(c, castagnoli, b[8:headerBytes])
	return crc32.Update(c, castagnoli, dir)
}

func (h *blockHead) get(b []byte) {
	h.lsn = le.Uint64(b[8:])
	h.durable = le.Uint64(b[16:])
	h.prev = le.Uint64(b[24:])
	h.bytes = le.Uint32(b[32:])
	h.entries = le.Uint32(b[36:])
	h.sealed = int64(le.Uint64(b[40:]))
}

// overhead is the smallest size of a block with n entries, without payloads.
func overhead(n int) int { return 2 * (headerBytes + n*entryBytes) }

func roundUp(n int) int { return (n + align - 1) &^ (align - 1) }

var (
	errNotABlock = errors.New("no block here")
	errTornBlock = errors.New("block is incomplete or damaged")
)

// parseHead checks the block header at the start of b, which holds the segment
// from position lsn on, and returns its directory. b may be longer or shorter
// than the block; a directory that does not fit in b is torn.
func parseHead(b []byte, lsn, nonce uint64) (h blockHead, dir []byte, err error) {
	if len(b) < headerBytes || le.Uint32(b) != magicHead {
		return h, nil, errNotABlock
	}
	h.get(b)
	if h.lsn != lsn || h.bytes%align != 0 || h.bytes == 0 {
		return h, nil, errNotABlock
	}
	n := headerBytes + int(h.entries)*entryBytes
	if h.entries > h.bytes/entryBytes || n > len(b) {
		return h, nil, errTornBlock
	}
	dir = b[headerBytes:n]
	if le.Uint32(b[4:]) != headCRC(b, nonce, dir) {
		return h, nil, errTornBlock
	}
	return h, dir, nil
}

// parseTrail checks the trailer that ends at the end of b, which ends at
// position end of the segment.
func parseTrail(b []byte, end, nonce uint64) (h blockHead, dir []byte, err error) {
	if len(b) < headerBytes {
		return h, nil, errNotABlock
	}
	t := b[len(b)-headerBytes:]
	if le.Uint32(t) != magicTrail {
		return h, nil, errNotABlock
	}
	h.get(t)
	n := int(h.entries) * entryBytes
	if h.lsn+uint64(h.bytes) != end || h.entries > h.bytes/entryBytes || n > len(b)-headerBytes {
		return h, nil, errTornBlock
	}
	dir = b[len(b)-headerBytes-n : len(b)-headerBytes]
	if le.Uint32(t[4:]) != headCRC(t, nonce, dir) {
		return h, nil, errTornBlock
	}
	return h, dir, nil
}

func decodeDir(dir []byte) []DirEntry {
	out := make([]DirEntry, len(dir)/entryBytes)
	for i := range out {
		out[i].get(dir[i*entryBytes:])
	}
	return out
}

// payloadOK checks one entry's bytes in its block.
func payloadOK(block []byte, d *DirEntry) bool {
	end := uint64(d.Pos) + uint64(d.Bytes)
	if end > uint64(len(block)) {
		return false
	}
	return crc32.Checksum(block[d.Pos:end], castagnoli) == d.CRC
}

// segHead is the header block of a slot file.
type segHead struct {
	nonce   uint64
	id      uint32
	bytes   uint64
	created int64
}

func (s *segHead) encode(b []byte) {
	clear(b[:segHeadBytes])
	copy(b, magicSegment)
	le.PutUint32(b[8:], FormatVersion)
	le.PutUint64(b[16:], s.nonce)
	le.PutUint32(b[24:], s.id)
	le.PutUint64(b[32:], s.bytes)
	le.PutUint64(b[40:], uint64(s.created))
	le.PutUint32(b[12:], crc32.Checksum(b[16:headerBytes], castagnoli))
}

var (
	errBadSegment = errors.New("segment header is damaged")
	// ErrNewerFormat: the data was written by a newer spate.
	ErrNewerFormat = errors.New("data format is newer than this spate understands")
)

func (s *segHead) decode(b []byte) error {
	if len(b) < headerBytes || string(b[:8]) != magicSegment {
		return errBadSegment
	}
	if le.Uint32(b[8:]) > FormatVersion {
		return ErrNewerFormat
	}
	if le.Uint32(b[12:]) != crc32.Checksum(b[16:headerBytes], castagnoli) {
		return errBadSegment
	}
	s.nonce = le.Uint64(b[16:])
	s.id = le.Uint32(b[24:])
	s.bytes = le.Uint64(b[32:])
	s.created = int64(le.Uint64(b[40:]))
	return nil
}
