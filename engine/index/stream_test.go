package index

import (
	"reflect"
	"testing"
)

func add(s *Stream, seg uint32, base, end int64, lsn uint64, bytes uint32, ts int64, epoch int32) {
	s.Add(seg, Run{Base: base, LSN: lsn, Bytes: bytes, MaxTime: ts, Epoch: epoch}, end)
}

func TestRunsOfOneGroupMerge(t *testing.T) {
	var s Stream
	add(&s, 1, 0, 10, 4096, 100, 5, 0)
	add(&s, 1, 10, 20, 4196, 50, 7, 0)
	add(&s, 1, 20, 30, 8192, 50, 6, 0)
	want := []Run{{Base: 0, LSN: 4096, Bytes: 150, MaxTime: 7}, {Base: 20, LSN: 8192, Bytes: 50, MaxTime: 6}}
	if !reflect.DeepEqual(s.Parts[0].Runs, want) {
		t.Fatalf("got %+v", s.Parts[0].Runs)
	}
	if s.End != 30 || s.Bytes != 200 || s.Parts[0].MaxTime != 7 {
		t.Fatalf("got end %d bytes %d max time %d", s.End, s.Bytes, s.Parts[0].MaxTime)
	}
	if i := FindRun(s.Parts[0].Runs, 25); i != 1 {
		t.Fatalf("offset 25 in run %d", i)
	}
}

func TestMissingOffsetsAreLostNotAbsent(t *testing.T) {
	var s Stream
	add(&s, 1, 0, 10, 4096, 100, 5, 0)
	add(&s, 2, 15, 20, 1<<33, 100, 5, 0)
	p := s.Parts[1]
	if p.Base != 10 || len(p.Runs) != 2 || p.Runs[0].Bytes != 0 || p.Runs[0].Base != 10 {
		t.Fatalf("got %+v", p)
	}
	if s.Find(12) != 1 || FindRun(p.Runs, 12) != 0 || FindRun(p.Runs, 15) != 1 {
		t.Fatal("lost offsets are not found as lost")
	}
}

func TestFirstOffsetsMayBeDeleted(t *testing.T) {
	var s Stream
	add(&s, 3, 100, 110, 4096, 100, 5, 0)
	if s.LogStart != 100 || len(s.Parts[0].Runs) != 1 {
		t.Fatalf("got %+v", s)
	}
}

func TestTrimDropsWholeParts(t *testing.T) {
	var s Stream
	add(&s, 1, 0, 10, 4096, 100, 5, 0)
	add(&s, 2, 10, 20, 1<<33, 100, 5, 2)
	add(&s, 3, 20, 30, 3<<32, 100, 5, 4)
	if got := s.Trim(15); !reflect.DeepEqual(got, []uint32{1}) {
		t.Fatalf("dropped %v", got)
	}
	if s.LogStart != 15 || s.Bytes != 200 || len(s.Parts) != 2 {
		t.Fatalf("got %+v", s)
	}
	if want := []EpochStart{{2, 15}, {4, 20}}; !reflect.DeepEqual(s.Epochs, want) {
		t.Fatalf("epochs %v", s.Epochs)
	}
	if got := s.Trim(30); !reflect.DeepEqual(got, []uint32{2, 3}) || s.End != 30 {
		t.Fatalf("dropped %v end %d", got, s.End)
	}
}

func TestEpochEnd(t *testing.T) {
	var s Stream
	add(&s, 1, 0, 10, 4096, 100, 5, 1)
	add(&s, 1, 10, 20, 8192, 100, 5, 4)
	for _, c := range []struct {
		epoch, wantEpoch int32
		wantEnd          int64
	}{{0, 0, 0}, {1, 1, 10}, {2, 1, 10}, {3, 1, 10}, {4, 4, 20}, {5, 5, 20}, {6, -1, -1}, {-1, -1, -1}} {
		e, end := s.EpochEnd(c.epoch, 5, 20)
		if e != c.wantEpoch || end != c.wantEnd {
			t.Errorf("epoch %d: got %d,%d want %d,%d", c.epoch, e, end, c.wantEpoch, c.wantEnd)
		}
	}
}

func TestFileRoundTripAndDamage(t *testing.T) {
	var a, b Stream
	a.ID, b.ID = 9, 4
	add(&a, 7, 0, 10, 7<<32|4096, 100, 5, 1)
	add(&a, 7, 10, 20, 7<<32|8192, 100, 9, 2)
	add(&b, 7, 3, 4, 7<<32|12288, 10, 1, 2)
	enc := Encode(7, []FileStream{{a.ID, a.Parts[0], -1, []byte("state")}, {b.ID, b.Parts[0], 3, nil}})
	f, err := Decode(enc)
	if err != nil {
		t.Fatal(err)
	}
	if f.Seg != 7 || f.Streams[0].ID != 4 || f.Streams[1].ID != 9 || string(f.Streams[1].Blob) != "state" || f.Streams[0].LogStart != 3 {
		t.Fatalf("got %+v", f.Streams)
	}
	p := f.Streams[1].Part
	if !reflect.DeepEqual(f.Runs(p.First, p.Count), a.Parts[0].Runs) {
		t.Fatalf("runs %+v", f.Runs(p.First, p.Count))
	}
	if got := f.Epochs(&p); !reflect.DeepEqual(got, []EpochStart{{1, 0}, {2, 10}}) {
		t.Fatalf("epochs %v", got)
	}
	for i := range enc {
		bad := append([]byte(nil), enc...)
		bad[i] ^= 0x40
		if g, err := Decode(bad); err == nil {
			t.Fatalf("bit flip at %d accepted: %+v", i, g)
		}
	}
	for i := range enc {
		if _, err := Decode(enc[:i]); err == nil {
			t.Fatalf("truncation at %d accepted", i)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var a Stream
	add(&a, 7, 0, 10, 7<<32|4096, 100, 5, 1)
	f.Add(Encode(7, []FileStream{{1, a.Parts[0], -1, []byte("state")}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := Decode(b)
		if err != nil {
			return
		}
		for i := range g.Streams {
			p := &g.Streams[i].Part
			g.Runs(p.First, p.Count)
			g.Epochs(p)
		}
	})
}
