package disk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func newFile(t testing.TB, d Dir, name, content string) File {
	t.Helper()
	f := must(d.Create(name, 0))(t)
	if content != "" {
		must(f.WriteAt([]byte(content), 0))(t)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// names lists the files at the root of d with their contents.
func contents(t testing.TB, d Dir) []string {
	t.Helper()
	var all []string
	for _, e := range must(d.List(""))(t) {
		if !e.Dir {
			all = append(all, e.Name+"="+string(must(ReadFile(d, e.Name))(t)))
		}
	}
	return all
}

func wantContents(t testing.TB, d Dir, want ...string) {
	t.Helper()
	if got := contents(t, d); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestMemCrash is a table of what is done before the crash, what must be left if
// all unsynced changes are lost, and what if none is.
func TestMemCrash(t *testing.T) {
	for _, tc := range []struct {
		name       string
		do         func(t *testing.T, m *Mem)
		lost, kept []string
	}{
		{"new file, synced, directory not", func(t *testing.T, m *Mem) {
			check(t, newFile(t, m, "a", "x").Sync())
		}, nil, []string{"a=x"}},
		{"new file, not synced, directory synced", func(t *testing.T, m *Mem) {
			newFile(t, m, "a", "x")
			check(t, m.SyncDir(""))
		}, []string{"a="}, []string{"a=x"}},
		{"both synced", func(t *testing.T, m *Mem) {
			check(t, newFile(t, m, "a", "x").Sync())
			check(t, m.SyncDir(""))
		}, []string{"a=x"}, []string{"a=x"}},
		{"overwritten", func(t *testing.T, m *Mem) {
			f := newFile(t, m, "a", "old")
			check(t, f.Sync())
			check(t, m.SyncDir(""))
			must(f.WriteAt([]byte("new!"), 0))(t)
		}, []string{"a=old"}, []string{"a=new!"}},
		{"removed", func(t *testing.T, m *Mem) {
			check(t, newFile(t, m, "a", "x").Sync())
			check(t, m.SyncDir(""))
			check(t, m.Remove("a"))
		}, []string{"a=x"}, nil},
		{"renamed over another", func(t *testing.T, m *Mem) {
			check(t, newFile(t, m, "a", "old").Sync())
			check(t, m.SyncDir(""))
			check(t, newFile(t, m, "b", "new").Sync())
			check(t, m.Rename("b", "a"))
		}, []string{"a=old"}, []string{"a=new"}},
		{"renamed without syncing the data", func(t *testing.T, m *Mem) {
			check(t, newFile(t, m, "a", "old").Sync())
			newFile(t, m, "b", "new")
			check(t, m.Rename("b", "a"))
			check(t, m.SyncDir(""))
		}, []string{"a="}, []string{"a=new"}},
		{"written atomically", func(t *testing.T, m *Mem) {
			check(t, WriteFileAtomic(m, "a", []byte("x")))
		}, []string{"a=x"}, []string{"a=x"}},
		{"truncated", func(t *testing.T, m *Mem) {
			f := newFile(t, m, "a", "long")
			check(t, f.Sync())
			check(t, m.SyncDir(""))
			check(t, f.Truncate(2))
		}, []string{"a=long"}, []string{"a=lo"}},
		{"file in a directory that was not synced", func(t *testing.T, m *Mem) {
			check(t, m.MkdirAll("d"))
			check(t, newFile(t, m, "d/a", "x").Sync())
			check(t, m.SyncDir("d"))
		}, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewMem(1)
			defer m.Close()
			tc.do(t, m)
			strict := m.CrashClone(nil, CrashOptions{})
			defer strict.Close()
			wantContents(t, strict, tc.lost...)
			lucky := m.CrashClone(nil, CrashOptions{UnsyncedBlocks: 1, UnsyncedDirOps: 1})
			defer lucky.Close()
			wantContents(t, lucky, tc.kept...)
			again := strict.CrashClone(nil, CrashOptions{})
			defer again.Close()
			wantContents(t, again, tc.lost...)
		})
	}
}

// TestMemCrashBlocks writes at random and checks, for each block of the crashed
// disk, that it holds its last synced content or one written after that.
func TestMemCrashBlocks(t *testing.T) {
	const blocks = 16
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := NewMem(seed)
		f := newFile(t, m, "f", "")
		check(t, f.Allocate(blocks*BlockSize))
		check(t, f.Sync())
		check(t, m.SyncDir(""))
		allowed := make([][]byte, blocks) // first bytes that each block may have
		for i := range allowed {
			allowed[i] = []byte{0}
		}
		for step := range 60 {
			if rng.IntN(8) == 0 {
				check(t, f.Sync())
				for i := range allowed {
					allowed[i] = allowed[i][len(allowed[i])-1:]
				}
				continue
			}
			i, n := rng.IntN(blocks-3), 1+rng.IntN(3)
			must(f.WriteAt(bytes.Repeat([]byte{byte(step + 1)}, n*BlockSize), int64(i)*BlockSize))(t)
			for j := range n {
				allowed[i+j] = append(allowed[i+j], byte(step+1))
			}
		}
		crashed := m.CrashClone(nil, CrashOptions{UnsyncedBlocks: 0.5, UnsyncedDirOps: 0.5})
		got := must(ReadFile(crashed, "f"))(t)
		for i := range blocks {
			block := got[i*BlockSize : (i+1)*BlockSize]
			if !bytes.Contains(allowed[i], block[:1]) || bytes.Count(block, block[:1]) != BlockSize {
				t.Errorf("seed %d: block %d holds %d, which it never could", seed, i, block[0])
			}
		}
		check(t, m.Close())
		check(t, crashed.Close())
	}
}

// TestMemCrashTears looks for both fates of one two-block write.
func TestMemCrashTears(t *testing.T) {
	m := NewMem(7)
	defer m.Close()
	f := newFile(t, m, "f", "")
	check(t, f.Allocate(2*BlockSize))
	check(t, f.Sync())
	check(t, m.SyncDir(""))
	must(f.WriteAt(bytes.Repeat([]byte{1}, 2*BlockSize), 0))(t)
	seen := map[string]bool{}
	for range 100 {
		c := m.CrashClone(nil, CrashOptions{UnsyncedBlocks: 0.5})
		data := must(ReadFile(c, "f"))(t)
		seen[fmt.Sprint(data[0], data[BlockSize])] = true
		check(t, c.Close())
	}
	if len(seen) != 4 {
		t.Errorf("only these outcomes of a torn write: %v", seen)
	}
}

func TestMemCrashIsSeeded(t *testing.T) {
	crash := func() []string {
		m := NewMem(3)
		defer m.Close()
		for i := range 10 {
			newFile(t, m, fmt.Sprint(i), fmt.Sprint("content ", i))
		}
		c := m.CrashClone(nil, CrashOptions{UnsyncedBlocks: 0.5, UnsyncedDirOps: 0.5})
		defer c.Close()
		return contents(t, c)
	}
	first := crash()
	if len(first) == 0 || len(first) == 10 {
		t.Fatalf("the crash lost all or nothing: %q", first)
	}
	if second := crash(); !slices.Equal(first, second) {
		t.Errorf("one seed, two disks: %q and %q", first, second)
	}
}

func TestMemCapacity(t *testing.T) {
	m := NewMem(1)
	defer m.Close()
	m.SetCapacity(4 * BlockSize)
	a := newFile(t, m, "a", "")
	check(t, a.Allocate(3*BlockSize))
	wantIs(t, a.Allocate(5*BlockSize), ErrNoSpace)
	b := must(m.Create("b", 0))(t)
	n, err := b.WriteAt(make([]byte, 2*BlockSize), 0)
	wantIs(t, err, ErrNoSpace)
	if n != BlockSize {
		t.Errorf("wrote %d bytes, one block was left", n)
	}
	must(a.WriteAt(make([]byte, BlockSize), 0))(t) // it is allocated
	if u := must(m.Usage())(t); u.Free != 0 || u.Total != 4*BlockSize {
		t.Errorf("usage %+v", u)
	}
	check(t, m.Remove("b"))
	if u := must(m.Usage())(t); u.Free != 0 {
		t.Errorf("an open file's blocks were freed: %+v", u)
	}
	check(t, b.Close())
	if u := must(m.Usage())(t); u.Free != BlockSize {
		t.Errorf("after the last close: %+v", u)
	}
	check(t, a.Truncate(0))
	if u := must(m.Usage())(t); u.Free != 4*BlockSize {
		t.Errorf("after truncation: %+v", u)
	}
}
