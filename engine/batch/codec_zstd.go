package batch

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdReader decodes whole buffers; it is safe for concurrent use and decodes
// as many at once as there are CPUs. With the cap limit it never writes past the
// destination's capacity, which is how a call bounds its output.
var zstdReader = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic("BUG: zstd decoder options: " + err.Error())
	}
	return d
})

// unzstd tries with the room the destination has and quadruples it as long as
// the data do not fit: streaming encoders, such as Java's, leave the content size
// out of the frame.
func unzstd(dst, src []byte, maxBytes int) ([]byte, error) {
	limit := len(dst) + maxBytes
	room := max(cap(dst)-len(dst), 4*len(src), 16<<10)
	var h zstd.Header
	if h.Decode(src) == nil && h.HasFCS {
		if h.FrameContentSize > uint64(maxBytes) {
			return nil, errTooLarge
		}
		room = int(h.FrameContentSize)
		// The claimed size is believed up to a plausible ratio; beyond it, room
		// grows only as data really come out.
		room = min(room, max(cap(dst)-len(dst), 1<<10*len(src)))
	}
	for {
		room = min(room, maxBytes)
		dst = grow(dst, room, limit)
		out, err := zstdReader().DecodeAll(src, dst[:len(dst):min(cap(dst), limit)])
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return nil, err
		}
		if room >= maxBytes {
			return nil, errTooLarge
		}
		room = max(4*room, 16<<10)
	}
}

// zstdWindowBytes limits an encoder's history, and with it memory here and in
// every reader, to the size of a batch.
const zstdWindowBytes = 1 << 20

const zstdDefaultLevel = 3

var zstdWriters [zstd.SpeedBestCompression + 1]struct {
	once sync.Once
	enc  *zstd.Encoder
}

func zstdCompress(dst []byte, level int, src []byte) []byte {
	if level < -131072 || level > 22 || level == 0 {
		level = zstdDefaultLevel
	}
	l := zstd.EncoderLevelFromZstd(level)
	w := &zstdWriters[l]
	w.once.Do(func() {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(l), zstd.WithWindowSize(zstdWindowBytes),
			zstd.WithEncoderCRC(false))
		if err != nil {
			panic("BUG: zstd encoder options: " + err.Error())
		}
		w.enc = e
	})
	return w.enc.EncodeAll(src, dst)
}
