package batch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var allCodecs = []Codec{None, Gzip, Snappy, LZ4, Zstd}

const testNow = int64(1_700_000_000_000)

// sample builds a batch of n records of about size bytes each, half compressible.
func sample(c Codec, n, size int) Batch {
	o := NewOptions()
	o.Codec = c
	w := NewBuilder(o)
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		v := bytes.Repeat([]byte("spate "), size/12+1)
		for range size / 2 {
			v = append(v, byte(rnd.Uint32()))
		}
		w.Append(testNow+int64(i), fmt.Appendf(nil, "key-%d", i), v,
			Header{[]byte("h"), []byte{byte(i)}}, Header{[]byte("null"), nil})
	}
	return append(Batch(nil), w.Finish()...)
}

func TestBuildAndRead(t *testing.T) {
	for _, c := range allCodecs {
		for _, n := range []int{1, 2, 100} {
			b := sample(c, n, 300)
			got, rest, err := Next(append(bytes.Clone(b), 1, 2, 3))
			if err != nil || len(rest) != 3 || !bytes.Equal(got, b) {
				t.Fatalf("%v: Next: %v, %d left", c, err, len(rest))
			}
			if b.CRC() != b.ComputeCRC() || b.Count() != int32(n) || b.LastOffset() != int64(n-1) || b.Codec() != c {
				t.Fatalf("%v: header wrong", c)
			}
			it := Records(b)
			var r Record
			i := 0
			for it.Next(&r) {
				if r.Offset != int64(i) || r.Timestamp != testNow+int64(i) || string(r.Key) != fmt.Sprintf("key-%d", i) {
					t.Fatalf("%v: record %d is %+v", c, i, r)
				}
				if v, ok := r.Header("h"); !ok || v[0] != byte(i) {
					t.Fatalf("%v: header h of record %d is %v", c, i, v)
				}
				if v, ok := r.Header("null"); !ok || v != nil {
					t.Fatalf("%v: header null of record %d is %v", c, i, v)
				}
				i++
			}
			if it.Err() != nil || i != n {
				t.Fatalf("%v: read %d of %d: %v", c, i, n, it.Err())
			}
			it.Close()
			p := DefaultPolicy()
			res, err := Validate(b, Options{Policy: &p, NowMs: testNow})
			if err != nil || res.Rewritten || res.MaxTimestamp != testNow+int64(n-1) || res.MaxTimestampDelta != int32(n-1) {
				t.Fatalf("%v: Validate: %+v %v", c, res, err)
			}
		}
	}
}

func TestSequenceWraps(t *testing.T) {
	for _, c := range []struct{ s, n, want int32 }{
		{0, 0, 0}, {0, 9, 9}, {math.MaxInt32, 0, math.MaxInt32}, {math.MaxInt32, 1, 0}, {math.MaxInt32 - 1, 3, 1},
	} {
		if got := AddSequence(c.s, c.n); got != c.want {
			t.Errorf("AddSequence(%d, %d) = %d, want %d", c.s, c.n, got, c.want)
		}
	}
}

func TestDecompressCap(t *testing.T) {
	data := make([]byte, 1<<20)
	for _, c := range allCodecs {
		z := Compress(nil, c, DefaultLevel, data)
		out, err := Decompress([]byte("x"), c, z, len(data))
		if err != nil || len(out) != len(data)+1 {
			t.Errorf("%v: exact cap: %d bytes, %v", c, len(out), err)
		}
		_, err = Decompress(nil, c, z, len(data)-1)
		var e *Error
		if !errors.As(err, &e) || e.Kind != TooLarge {
			t.Errorf("%v: one byte over the cap: %v", c, err)
		}
	}
}
