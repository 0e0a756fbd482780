package batch

import (
	"testing"
)

// TestNoAllocation: checking a batch on a topic with default settings and
// reading it allocates nothing, whatever its codec.
func TestNoAllocation(t *testing.T) {
	p := DefaultPolicy()
	for _, c := range allCodecs {
		b := sample(c, 100, 150)
		check := func() {
			if _, err := Validate(b, Options{Policy: &p, NowMs: testNow}); err != nil {
				t.Fatal(err)
			}
		}
		check() // fills the pools
		if n := testing.AllocsPerRun(200, check); n >= 1 {
			t.Errorf("%v: Validate allocates %v times", c, n)
		}
		var r Record
		read := func() {
			it := Records(b)
			for it.Next(&r) {
			}
			it.Close()
		}
		if n := testing.AllocsPerRun(200, read); n >= 1 {
			t.Errorf("%v: reading allocates %v times", c, n)
		}
	}
	p.LogAppendTime = true
	b := sample(None, 100, 150)
	stamped := func() {
		b[posAttributes+1] &^= attrLogAppendTime
		b.UpdateCRC()
		if _, err := Validate(b, Options{Policy: &p, NowMs: testNow}); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(200, stamped); n >= 1 {
		t.Errorf("LogAppendTime: Validate allocates %v times", n)
	}
}

func BenchmarkValidate(b *testing.B) {
	p := DefaultPolicy()
	for _, c := range []struct {
		name   string
		codec  Codec
		n, len int
	}{
		{"none/16KiB", None, 16, 1 << 10}, {"none/256KiB", None, 256, 1 << 10}, {"none/16KiB-of-100B", None, 160, 100},
		{"lz4/16KiB", LZ4, 16, 1 << 10}, {"zstd/16KiB", Zstd, 16, 1 << 10}, {"snappy/16KiB", Snappy, 16, 1 << 10},
		{"gzip/16KiB", Gzip, 16, 1 << 10},
	} {
		b.Run(c.name, func(b *testing.B) {
			in := sample(c.codec, c.n, c.len)
			raw, _ := Decompress(nil, c.codec, in[HeaderBytes:], 1<<30)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Validate(in, Options{Policy: &p, NowMs: testNow}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("crc-only/16KiB", func(b *testing.B) {
		in := sample(None, 16, 1<<10)
		b.SetBytes(int64(len(in)))
		for b.Loop() {
			in.ComputeCRC()
		}
	})
}
