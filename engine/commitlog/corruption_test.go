package commitlog

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spatemq/spate/engine/disk"
)

// collector waits for entries.
type collector struct {
	mu   sync.Mutex
	left int
	done chan struct{}
	errs []error
}

func (c *collector) Sealed(*Entry) {}

func (c *collector) Completed(e *Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Err != nil {
		c.errs = append(c.errs, e.Err)
	}
	if c.left--; c.left == 0 {
		close(c.done)
	}
}

func openLog(t *testing.T, dir disk.Dir) (*Log, Report, []string) {
	t.Helper()
	l, err := Open(Options{Dir: dir, SegmentBytes: 1 << 20, GroupMaxBytes: 64 << 10, GroupsInFlight: 1, HotBytes: 2 << 20,
		ColdBytes: 256 << 10, ReadSlotBytes: 64 << 10, ReadSlots: 1, SpareSegments: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	rep, err := l.Recover(func(uint32) bool { return true }, func(b *Block) {
		for i, d := range b.Entries {
			state := "ok"
			if b.Bad != nil && b.Bad[i] {
				state = "bad"
			}
			found = append(found, fmt.Sprintf("%d:%s", d.BaseOffset, state))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	return l, rep, found
}

// write appends entries one by one, so that each is a block of its own, and tells
// where the blocks begin.
func write(t *testing.T, l *Log, from, n, bytes int) (lsns []uint64) {
	t.Helper()
	for i := range n {
		c := &collector{left: 1, done: make(chan struct{})}
		e := &Entry{Stream: 7, BaseOffset: int64(from + i), Span: 1, Kind: KindBatch, Owner: c,
			Payload: []byte(strings.Repeat(string(rune('a'+i%26)), bytes))}
		lsns = append(lsns, l.Tail())
		l.Append(e)
		l.Kick()
		select {
		case <-c.done:
		case <-time.After(20 * time.Second):
			t.Fatal("entry is not completed")
		}
		if len(c.errs) > 0 {
			t.Fatal(c.errs[0])
		}
	}
	return lsns
}

// TestCorruption is the table of named damages: what recovery makes of each.
// Six blocks of one entry each stand in the log; block 3 is two 4 KiB pages and more.
func TestCorruption(t *testing.T) {
	const size = 9000 // 3 pages a block
	all := "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok"
	for _, c := range []struct {
		name    string
		damage  func(p []byte, at []int) // p is the segment, at the blocks' positions
		want    string
		cut     bool
		damages int
	}{
		{"nothing", func([]byte, []int) {}, all, false, 0},
		{"torn tail: last page missing", func(p []byte, at []int) { clear(p[at[5]+8192 : at[5]+12288]) }, "0:ok 1:ok 2:ok 3:ok 4:ok", true, 0},
		{"torn tail: first page missing", func(p []byte, at []int) { clear(p[at[5] : at[5]+4096]) }, "0:ok 1:ok 2:ok 3:ok 4:ok", false, 0},
		{"torn tail: bit flip in the body", func(p []byte, at []int) { p[at[5]+5000] ^= 1 }, "0:ok 1:ok 2:ok 3:ok 4:ok", true, 0},
		{"bit flip in a body", func(p []byte, at []int) { p[at[2]+5000] ^= 1 }, "0:ok 1:ok 2:bad 3:ok 4:ok 5:ok", false, 1},
		{"bit flip in a header: the trailer names the entries", func(p []byte, at []int) { p[at[2]+20] ^= 1 }, all, false, 1},
		{"bit flip in a directory: the second copy serves", func(p []byte, at []int) { p[at[2]+70] ^= 1 }, all, false, 1},
		{"bit flip in a magic", func(p []byte, at []int) { p[at[2]] ^= 1 }, all, false, 1},
		{"first page lost in the middle", func(p []byte, at []int) { clear(p[at[2] : at[2]+4096]) }, "0:ok 1:ok 2:bad 3:ok 4:ok 5:ok", false, 1},
		{"whole block lost in the middle", func(p []byte, at []int) { clear(p[at[2]:at[3]]) }, "0:ok 1:ok 3:ok 4:ok 5:ok", false, 1},
		{"two blocks lost in the middle", func(p []byte, at []int) { clear(p[at[1]:at[3]]) }, "0:ok 3:ok 4:ok 5:ok", false, 1},
		{"trailer lost in the middle", func(p []byte, at []int) { clear(p[at[3]-64 : at[3]]) }, all, false, 0},
		{"a client's bytes that look like a block", func(p []byte, at []int) { copy(p[at[5]+4096:at[5]+8192], p[at[1]:at[1]+4096]) },
			"0:ok 1:ok 2:ok 3:ok 4:ok", true, 0},
		{"recycled garbage behind the end", func(p []byte, at []int) { copy(p[at[5]+12288:], p[at[0]:at[5]]) }, all, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := disk.NewMem(1)
			l, _, _ := openLog(t, dir)
			lsns := write(t, l, 0, 6, size)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			dir = dir.CrashClone(nil, disk.CrashOptions{})
			var at []int
			for _, lsn := range lsns {
				at = append(at, int(Offset(lsn)))
			}
			damage(t, dir, slotName(0), func(p []byte) { c.damage(p, at) })
			l, rep, found := openLog(t, dir)
			if got := strings.Join(found, " "); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
			if got := rep.CutFrom != 0; got != c.cut || len(rep.Damages) != c.damages {
				t.Errorf("cut %v, damages %v; want %v, %d", got, rep.Damages, c.cut, c.damages)
			}
			// The log goes on, and what is written now is there next time, once.
			write(t, l, 100, 3, size)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l, rep, found = openLog(t, dir.CrashClone(nil, disk.CrashOptions{}))
			if got, want := strings.Join(found, " "), c.want+" 100:ok 101:ok 102:ok"; got != want {
				t.Errorf("after more writes %q, want %q", got, want)
			}
			if rep.CutFrom != 0 {
				t.Errorf("after a clean end the log was cut at %x", rep.CutFrom)
			}
			l.Close()
		})
	}
}

func damage(t *testing.T, dir disk.Dir, name string, fn func([]byte)) {
	t.Helper()
	f, err := dir.Open(name, disk.Direct)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	a, err := dir.Arena(int(size))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	if _, err := f.ReadAt(a.Buf[:size], 0); err != nil {
		t.Fatal(err)
	}
	fn(a.Buf[:size])
	if _, err := f.WriteAt(a.Buf[:size], 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseHead(f *testing.F) {
	b := make([]byte, align)
	h := blockHead{lsn: LSN(1, align), bytes: align}
	h.put(b, magicHead, 5, nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, dir, err := parseHead(b, LSN(1, align), 5); err == nil {
			if len(dir) != int(h.entries)*entryBytes {
				t.Fatalf("directory of %d bytes for %d entries", len(dir), h.entries)
			}
			for _, d := range decodeDir(dir) {
				payloadOK(b, &d)
			}
		}
		parseTrail(b, LSN(1, align)+uint64(len(b)), 5)
	})
}
