package batch

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// LZ4 data are one frame of the LZ4 frame format, version 1.6.4 (little-endian):
//
//	4 magic 0x184D2204
//	1 FLG: bits 7-6 version 01, 5 independent blocks, 4 block checksums,
//	       3 content size present, 2 content checksum, 0 dictionary id present
//	1 BD:  bits 6-4 largest block: 4 64 KiB, 5 256 KiB, 6 1 MiB, 7 4 MiB
//	8 content size, if announced
//	1 header checksum: second byte of xxh32 of FLG to content size
//	blocks: 4 length (bit 31: stored, not compressed), data, 4 xxh32 if announced
//	4 zero: end mark
//	4 xxh32 of the content, if announced
//
// The frame is walked here and only blocks go to the lz4 package, because its
// stream reader starts goroutines and copies each block twice. The content
// checksum is not checked, as in Kafka's own reader: the batch CRC covers the
// same bytes. What follows the end mark is not looked at.
const (
	lz4Magic      = 0x184D2204
	lz4BlockBytes = 64 << 10 // what Kafka's clients and this package write
)

var (
	errLZ4Frame  = errors.New("not an lz4 frame")
	errLZ4Header = errors.New("lz4 frame header is damaged")
	errLZ4Block  = errors.New("lz4 block is damaged")
	errLZ4Dict   = errors.New("lz4 frame needs a dictionary")
	errLZ4Linked = errors.New("lz4 blocks depend on each other, which Kafka's format does not allow")
)

type lz4Frame struct {
	blockBytes    int
	blockChecksum bool
	endBytes      int // of the content checksum
}

func lz4Header(src []byte) (f lz4Frame, rest []byte, err error) {
	if len(src) < 7 || binary.LittleEndian.Uint32(src) != lz4Magic {
		return f, nil, errLZ4Frame
	}
	flg, bd := src[4], src[5]
	size := bd >> 4 & 7
	end := 6
	if flg&0x08 != 0 {
		end += 8
	}
	switch {
	case flg>>6 != 1 || flg&0x02 != 0 || bd&0x8f != 0 || size < 4:
		return f, nil, errLZ4Header
	case flg&0x01 != 0:
		return f, nil, errLZ4Dict
	case flg&0x20 == 0:
		return f, nil, errLZ4Linked
	case len(src) <= end:
		return f, nil, errTruncated
	case byte(xxh32(src[4:end])>>8) != src[end]:
		return f, nil, errLZ4Header
	}
	f = lz4Frame{blockBytes: 1 << (2*size + 8), blockChecksum: flg&0x10 != 0}
	if flg&0x04 != 0 {
		f.endBytes = 4
	}
	return f, src[end+1:], nil
}

func unlz4(dst, src []byte, maxBytes int) ([]byte, error) {
	limit := len(dst) + maxBytes
	f, src, err := lz4Header(src)
	if err != nil {
		return nil, err
	}
	for {
		if len(src) < 4 {
			return nil, errTruncated
		}
		word := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if word == 0 {
			if len(src) < f.endBytes {
				return nil, errTruncated
			}
			return dst, nil
		}
		n := int(word & 0x7fffffff)
		if n > f.blockBytes {
			return nil, errLZ4Block
		}
		if n > len(src) {
			return nil, errTruncated
		}
		block := src[:n]
		src = src[n:]
		if f.blockChecksum {
			if len(src) < 4 {
				return nil, errTruncated
			}
			if xxh32(block) != binary.LittleEndian.Uint32(src) {
				return nil, errLZ4Block
			}
			src = src[4:]
		}
		if dst, err = lz4Block(dst, block, word>>31 != 0, f.blockBytes, limit); err != nil {
			return nil, err
		}
	}
}

