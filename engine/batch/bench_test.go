package batch

import "testing"

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
