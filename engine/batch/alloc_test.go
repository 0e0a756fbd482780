//go:build !race

// The race detector makes sync.Pool drop what it is given, so allocations cannot
// be counted under it.

package batch

import "testing"

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
