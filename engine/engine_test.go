package engine

import (
	"errors"
	"fmt"
	"testing"

	"github.com/spatemq/spate/engine/disk"
)

func backends(t *testing.T, fn func(t *testing.T, open func() disk.Dir)) {
	t.Run("psync", func(t *testing.T) {
		path := t.TempDir()
		fn(t, func() disk.Dir {
			d, err := disk.OpenPsync(path)
			if err != nil {
				t.Fatal(err)
			}
			return d
		})
	})
}

func TestAppendReadReopen(t *testing.T) {
	backends(t, func(t *testing.T, open func() disk.Dir) {
		e := openEngine(t, open())
		createTopic(t, e, "a", 3, nil)
		want := map[int64]string{}
		p := e.Partition("a", 1)
		var acks []<-chan *AppendRequest
		for i := range 300 {
			acks = append(acks, appendAsync(p, makeBatch(3, 4000, fmt.Sprint("b", i))))
		}
		for i, ch := range acks {
			r := await(t, ch)
			if r.Err != nil || r.BaseOffset != int64(i*3) {
				t.Fatalf("batch %d: offset %d, error %v", i, r.BaseOffset, r.Err)
			}
			for k := range 3 {
				want[int64(i*3+k)] = fmt.Sprintf("b%d/%d", i, k)
			}
		}
		check := func(e *Engine) {
			t.Helper()
			got := readValues(t, e.Partition("a", 1))
			if len(got) != len(want) {
				t.Fatalf("%d records, want %d", len(got), len(want))
			}
			for o, v := range want {
				if got[o] != v {
					t.Fatalf("offset %d: %q, want %q", o, got[o], v)
				}
			}
		}
		check(e)
		for range 3 {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = openEngine(t, open())
			check(e)
			if n := mustAppend(t, e.Partition("a", 2), makeBatch(1, 10, "x")); n != e.Partition("a", 2).HighWatermark()-1 {
				t.Fatalf("offset %d", n)
			}
		}
	})
}

func TestOffsetsOutOfRange(t *testing.T) {
	backends(t, func(t *testing.T, open func() disk.Dir) {
		e := openEngine(t, open())
		createTopic(t, e, "a", 1, nil)
		p := e.Partition("a", 0)
		mustAppend(t, p, makeBatch(5, 10, "x"))
		for _, off := range []int64{-1, 6} {
			var r ReadResult
			if !p.Read(ReadRequest{Offset: off, MaxBytes: 100}, &r) || !errors.Is(r.Err, ErrOffsetOutOfRange) {
				t.Fatalf("offset %d: %v", off, r.Err)
			}
		}
		var r ReadResult
		if !p.Read(ReadRequest{Offset: 5, MaxBytes: 100}, &r) || r.Err != nil || r.Bytes != 0 || r.HighWatermark != 5 {
			t.Fatalf("at the end: %+v", r)
		}
	})
}

func TestDeletedSpaceComesBack(t *testing.T) {
	backends(t, func(t *testing.T, open func() disk.Dir) {
		e := openEngine(t, open())
		topic := createTopic(t, e, "a", 4, nil)
		for i := range 60 {
			mustAppend(t, e.Partition("a", int32(i%4)), makeBatch(1, 200<<10, "x"))
		}
		if n := e.Stats().Segments; n < 10 {
			t.Fatalf("only %d segments", n)
		}
		start := make(chan error, 1)
		e.Partition("a", 0).DeleteRecords(-1, func(s int64, err error) {
			if s != 15 {
				err = errors.Join(err, fmt.Errorf("log start %d", s))
			}
			start <- err
		})
		if err := await(t, start); err != nil {
			t.Fatal(err)
		}
		gone := make(chan error, 1)
		e.DeleteTopic(topic.ID, func(err error) { gone <- err })
		if err := await(t, gone); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return e.Stats().Segments <= 4 })
		if e.Partition("a", 0) != nil {
			t.Fatal("partition is still there")
		}
		e.Close()
		e = openEngine(t, open())
		if e.Catalog().Topic("a") != nil {
			t.Fatal("topic is back")
		}
	})
}
