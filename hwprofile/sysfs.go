package hwprofile

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// sysfs reads attributes below a root.
type sysfs struct{ root string }

// maxAttributeBytes is a page, the most an attribute of sysfs holds.
const maxAttributeBytes = 4096

// read gives an attribute without surrounding space; empty if there is none.
func (s sysfs) read(path ...string) string {
	f, err := os.Open(filepath.Join(path...))
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, maxAttributeBytes)
	n, _ := f.Read(buf)
	return strings.TrimSpace(string(buf[:n]))
}

func (s sysfs) int(path ...string) int64 {
	v, err := strconv.ParseInt(s.read(path...), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

func exists(path ...string) bool {
	_, err := os.Lstat(filepath.Join(path...))
	return err == nil
}

// deviceByNumber gives the directory of a block device; empty if there is none.
func (s sysfs) deviceByNumber(major, minor uint32) string {
	return s.resolve("sys/dev/block", fmt.Sprintf("%d:%d", major, minor))
}

// deviceByName takes a kernel name or a device mapper name (/dev/mapper/NAME).
func (s sysfs) deviceByName(name string) string {
	if dev := s.resolve("sys/class/block", name); dev != "" {
		return dev
	}
	for _, n := range s.children(s.root, "sys/class/block") {
		if strings.HasPrefix(n, "dm-") && s.read(s.root, "sys/class/block", n, "dm/name") == name {
			return s.resolve("sys/class/block", n)
		}
	}
	return ""
}

func (s sysfs) resolve(dir, name string) string {
	path, err := filepath.EvalSymlinks(filepath.Join(s.root, dir, name))
	if err != nil {
		return ""
	}
	return path
}

// children lists the names in a directory, sorted.
func (s sysfs) children(path ...string) []string {
	entries, _ := os.ReadDir(filepath.Join(path...))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	return names
}

type mount struct{ fstype, source string }

// mount finds a mount of the device number in the mount table.
func (s sysfs) mount(major, minor uint32) mount {
	data, err := os.ReadFile(filepath.Join(s.root, "proc/self/mountinfo"))
	if err != nil {
		return mount{}
	}
	want := fmt.Sprintf("%d:%d", major, minor)
	for l := bufio.NewScanner(bytes.NewReader(data)); l.Scan(); {
		f := strings.Fields(l.Text())
		if len(f) < 5 || f[2] != want {
			continue
		}
		for i := 5; i+2 < len(f); i++ {
			if f[i] == "-" {
				return mount{fstype: f[i+1], source: f[i+2]}
			}
		}
	}
	return mount{}
}
