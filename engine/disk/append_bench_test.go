package disk

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// BenchmarkDurableAppend appends durable 4 KiB blocks to written extents, one at
// a time. The ways alternate op by op, so that they meet the same disk; the ratios
// are of medians, against a bare pwrite and fdatasync in the same goroutine.
//
//	go test -run - -bench DurableAppend -benchtime 2000x ./engine/disk
func BenchmarkDurableAppend(b *testing.B) {
	type way struct {
		name   string
		dir    Dir
		append func(off int64) error
		took   []time.Duration
	}
	var ways []*way
	add := func(name string, d Dir, bare bool) {
		b.Cleanup(func() { check(b, d.Close()) })
		f, buf := writtenFile(b, d)
		w := &way{name: name, dir: d}
		done := make(chan error, 1)
		op := &Op{Kind: OpWriteSync, File: f, Buf: buf, Done: func(op *Op) { done <- op.Err }}
		w.append = func(off int64) error {
			op.Off = off
			d.Submit(op)
			return <-done
		}
		if bare {
			w.append = func(off int64) error {
				if _, err := f.WriteAt(buf, off); err != nil {
					return err
				}
				return f.Sync()
			}
		}
		ways = append(ways, w)
	}
	add("bare", must(OpenPsync(b.TempDir()))(b), true)
	add("psync", must(OpenPsync(b.TempDir()))(b), false)
	add("ring-eventfd", must(openRing(b.TempDir(), ringOptions{}))(b), false)
	add("ring-blocking", must(openRing(b.TempDir(), ringOptions{blockingWait: true}))(b), false)

	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		for _, w := range ways {
			start := time.Now()
			check(b, w.append(int64(i%benchBlocks)*BlockSize))
			w.took = append(w.took, time.Since(start))
		}
	}
	b.StopTimer()
	var bare float64
	for _, w := range ways {
		slices.Sort(w.took)
		p50, p99 := w.took[len(w.took)/2], w.took[len(w.took)*99/100]
		if w.name == "bare" {
			bare = float64(p50)
		}
		b.ReportMetric(float64(p50.Microseconds()), w.name+"-p50-µs")
		b.ReportMetric(float64(p99.Microseconds()), w.name+"-p99-µs")
		b.ReportMetric(float64(p50)/bare, w.name+"-ratio")
	}
	b.ReportMetric(0, "ns/op")
}

const benchBlocks = 1024

// writtenFile makes a file whose blocks are all written, and a block to write.
func writtenFile(b *testing.B, d Dir) (File, []byte) {
	f := must(d.Create(fmt.Sprintf("bench-%d", runtime.NumGoroutine()), Direct))(b)
	b.Cleanup(func() { check(b, f.Close()) })
	all := aligned(b, d, benchBlocks*BlockSize)
	must(f.WriteAt(pattern(all, 1), 0))(b)
	check(b, f.Sync())
	return f, all[:BlockSize]
}
