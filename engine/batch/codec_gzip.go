package batch

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

type gzipReader struct {
	in bytes.Reader
	gz gzip.Reader
}

var gzipReaders = sync.Pool{New: func() any { return new(gzipReader) }}

// gunzip reads all members of a gzip file (RFC 1952).
func gunzip(dst, src []byte, maxBytes int) ([]byte, error) {
	r := gzipReaders.Get().(*gzipReader)
	defer func() {
		r.in.Reset(nil) // do not keep src alive
		gzipReaders.Put(r)
	}()
	r.in.Reset(src)
	if err := r.gz.Reset(&r.in); err != nil {
		return nil, err
	}
	return readAll(dst, &r.gz, maxBytes)
}

// readAll appends r's data to dst, at most maxBytes.
func readAll(dst []byte, r io.Reader, maxBytes int) ([]byte, error) {
	limit := len(dst) + maxBytes
	for {
		if len(dst) == cap(dst) {
			dst = grow(dst, 4<<10, limit+1)
		}
		room := min(cap(dst), limit+1)
		n, err := r.Read(dst[len(dst):room])
		dst = dst[:len(dst)+n]
		if len(dst) > limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// gzipWriters pools writers by level: index 0 is the default level.
var gzipWriters [gzip.BestCompression + 1]sync.Pool

func gzipCompress(dst []byte, level int, src []byte) []byte {
	i := level
	if i < gzip.BestSpeed || i > gzip.BestCompression {
		i, level = 0, gzip.DefaultCompression
	}
	out := sliceWriter{dst}
	w, _ := gzipWriters[i].Get().(*gzip.Writer)
	if w == nil {
		w, _ = gzip.NewWriterLevel(&out, level)
	} else {
		w.Reset(&out)
	}
	_, err := w.Write(src)
	if cerr := w.Close(); err != nil || cerr != nil {
		panic("BUG: gzip to memory failed")
	}
	w.Reset(io.Discard)
	gzipWriters[i].Put(w)
	return out.b
}
