package batch

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Codec is a compression codec of record batches, as numbered in their attributes.
type Codec int8

// Codecs.
const (
	None   Codec = 0
	Gzip   Codec = 1
	Snappy Codec = 2
	LZ4    Codec = 3
	Zstd   Codec = 4
)

var codecNames = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

// String is the codec's name as in compression.type.
func (c Codec) String() string {
	if c >= 0 && int(c) < len(codecNames) {
		return codecNames[c]
	}
	return fmt.Sprintf("codec %d", int8(c))
}

// Valid tells whether the codec exists.
func (c Codec) Valid() bool { return c >= None && c <= Zstd }

// ParseCodec reads a codec's name; "uncompressed" is the topic setting's word
// for none.
func ParseCodec(name string) (Codec, error) {
	if name == "uncompressed" {
		return None, nil
	}
	for i, n := range codecNames {
		if n == name {
			return Codec(i), nil
		}
	}
	return 0, fmt.Errorf("compression codec %q is none of %s", name, strings.Join(codecNames[:], ", "))
}

var (
	errTooLarge  = errors.New("decompressed data exceed the cap")
	errTruncated = errors.New("compressed data are cut off")
)

// Decompress appends the decompressed form of src to dst and returns the
// extended slice. It fails with a TooLarge *Error when more than maxBytes would
// come out, with UnsupportedCompression for an unknown codec and with Corrupt
// for damaged data. Memory never exceeds a small multiple of what came out so
// far. src is only read.
func Decompress(dst []byte, c Codec, src []byte, maxBytes int) ([]byte, error) {
	if maxBytes < 0 {
		maxBytes = 0
	}
	var out []byte
	var err error
	switch c {
	case None:
		if len(src) > maxBytes {
			err = errTooLarge
		} else {
			out = append(dst, src...)
		}
	case Gzip:
		out, err = gunzip(dst, src, maxBytes)
	case Snappy:
		out, err = unsnappy(dst, src, maxBytes)
	case LZ4:
		out, err = unlz4(dst, src, maxBytes)
	case Zstd:
		out, err = unzstd(dst, src, maxBytes)
	default:
		return dst, errf(UnsupportedCompression, "%v does not exist", c)
	}
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, errTooLarge):
		return dst, errf(TooLarge, "records of %d bytes decompress (%v) to more than %d", len(src), c, maxBytes)
	}
	return dst, errf(Corrupt, "%v data: %v", c, err)
}

// Compress appends the compressed form of src to dst. Level is the codec's own
// (gzip 1 to 9, lz4 1 to 17, zstd -131072 to 22; snappy has none); DefaultLevel
// and levels outside the range mean the codec's default. The codec must be Valid.
func Compress(dst []byte, c Codec, level int, src []byte) []byte {
	switch c {
	case None:
		return append(dst, src...)
	case Gzip:
		return gzipCompress(dst, level, src)
	case Snappy:
		return snappyCompress(dst, src)
	case LZ4:
		return lz4Compress(dst, level, src)
	case Zstd:
		return zstdCompress(dst, level, src)
	}
	panic(fmt.Sprintf("BUG: Compress with %v", c))
}

// DefaultLevel asks Compress for a codec's default level.
const DefaultLevel = -1 << 31

// maxPooledBytes is the largest buffer that goes back to the pool: several
// times the default max.message.bytes, so that a rare huge batch does not stay
// in memory.
const maxPooledBytes = 8 << 20

var bufPool = sync.Pool{New: func() any {
	b := make([]byte, 0, 64<<10)
	return &b
}}

func getBuf() *[]byte { return bufPool.Get().(*[]byte) }

func putBuf(b *[]byte) {
	if cap(*b) <= maxPooledBytes {
		*b = (*b)[:0]
		bufPool.Put(b)
	}
}

// grow returns b with room for n more bytes, at least doubling when it has to
// move, but never offering more room than limit-len(b) needs.
func grow(b []byte, n, limit int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	size := max(2*cap(b), len(b)+n)
	size = max(min(size, limit), len(b)+n)
	out := make([]byte, len(b), size)
	copy(out, b)
	return out
}
