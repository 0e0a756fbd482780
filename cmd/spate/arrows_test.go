package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module    = "github.com/spatemq/spate"
	iouringGo = "github.com/iceber/iouring-go"
)

// arrow says which of the module's packages a package may import. The first
// entry whose name is the package or a parent of it counts; a trailing slash in
// may allows everything under it.
type arrow struct {
	from string
	may  []string
}

// arrows is the layering of the module, from the bottom up.
var arrows = []arrow{
	{"iouring", []string{"iouring/"}},
	{"hwprofile", []string{"hwprofile/", "iouring/", "engine/disk/"}},
	{"engine/disk", []string{"engine/disk/", "iouring/"}},
	{"engine", []string{"engine/", "iouring/"}},
	{"netpoll", []string{"netpoll/"}},
	{"protocols/*", []string{"protocols", "$self/", "engine/"}},
	{"protocols", nil},
	{"bench", []string{"bench/", "protocols/", "netpoll/", "engine/", "hwprofile/", "iouring/"}},
	{"cmd", []string{"cmd/", "bench/", "protocols/", "netpoll/", "engine/", "hwprofile/", "iouring/"}},
}

// files are the packages that open files or make system calls; within engine
// only disk does.
var files = []string{"os", "os/exec", "io/ioutil", "syscall", "golang.org/x/sys/unix"}

// foreign says which packages may import what is not the module's own.
var foreign = []arrow{
	{iouringGo + "/syscall", []string{"iouring/"}},
	{"github.com/panjf2000/gnet/v2", []string{"netpoll/"}},
	{"github.com/twmb/franz-go/pkg/kmsg", []string{"protocols/kafka/", "engine/", "bench/", "cmd/"}},
	{"github.com/twmb/franz-go/pkg/kerr", []string{"protocols/kafka/", "bench/", "cmd/"}},
	{"github.com/twmb/franz-go", []string{"bench/", "cmd/"}},
	{"github.com/spf13/cobra", []string{"cmd/"}},
}

func under(path, prefix string) bool {
	return path == strings.TrimSuffix(prefix, "/") || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
}

func allowed(path string, may []string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		return path == m || strings.HasSuffix(m, "/") && under(path, m)
	})
}

// violation judges one import of one package (path in the module, "" being its
// root) and is empty if it is allowed.
func violation(pkg, imported string) string {
	if imported == iouringGo {
		return "its root package does not link and is never imported; use its syscall package"
	}
	if inModule, ok := strings.CutPrefix(imported, module+"/"); ok {
		return ownViolation(pkg, inModule)
	}
	if under(pkg, "engine") && !under(pkg, "engine/disk") && slices.Contains(files, imported) {
		return "within engine only engine/disk touches files"
	}
	for _, f := range foreign {
		if under(imported, f.from) {
			if !allowed(pkg, f.may) {
				return "only " + strings.Join(f.may, ", ") + " may import it"
			}
			break
		}
	}
	return ""
}

func ownViolation(pkg, imported string) string {
	for _, a := range arrows {
		self := a.from
		if parent, ok := strings.CutSuffix(a.from, "/*"); ok {
			rest, deeper := strings.CutPrefix(pkg, parent+"/")
			if !deeper {
				continue
			}
			first, _, _ := strings.Cut(rest, "/")
			self = parent + "/" + first
		}
		if !under(pkg, self) {
			continue
		}
		may := make([]string, len(a.may))
		for i, m := range a.may {
			may[i] = strings.Replace(m, "$self", self, 1)
		}
		if !allowed(imported, may) {
			return "it may import only " + strings.Join(append(may, "nothing else"), ", ")
		}
		return ""
	}
	return "the package has no place in the layering"
}

// Every import of every Go file of the module, under all build tags, follows
// the arrows. Tests may also look upwards (a protocol's test runs it on the real
// event loop), but never from engine.
func TestImportArrows(t *testing.T) {
	root := moduleRoot(t)
	packages := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		packages++
		return checkFile(t, root, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	if packages < 10 {
		t.Fatalf("only %d Go files under %s: is this the module's root?", packages, root)
	}
}

func checkFile(t *testing.T, root, path string) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	pkg, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	isTest := strings.HasSuffix(path, "_test.go")
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: import %s: %w", path, spec.Path.Value, err)
		}
		if isTest && imported != iouringGo && !(under(pkg, "engine") && under(imported, module+"/protocols")) {
			continue
		}
		if why := violation(filepath.ToSlash(pkg), imported); why != "" {
			t.Errorf("%s imports %s: %s", path, imported, why)
		}
	}
	return nil
}

func moduleRoot(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

func TestArrowRules(t *testing.T) {
	own := func(p string) string { return module + "/" + p }
	for _, x := range []struct {
		pkg, imported string
		ok            bool
	}{
		{"engine", own("engine/commitlog"), true},
		{"engine/commitlog", own("engine/disk"), true},
		{"engine/disk", own("iouring"), true},
		{"engine/disk", own("engine/commitlog"), false},
		{"engine/commitlog", own("protocols"), false},
		{"engine/groups", own("protocols/kafka"), false},
		{"engine", own("netpoll"), false},
		{"engine/commitlog", "os", false},
		{"engine/index", "golang.org/x/sys/unix", false},
		{"engine/disk", "os", true},
		{"engine/disk/mem", "golang.org/x/sys/unix", true},
		{"engine", "strings", true},
		{"engine/groups", "github.com/twmb/franz-go/pkg/kmsg", true},
		{"engine/groups", "github.com/twmb/franz-go/pkg/kgo", false},
		{"iouring", own("engine/disk"), false},
		{"iouring", iouringGo, false},
		{"iouring", iouringGo + "/syscall", true},
		{"engine/disk", iouringGo + "/syscall", false},
		{"hwprofile", own("engine"), false},
		{"hwprofile", own("engine/disk"), true},
		{"hwprofile", own("iouring"), true},
		{"netpoll", own("protocols"), false},
		{"netpoll", own("engine"), false},
		{"netpoll", "github.com/panjf2000/gnet/v2", true},
		{"netpoll", own("netpoll/tlsconn"), true},
		{"protocols", own("engine"), false},
		{"protocols", own("netpoll"), false},
		{"protocols/kafka", own("protocols"), true},
		{"protocols/kafka", own("engine/batch"), true},
		{"protocols/kafka", own("protocols/kafka/fetchsession"), true},
		{"protocols/kafka/fetchsession", own("protocols/kafka"), true},
		{"protocols/kafka", own("protocols/tubemq"), false},
		{"protocols/kafka", own("protocols/kafkaesque"), false},
		{"protocols/http", own("netpoll"), false},
		{"protocols/kafka", "github.com/panjf2000/gnet/v2", false},
		{"cmd/spate", own("netpoll"), true},
		{"cmd/spate", own("protocols/kafka"), true},
		{"bench", own("cmd/spate"), false},
		{"bench/interop", own("engine"), true},
		{"somewhere", own("engine"), false},
	} {
		if why := violation(x.pkg, x.imported); (why == "") != x.ok {
			t.Errorf("%s imports %s: got %q, want allowed: %v", x.pkg, x.imported, why, x.ok)
		}
	}
}
