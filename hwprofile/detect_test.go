package hwprofile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestDetect builds trees of sysfs as written down in testdata and detects in
// them. Lines of a tree: "path = content", "path -> link target", "path/".
// "disk NAME DIR MAJ:MIN" and "part NAME DISKDIR MAJ:MIN" are short for the links and
// files that every disk and partition has.
func TestDetect(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var dev string
			d.ScanArgs(t, "dev", &dev)
			var major, minor uint32
			if _, err := fmt.Sscanf(dev, "%d:%d", &major, &minor); err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			for _, line := range strings.Split(d.Input, "\n") {
				plant(t, root, strings.TrimSpace(line))
			}
			return report(DetectDevice(root, major, minor))
		})
	})
}

func plant(t *testing.T, root, line string) {
	t.Helper()
	if f := strings.Fields(line); len(f) == 4 && (f[0] == "disk" || f[0] == "part") {
		dir := "sys/devices/" + f[2] + "/" + f[1]
		plant(t, root, dir+"/dev = "+f[3])
		plant(t, root, "sys/dev/block/"+f[3]+" -> ../../../"+dir)
		plant(t, root, "sys/class/block/"+f[1]+" -> ../../../"+dir)
		if f[0] == "part" {
			plant(t, root, dir+"/partition = 1")
		}
		return
	}
	if path, content, ok := strings.Cut(line, " = "); ok {
		write(t, root, path, func(full string) error { return os.WriteFile(full, []byte(content+"\n"), 0o644) })
	} else if path, target, ok := strings.Cut(line, " -> "); ok {
		write(t, root, path, func(full string) error { return os.Symlink(target, full) })
	} else if line != "" {
		write(t, root, line, func(full string) error { return os.MkdirAll(full, 0o755) })
	}
}

func write(t *testing.T, root, path string, make func(full string) error) {
	t.Helper()
	full := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := make(full); err != nil {
		t.Fatal(err)
	}
}

func report(d Detection) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", d.Profile, d.Reason)
	if d.Filesystem != "" {
		fmt.Fprintf(&b, "filesystem %s\n", d.Filesystem)
	}
	for _, a := range d.Arrays {
		fmt.Fprintf(&b, "array %s: %s, %d disks, chunk %d, stripe %d\n", a.Name, a.Level, a.Disks, a.ChunkBytes, a.StripeBytes)
	}
	for _, k := range d.Disks {
		fmt.Fprintf(&b, "disk %s: %s\n", k.Name, k.Class)
	}
	return b.String()
}

func TestDetectHere(t *testing.T) {
	best := time.Hour
	for range 10 {
		start := time.Now()
		d, err := Detect(t.TempDir())
		best = min(best, time.Since(start))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ByName(d.Profile); err != nil || d.Reason == "" {
			t.Fatalf("%+v: %v", d, err)
		}
	}
	if best > 5*time.Millisecond {
		t.Errorf("took %v", best)
	}
	if _, err := Detect(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a missing directory has no disk")
	}
}

// TestTable: what the engine takes for granted of every profile.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Profiles() {
		if seen[p.Name] || p.Name == "" || p.Description == "" {
			t.Errorf("%q: no or second name, or no description", p.Name)
		}
		seen[p.Name] = true
		for _, k := range p.Knobs() {
			if k.Value <= 0 || k.Reason == "" {
				t.Errorf("%s: %s = %d has no value or reason", p.Name, k.Name, k.Value)
			}
			if strings.HasSuffix(k.Name, "_bytes") && k.Value%4096 != 0 {
				t.Errorf("%s: %s = %d is not a multiple of 4096", p.Name, k.Name, k.Value)
			}
		}
		if p.SegmentBytes.Value%p.GroupMaxBytes.Value != 0 || p.HotBytes.Value < 4*p.GroupMaxBytes.Value {
			t.Errorf("%s: a segment must hold whole groups and memory several", p.Name)
		}
	}
	for name := range slowness {
		if !seen[name] {
			t.Errorf("class %s has no profile", name)
		}
	}
	if _, err := ByName("floppy"); err == nil || !strings.Contains(err.Error(), "sata-raid10") {
		t.Errorf("unknown profile: %v", err)
	}
}
