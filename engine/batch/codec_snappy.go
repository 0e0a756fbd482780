package batch

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/s2"
)

// Snappy data come in two forms. Most clients send one raw snappy block.
// snappy-java, and so every Java client and broker, sends a stream of blocks
// ("xerial framing"):
//
//	8 bytes magic 82 'S' 'N' 'A' 'P' 'P' 'Y' 00
//	4 version, 4 oldest compatible version (both 1)
//	then until the end: 4 length, a raw snappy block of that length
//
// All integers are big-endian. The first magic byte cannot start a raw block
// that is followed by the rest of it, so the form is known from the data alone.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const (
	xerialHeaderBytes = 16
	xerialBlockBytes  = 32 << 10 // as snappy-java makes them
)

func unsnappy(dst, src []byte, maxBytes int) ([]byte, error) {
	limit := len(dst) + maxBytes
	if !bytes.HasPrefix(src, xerialMagic) {
		return snappyBlock(dst, src, limit)
	}
	if len(src) < xerialHeaderBytes {
		return nil, errTruncated
	}
	if v := binary.BigEndian.Uint32(src[12:]); v != 1 {
		return nil, errors.New("unknown version of the xerial framing")
	}
	src = src[xerialHeaderBytes:]
	for len(src) > 0 {
		if len(src) < 4 {
			return nil, errTruncated
		}
		n := binary.BigEndian.Uint32(src)
		src = src[4:]
		if uint64(n) > uint64(len(src)) {
			return nil, errTruncated
		}
		var err error
		if dst, err = snappyBlock(dst, src[:n], limit); err != nil {
			return nil, err
		}
		src = src[n:]
	}
	return dst, nil
}

// snappyBlock decodes one raw block; len(dst) never passes limit.
func snappyBlock(dst, src []byte, limit int) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	// A block expands at most 64 bytes for each 3 (a copy of 64 bytes): a
	// larger claim is a lie that would cost memory before it is found out.
	if n > 22*len(src) {
		return nil, errors.New("claimed length is impossible")
	}
	if n > limit-len(dst) {
		return nil, errTooLarge
	}
	dst = grow(dst, n, limit)
	out := dst[len(dst) : len(dst)+n]
	if _, err := s2.Decode(out, src); err != nil {
		return nil, err
	}
	return dst[:len(dst)+n], nil
}

func snappyCompress(dst, src []byte) []byte {
	dst = append(dst, xerialMagic...)
	dst = append(dst, 0, 0, 0, 1, 0, 0, 0, 1)
	for len(src) > 0 {
		n := min(len(src), xerialBlockBytes)
		at := len(dst)
		dst = grow(dst, 4+s2.MaxEncodedLen(n), 1<<62)
		block := s2.EncodeSnappy(dst[at+4:cap(dst)], src[:n])
		binary.BigEndian.PutUint32(dst[at:at+4], uint32(len(block)))
		dst = dst[:at+4+len(block)]
		src = src[n:]
	}
	return dst
}
