//go:build interop

package interop

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The suites are franz-go's own, taken from the module cache at the version
// that go.mod pins.
func TestFranzKgo(t *testing.T) {
	runFranzSuite(t, "github.com/twmb/franz-go", "pkg/kgo", "testdata/franz-kgo.exclude")
}

func TestFranzKadm(t *testing.T) {
	runFranzSuite(t, "github.com/twmb/franz-go/pkg/kadm", ".", "testdata/franz-kadm.exclude")
}

const franzTimeout = 8 * time.Minute

func runFranzSuite(t *testing.T, module, pkg, excludeFile string) {
	excluded := readExclusions(t, excludeFile)
	binary, dir := buildSuite(t, module, pkg)

	cmd := exec.Command(binary, "-test.v", "-test.timeout", franzTimeout.String(), "-test.skip", excluded.pattern())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KGO_SEEDS="+bootstrap, "KGO_TEST_RF=1", "KGO_TEST_RECORDS="+env("KGO_TEST_RECORDS", "10000"))
	out, err := cmd.CombinedOutput()
	log := string(out)
	results := parseResults(log)
	for name, result := range results {
		reason, listed := excluded.reasons[name]
		switch {
		case result == "FAIL":
			t.Errorf("%s failed", name)
		case result == "SKIP" && !listed:
			t.Errorf("%s skipped itself and is not in %s", name, excludeFile)
		case result == "SKIP":
			t.Logf("not run: %s: %s", name, reason)
		}
	}
	ran := requireAllRan(t, binary, results, excluded)
	if err != nil {
		t.Errorf("%s %s: %v", module, pkg, err)
	}
	if t.Failed() {
		t.Logf("output of the suite:\n%s", tail(log, 200_000))
		return
	}
	t.Logf("%s: %d tests passed, %d excluded", pkg, ran, len(excluded.reasons))
}

// requireAllRan fails for each test of the suite that neither has a result nor
// is excluded, and counts the tests that passed.
func requireAllRan(t *testing.T, binary string, results map[string]string, excluded exclusions) (passed int) {
	t.Helper()
	all := strings.Fields(run(t, "", binary, "-test.list", "^Test").ok())
	if len(all) < 10 {
		t.Errorf("the suite has only %d tests: %v", len(all), all)
	}
	for _, name := range excluded.names {
		if whole, _, _ := strings.Cut(name, "/"); !slices.Contains(all, whole) {
			t.Errorf("%s is excluded, but the suite has no such test", name)
		}
	}
	for _, name := range all {
		_, listed := excluded.reasons[name]
		if results[name] == "" && !listed {
			t.Errorf("%s did not run", name)
		}
		if results[name] == "PASS" {
			passed++
		}
	}
	return passed
}

// buildSuite compiles a package's tests in a writable copy of its module, in
// whose directory they must run.
func buildSuite(t *testing.T, module, pkg string) (binary, dir string) {
	t.Helper()
	var m struct{ Dir string }
	if err := json.Unmarshal([]byte(run(t, "", "go", "mod", "download", "-json", module+"@"+pinnedVersion(t, module)).ok()), &m); err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.CopyFS(work, os.DirFS(m.Dir)); err != nil {
		t.Fatal(err)
	}
	// The module cache is read-only, and the copy keeps its modes.
	err := filepath.WalkDir(work, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, binary = filepath.Join(work, pkg), filepath.Join(work, "suite.test")
	cmd := exec.Command("go", "test", "-c", "-o", binary, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compile the tests of %s: %v\n%s", module, err, out)
	}
	return binary, dir
}

func pinnedVersion(t *testing.T, module string) string {
	t.Helper()
	return strings.TrimSpace(run(t, "", "go", "list", "-m", "-f", "{{.Version}}", module).ok())
}

// exclusions are the tests that are not run, each with its reason.
type exclusions struct {
	names   []string
	reasons map[string]string
}

// readExclusions reads lines "TestName[/sub] reason...". A reason is required.
func readExclusions(t *testing.T, file string) exclusions {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := exclusions{reasons: map[string]string{}}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" {
			t.Fatalf("%s: %s has no reason", file, name)
		}
		e.names = append(e.names, name)
		e.reasons[name] = reason
	}
	return e
}

// pattern is the -test.skip expression for whole tests. Parts of tests are left
// to the suite, which finds out itself what the broker serves: the testing
// package can only skip a part by a pattern that would also hit others.
func (e exclusions) pattern() string {
	var whole []string
	for _, n := range e.names {
		if !strings.Contains(n, "/") {
			whole = append(whole, regexp.QuoteMeta(n))
		}
	}
	if len(whole) == 0 {
		return "^$"
	}
	return "^(" + strings.Join(whole, "|") + ")$"
}

var resultLine = regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

func parseResults(log string) map[string]string {
	results := map[string]string{}
	for _, m := range resultLine.FindAllStringSubmatch(log, -1) {
		results[m[2]] = m[1]
	}
	return results
}

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// tail is the last n bytes of s.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "...\n" + s[len(s)-n:]
}
