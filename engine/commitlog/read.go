package commitlog

import (
	"hash/crc32"

	"github.com/spatemq/spate/engine/cache"
	"github.com/spatemq/spate/engine/disk"
)

// Hot returns a reference to n bytes at lsn in the hot tail, or nil.
func (l *Log) Hot(lsn uint64, n int) ([]byte, *cache.Slab) { return l.hot.Get(lsn, n) }

// IsHot tells whether n bytes at lsn are in the hot tail.
func (l *Log) IsHot(lsn uint64, n int) bool { return l.hot.Has(lsn, n) }

// ReadCold fills buf with the bytes at lsn through the volume's read slots; done
// is called exactly once on any goroutine.
func (l *Log) ReadCold(lsn uint64, buf []byte, done func(error)) { l.cold.ReadInto(lsn, buf, done) }

// Prefetch has n bytes at lsn read ahead, as far as they lie in one segment.
func (l *Log) Prefetch(lsn uint64, n int) {
	end := min(l.Readable(lsn), lsn+uint64(n))
	if end > lsn {
		l.cold.Prefetch(lsn, int(end-lsn))
	}
}

// StartRead implements cache.Source.
func (l *Log) StartRead(lsn uint64, buf []byte, done func(error)) {
	g, err := l.segs.use(Segment(lsn))
	if g == nil {
		if err == nil {
			err = cache.ErrGone
		}
		done(err)
		return
	}
	l.opt.Dir.Submit(&disk.Op{Kind: disk.OpRead, File: g.file, Buf: buf, Off: int64(Offset(lsn)),
		Done: func(op *disk.Op) {
			l.segs.unuse(g)
			done(op.Err)
		}})
}

// Readable implements cache.Source: sealed segments are readable whole, the
// active one as far as it has been written.
func (l *Log) Readable(lsn uint64) uint64 {
	l.mu.Lock()
	complete := l.complete
	l.mu.Unlock()
	id := Segment(lsn)
	switch n := l.SegmentBytes(id); {
	case n == 0 || id > Segment(complete):
		return 0
	case id == Segment(complete):
		return complete
	default:
		return LSN(id, 0) + uint64(n)
	}
}

// Checksum is the CRC that a directory entry holds of its payload.
func Checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }
