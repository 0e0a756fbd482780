package batch

import (
	"bytes"
	"errors"
	"testing"
)

const fuzzCap = 1 << 20

// FuzzBatch: whatever arrives, reading it ends, stays within bounds, and what
// Validate accepts is readable, dense and stays acceptable.
func FuzzBatch(f *testing.F) {
	for _, c := range produceCases {
		if r := c.records(testNow); len(r) < 1<<12 {
			f.Add(r, false, int8(Producer))
		}
	}
	for _, c := range allCodecs {
		f.Add([]byte(sample(c, 3, 50)), true, int8(Gzip))
	}
	f.Fuzz(func(t *testing.T, buf []byte, compacted bool, target int8) {
		buf = bytes.Clone(buf)
		b, _, err := Next(buf)
		if err != nil {
			return
		}
		b.UpdateCRC()
		FindTime(b, testNow)
		MaxTime(b)
		p := DefaultPolicy()
		p.MaxDecompressedBytes = fuzzCap
		p.Compacted = compacted
		if c := Codec(target); c.Valid() {
			p.Codec = c
		}
		res, err := Validate(b, Options{Policy: &p, NowMs: testNow})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		checkStored(t, res)
		if _, err := Validate(bytes.Clone(res.Batch), Options{Policy: &p, NowMs: testNow}); err != nil {
			t.Fatalf("accepted batch refused the second time: %v", err)
		}
	})
}

func checkStored(t *testing.T, res Result) {
	t.Helper()
	b := res.Batch
	if b.CRC() != b.ComputeCRC() || b.LengthBytes() != len(b) || b.MaxTimestamp() != res.MaxTimestamp {
		t.Fatal("header of the accepted batch is wrong")
	}
	it := Records(b)
	defer it.Close()
	var r Record
	n := int32(0)
	for ; it.Next(&r); n++ {
		if r.OffsetDelta != n {
			t.Fatalf("record %d has offset delta %d", n, r.OffsetDelta)
		}
		r.AppendHeaders(nil)
	}
	if it.Err() != nil || n != b.Count() {
		t.Fatalf("%d of %d records: %v", n, b.Count(), it.Err())
	}
}

// FuzzDecompress: no codec passes its cap or touches what is in front.
func FuzzDecompress(f *testing.F) {
	plain := []byte(sample(None, 20, 100))
	for _, c := range allCodecs {
		f.Add(int8(c), Compress(nil, c, DefaultLevel, plain), 1<<20)
		f.Add(int8(c), Compress(nil, c, DefaultLevel, plain), len(plain))
		f.Add(int8(c), Compress(nil, c, DefaultLevel, nil), 0)
	}
	f.Add(int8(Snappy), rawSnappy(plain), 1<<20)
	f.Fuzz(func(t *testing.T, c int8, src []byte, limit int) {
		limit = min(max(limit, 0), fuzzCap)
		front := []byte("front")
		out, err := Decompress(front, Codec(c), src, limit)
		if !bytes.HasPrefix(out, front) {
			t.Fatal("front of the destination is gone")
		}
		if err == nil && len(out)-len(front) > limit {
			t.Fatalf("%d bytes with a cap of %d", len(out)-len(front), limit)
		}
	})
}

// FuzzCompress: every level of every codec gives back what went in.
func FuzzCompress(f *testing.F) {
	f.Add([]byte("spate"), int8(1), 9)
	f.Add(bytes.Repeat([]byte("ab"), 100_000), int8(3), 17)
	f.Fuzz(func(t *testing.T, data []byte, c int8, level int) {
		codec := Codec(c)
		if !codec.Valid() || len(data) > fuzzCap {
			return
		}
		out, err := Decompress(nil, codec, Compress(nil, codec, level%25, data), len(data))
		if err != nil || !bytes.Equal(out, data) {
			t.Fatalf("%v level %d: %d bytes became %d: %v", codec, level%25, len(data), len(out), err)
		}
	})
}