func lz4Block(dst, block []byte, stored bool, blockBytes, limit int) ([]byte, error) {
	if stored {
		if len(block) > limit-len(dst) {
			return nil, errTooLarge
		}
		return append(grow(dst, len(block), limit), block...), nil
	}
	// The block's size is known only when it is decoded; the frame's bound and
	// lz4's own ratio (255 bytes for one) limit it.
	room := min(blockBytes, 255*len(block))
	dst = grow(dst, room, max(limit, len(dst)+room))
	n, err := lz4.UncompressBlock(block, dst[len(dst):len(dst)+room])
	if err != nil {
		return nil, errLZ4Block
	}
	if n > limit-len(dst) {
		return nil, errTooLarge
	}
	return dst[:len(dst)+n], nil
}

const lz4DefaultLevel = 9

var (
	lz4Fast sync.Pool // of *lz4.Compressor
	lz4High sync.Pool // of *lz4.CompressorHC
)

func lz4Compress(dst []byte, level int, src []byte) []byte {
	desc := [2]byte{0x60, 0x40} // version 1, independent blocks of 64 KiB
	dst = binary.LittleEndian.AppendUint32(dst, lz4Magic)
	dst = append(dst, desc[0], desc[1], byte(xxh32(desc[:])>>8))
	for len(src) > 0 {
		n := min(len(src), lz4BlockBytes)
		at := len(dst)
		dst = grow(dst, 4+n, 1<<62)
		// A destination one byte short of the source makes the compressor give
		// up (0) on data that do not shrink.
		size := lz4CompressBlock(dst[at+4:at+4+n-1], src[:n], level)
		if size == 0 {
			size = copy(dst[at+4:at+4+n], src[:n])
			binary.LittleEndian.PutUint32(dst[at:at+4], uint32(n)|1<<31)
		} else {
			binary.LittleEndian.PutUint32(dst[at:at+4], uint32(size))
		}
		dst = dst[:at+4+size]
		src = src[n:]
	}
	return append(dst, 0, 0, 0, 0)
}

// lz4CompressBlock returns 0 when the block does not fit into dst. Level 9, the
// default of compression.lz4.level, means the fast compressor, as in Kafka.
func lz4CompressBlock(dst, src []byte, level int) int {
	if level < 1 || level > 17 || level == lz4DefaultLevel {
		c, _ := lz4Fast.Get().(*lz4.Compressor)
		if c == nil {
			c = new(lz4.Compressor)
		}
		n, err := c.CompressBlock(src, dst)
		lz4Fast.Put(c)
		if err != nil {
			return 0
		}
		return n
	}
	c, _ := lz4High.Get().(*lz4.CompressorHC)
	if c == nil {
		c = new(lz4.CompressorHC)
	}
	c.Level = lz4.CompressionLevel(1 << (8 + min(level, 9)))
	n, err := c.CompressBlock(src, dst)
	lz4High.Put(c)
	if err != nil {
		return 0
	}
	return n
}

// xxh32 is the 32-bit xxHash with seed 0, which the frame format uses.
func xxh32(b []byte) uint32 {
	const p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	n := uint32(len(b))
	h := uint32(p5)
	if len(b) >= 16 {
		const seed = uint32(0)
		v1, v2, v3, v4 := seed+p1, seed+p2, seed, seed
		v1 += p2
		v4 -= p1
		for ; len(b) >= 16; b = b[16:] {
			v1 = bits.RotateLeft32(v1+binary.LittleEndian.Uint32(b)*p2, 13) * p1
			v2 = bits.RotateLeft32(v2+binary.LittleEndian.Uint32(b[4:])*p2, 13) * p1
			v3 = bits.RotateLeft32(v3+binary.LittleEndian.Uint32(b[8:])*p2, 13) * p1
			v4 = bits.RotateLeft32(v4+binary.LittleEndian.Uint32(b[12:])*p2, 13) * p1
		}
		h = bits.RotateLeft32(v1, 1) + bits.RotateLeft32(v2, 7) + bits.RotateLeft32(v3, 12) + bits.RotateLeft32(v4, 18)
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*p3, 17) * p4
	}
	for _, c := range b {
		h = bits.RotateLeft32(h+uint32(c)*p5, 11) * p1
	}
	h ^= h >> 15
	h *= p2
	h ^= h >> 13
	h *= p3
	return h ^ h>>16
}
