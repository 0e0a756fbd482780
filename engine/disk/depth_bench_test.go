package disk

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkDepth keeps several operations in flight, with Done submitting the next
// one as the log does: durable groups one after the other, and random direct
// reads. The backends take turns of a few hundred milliseconds.
//
//	go test -run - -bench Depth -benchtime 3x ./engine/disk
func BenchmarkDepth(b *testing.B) {
	for _, tc := range []struct {
		kind        OpKind
		size, depth int
	}{
		{OpWriteSync, 4 << 10, 1}, {OpWriteSync, 4 << 10, 4}, {OpWriteSync, 64 << 10, 1}, {OpWriteSync, 64 << 10, 4},
		{OpWriteSync, 1 << 20, 1}, {OpWriteSync, 1 << 20, 2}, {OpWriteSync, 1 << 20, 4},
		{OpRead, 4 << 10, 1}, {OpRead, 4 << 10, 8}, {OpRead, 4 << 10, 32}, {OpRead, 128 << 10, 1}, {OpRead, 128 << 10, 4},
	} {
		kind := map[OpKind]string{OpWriteSync: "durable", OpRead: "read"}[tc.kind]
		b.Run(fmt.Sprintf("%s/%dk/depth%d", kind, tc.size>>10, tc.depth), func(b *testing.B) {
			dirs := []Dir{must(OpenPsync(b.TempDir()))(b), must(OpenRing(b.TempDir()))(b)}
			perSecond := make([]float64, len(dirs))
			var streams []*benchStream
			for _, d := range dirs {
				b.Cleanup(func() { check(b, d.Close()) })
				streams = append(streams, newBenchStream(b, d, tc.kind, tc.size, tc.depth))
			}
			b.ResetTimer()
			for range b.N {
				for i, s := range streams {
					perSecond[i] += s.run(b, 300*time.Millisecond) / float64(b.N)
				}
			}
			for i, d := range dirs {
				b.ReportMetric(perSecond[i], d.Backend()+"-op/s")
			}
			b.ReportMetric(perSecond[1]/perSecond[0], "ring/psync")
			b.ReportMetric(0, "ns/op")
		})
	}
}

const benchFileSize = 64 << 20

// benchStream keeps depth operations in flight.
type benchStream struct {
	dir    Dir
	ops    []*Op
	size   int64
	random bool
}

func newBenchStream(b *testing.B, d Dir, kind OpKind, size, depth int) *benchStream {
	f := must(d.Create("bench", Direct))(b)
	b.Cleanup(func() { check(b, f.Close()) })
	chunk := aligned(b, d, 4<<20)
	for off := int64(0); off < benchFileSize; off += int64(len(chunk)) {
		must(f.WriteAt(chunk, off))(b)
	}
	check(b, f.Sync())
	s := &benchStream{dir: d, size: int64(size), random: kind == OpRead}
	for i := range depth {
		s.ops = append(s.ops, &Op{Kind: kind, File: f, Buf: aligned(b, d, size), Off: int64(i * size)})
	}
	return s
}

// run returns the operations per second over so long a time.
func (s *benchStream) run(b *testing.B, period time.Duration) float64 {
	type result struct {
		count int
		err   error
	}
	results := make(chan result, len(s.ops))
	start := time.Now()
	for _, op := range s.ops {
		count := 0
		op.Done = func(op *Op) {
			count++
			if op.Err != nil || time.Since(start) > period {
				results <- result{count, op.Err}
				return
			}
			if s.random {
				op.Off = rand.Int64N(benchFileSize/s.size) * s.size
			} else {
				op.Off = (op.Off + s.size*int64(len(s.ops))) % benchFileSize
			}
			s.dir.Submit(op)
		}
	}
	s.dir.Submit(s.ops...)
	total := 0
	for range s.ops {
		r := <-results
		check(b, r.err)
		total += r.count
	}
	return float64(total) / time.Since(start).Seconds()
}
