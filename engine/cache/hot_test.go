package cache

import (
	"bytes"
	"testing"

	"github.com/spatemq/spate/engine/disk"
)

const (
	page     = disk.BlockSize
	slabSize = 4 * page
)

// newHot makes a Hot of that many slabs and counts the calls of onFree.
func newHot(t *testing.T, slabs int) (h *Hot, freed *int) {
	t.Helper()
	d := disk.NewMem(1)
	freed = new(int)
	h, err := NewHot(d, slabs*slabSize, slabSize, func() { *freed++ })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(); d.Close() })
	return h, freed
}

// reserve fills n bytes at lsn with fill.
func reserve(t *testing.T, h *Hot, lsn uint64, n int, fill byte) *Slab {
	t.Helper()
	b, s := h.Reserve(lsn, n)
	if len(b) != n || s == nil {
		t.Fatalf("Reserve(%d, %d) gave %d bytes", lsn, n, len(b))
	}
	for i := range b {
		b[i] = fill
	}
	return s
}

func wantHot(t *testing.T, h *Hot, lsn uint64, n int, fill byte) {
	t.Helper()
	b, s := h.Get(lsn, n)
	if s == nil {
		t.Fatalf("%d bytes at %d are not hot", n, lsn)
	}
	defer s.Release()
	if !bytes.Equal(b, bytes.Repeat([]byte{fill}, n)) {
		t.Fatalf("wrong bytes at %d", lsn)
	}
}

func wantNotHot(t *testing.T, h *Hot, lsn uint64, n int) {
	t.Helper()
	if h.Has(lsn, n) {
		t.Fatalf("%d bytes at %d are hot", n, lsn)
	}
}

func TestHotSharesSlabs(t *testing.T) {
	h, _ := newHot(t, 2)
	a := reserve(t, h, 100*page, page, 1)
	b := reserve(t, h, 101*page, 2*page, 2)
	if a != b {
		t.Fatal("contiguous blocks do not share a slab")
	}
	if c := reserve(t, h, 200*page, page, 3); c == a {
		t.Fatal("a block elsewhere shares the slab")
	}
	wantHot(t, h, 100*page, page, 1)
	wantHot(t, h, 101*page+7, 50, 2)
	wantHot(t, h, 200*page, page, 3)
	wantNotHot(t, h, 100*page-1, 2)
	wantNotHot(t, h, 102*page, 2*page) // reaches past what is used
	wantNotHot(t, h, 150*page, 1)
	got, s := h.Get(100*page, page)
	defer s.Release()
	if cap(got) != page {
		t.Fatalf("a reader's slice reaches %d bytes far", cap(got))
	}
}

func TestHotEvictsOldestIdle(t *testing.T) {
	h, _ := newHot(t, 3)
	at := func(i int) uint64 { return uint64(i) * slabSize }
	first := reserve(t, h, at(0), slabSize, 1)
	for i := 1; i < 3; i++ {
		reserve(t, h, at(i), slabSize, byte(i+1)).Release()
	}
	// The first is older but in use: its bytes stay.
	reserve(t, h, at(3), slabSize, 4).Release()
	wantHot(t, h, at(0), slabSize, 1)
	wantNotHot(t, h, at(1), 1)
	wantHot(t, h, at(2), slabSize, 3)
	first.Release()
	reserve(t, h, at(4), slabSize, 5).Release()
	wantNotHot(t, h, at(0), 1)
	for i := 2; i < 5; i++ {
		wantHot(t, h, at(i), slabSize, byte(i+1))
	}
}

func TestHotExtraSlabsAndRefusal(t *testing.T) {
	h, freed := newHot(t, 2)
	var slabs []*Slab
	for i := range 4 { // two of the arena, two extra
		slabs = append(slabs, reserve(t, h, uint64(i)*slabSize, slabSize, byte(i+1)))
	}
	if b, s := h.Reserve(4*slabSize, slabSize); b != nil || s != nil {
		t.Fatal("more memory than the limit")
	}
	for i := range 4 {
		wantHot(t, h, uint64(i)*slabSize, slabSize, byte(i+1))
	}
	if *freed != 0 {
		t.Fatal("woken although nothing is free")
	}
	slabs[2].Release() // extra: gone at once
	wantNotHot(t, h, 2*slabSize, 1)
	if *freed != 1 {
		t.Fatalf("onFree called %d times", *freed)
	}
	slabs[0].Release() // nobody was refused since
	if *freed != 1 {
		t.Fatalf("onFree called %d times", *freed)
	}
	slabs[1].Release()
	slabs[3].Release()
	reserve(t, h, 4*slabSize, slabSize, 5).Release()
	if h.extra != 0 {
		t.Fatalf("%d bytes of extra memory stay", h.extra)
	}
}

// TestHotOversize: blocks larger than a slab, even than the whole cache, follow one
// another for ever: the one before gives its memory back.
func TestHotOversize(t *testing.T) {
	h, freed := newHot(t, 2)
	lsn := uint64(0)
	for i := range 20 {
		n := 3*slabSize + page
		reserve(t, h, lsn, n, byte(i+1)).Release()
		wantHot(t, h, lsn, n, byte(i+1))
		lsn += uint64(n)
	}
	held := reserve(t, h, lsn, 3*slabSize, 99)
	if b, _ := h.Reserve(lsn+3*slabSize, 3*slabSize); b != nil {
		t.Fatal("oversize blocks are not limited")
	}
	held.Release()
	if *freed != 1 {
		t.Fatal("not woken")
	}
	reserve(t, h, lsn+3*slabSize, 3*slabSize, 100).Release()
}

func TestHotDoubleReleasePanics(t *testing.T) {
	h, _ := newHot(t, 2)
	s := reserve(t, h, 0, page, 1)
	s.Release()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	s.Release()
}
