package txn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"testing"
	"unsafe"
)

func busy(producers, batches int) *Producers {
	p := new(Producers)
	for id := range producers {
		for i := range batches {
			p.Append(BatchMeta{ProducerID: int64(id) * 7, Epoch: int16(id % 3), BaseSequence: int32(i), Count: 1,
				BaseOffset: int64(id*batches + i), Timestamp: -1, NowMs: int64(id), Transactional: id%5 == 0})
		}
	}
	return p
}

// TestSnapshotDamage: no flipped bit and no missing byte goes unnoticed.
func TestSnapshotDamage(t *testing.T) {
	snap := busy(20, 7).Encode(nil)
	for i := range snap {
		for bit := range 8 {
			bad := bytes.Clone(snap)
			bad[i] ^= 1 << bit
			if _, err := Decode(bad, 100); !errors.Is(err, ErrSnapshot) {
				t.Fatalf("bit %d of byte %d flipped: %v", bit, i, err)
			}
		}
		if _, err := Decode(snap[:i], 100); !errors.Is(err, ErrSnapshot) {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
	}
}

func TestSnapshotAboveLimit(t *testing.T) {
	p, err := Decode(busy(100, 1).Encode(nil), 50)
	if err != nil || p.Len() > 50 {
		t.Fatalf("%d producers, %v", p.Len(), err)
	}
	if p.find(99*7) == nil || p.find(1*7) != nil {
		t.Fatal("not the longest unused have been forgotten")
	}
	if p.find(0) == nil {
		t.Fatal("a producer with an open transaction has been forgotten")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(busy(0, 0).Encode(nil))
	f.Add(busy(3, 6).Encode(nil))
	f.Add(busy(20, 2).Encode(nil))
	f.Fuzz(func(t *testing.T, src []byte) {
		fixCRC(src)
		p, err := Decode(src, 1<<20)
		if err != nil {
			if !errors.Is(err, ErrSnapshot) {
				t.Fatal(err)
			}
			return
		}
		again, err := Decode(p.Encode(nil), 1<<20)
		if err != nil || !bytes.Equal(again.Encode(nil), p.Encode(nil)) {
			t.Fatalf("not stable: %v", err)
		}
		p.Check(BatchMeta{ProducerID: 3, Count: 1})
		p.Append(BatchMeta{ProducerID: 3, Count: 1})
	})
}

// fixCRC lets the fuzzer get past the checksum.
func fixCRC(src []byte) {
	if n := len(src) - snapshotTail; n >= 0 {
		copy(src[n:], crcOf(src[:n]))
	}
}

// TestMemory pins what doc.go says.
func TestMemory(t *testing.T) {
	if got := unsafe.Sizeof(entry{}); got != 64 {
		t.Errorf("a producer takes %d bytes", got)
	}
	if got := unsafe.Sizeof([Window - 1]batch{}); got != 96 {
		t.Errorf("older batches take %d bytes", got)
	}
}

func TestNoAllocation(t *testing.T) {
	p := busy(100, 5)
	m := BatchMeta{ProducerID: 14, Epoch: 2, BaseSequence: 5, Count: 10, NowMs: 1}
	if n := testing.AllocsPerRun(1000, func() {
		if v := p.Check(m); v.Outcome != Accept {
			t.Fatal(v.Err)
		}
		p.Append(m)
		m.BaseSequence = addSequence(m.BaseSequence, m.Count)
	}); n != 0 {
		t.Errorf("%v allocations for a batch", n)
	}
}

// TestWrapEverywhere moves a window over the wrap at every alignment.
func TestWrapEverywhere(t *testing.T) {
	for size := int32(1); size <= 9; size++ {
		p := new(Producers)
		seq := int32(math.MaxInt32 - 20)
		var sent []BatchMeta
		for i := range 12 {
			m := BatchMeta{ProducerID: 1, BaseSequence: seq, Count: size, BaseOffset: int64(i)}
			if v := p.Check(m); v.Outcome != Accept {
				t.Fatalf("size %d: %v", size, v.Err)
			}
			p.Append(m)
			sent = append(sent, m)
			for back := 1; back <= len(sent); back++ {
				v := p.Check(sent[len(sent)-back])
				if back <= Window && (v.Outcome != Duplicate || v.BaseOffset != sent[len(sent)-back].BaseOffset) ||
					back > Window && !errors.Is(v.Err, ErrOutOfOrderSequence) {
					t.Fatalf("size %d, %d back: %+v", size, back, v)
				}
			}
			seq = addSequence(seq, size)
		}
	}
}

func crcOf(b []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.Checksum(b, castagnoli))
}
