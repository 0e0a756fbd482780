package oracle

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spatemq/spate/bench/peers"
)

// TestSpate runs every scenario against spate, built and started for it, and compares its answers with
// those that Kafka gave. The scenarios share a broker and run side by side: most of their time they wait.
func TestSpate(t *testing.T) {
	suite, allowed := load(t)
	binary, err := peers.BuildSpate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, binary)
	var uses sync.Mutex // guards allowed
	t.Run("scenario", func(t *testing.T) {
		for _, sc := range suite.Scenarios {
			t.Run(sc.Name, func(t *testing.T) {
				t.Parallel()
				want, err := suite.Recorded(sc)
				if err != nil {
					t.Fatal(err)
				}
				r := &Runner{Addr: p.Addr, Scenarios: suite.Names()}
				got, err := r.Run(sc)
				if err != nil {
					t.Error(err)
				}
				uses.Lock()
				diffs := Unexplained(Compare(sc.Name, want, got), allowed)
				uses.Unlock()
				if len(diffs) > 0 {
					t.Errorf("%d fields differ from Kafka's:\n%s", len(diffs), Summary(diffs))
				}
			})
		}
	})
	select {
	case <-p.Done():
		t.Errorf("the broker ended; its output is in %s", p.Log)
	default:
	}
	for _, a := range allowed {
		if a.Used == 0 && !strings.HasPrefix(a.Reason, "sometimes:") {
			t.Errorf("allow.txt: nothing needs this line: %s", a.Text)
		}
	}
}

func load(t *testing.T) (*Suite, []*Allowed) {
	t.Helper()
	suite, err := LoadSuite("testdata")
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := LoadAllowed("testdata/allow.txt")
	if err != nil {
		t.Fatal(err)
	}
	return suite, allowed
}

func start(t *testing.T, binary string) *peers.Peer {
	t.Helper()
	p, err := peers.StartSpate(peers.SpateOptions{Binary: binary, Dir: t.TempDir(), Set: Settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := (&Runner{Addr: p.Addr}).Ready(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCoverage checks that the recordings hold an answer of every version of every API that spate serves, and
// at least one refusal of every API that can refuse.
func TestCoverage(t *testing.T) {
	suite, _ := load(t)
	answered, refused := map[string]bool{}, map[string]bool{}
	for _, sc := range suite.Scenarios {
		rec, err := suite.Recorded(sc)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range rec {
			api, version, ok := titleOf(b.Title)
			if !ok {
				continue
			}
			for _, l := range b.Lines {
				isError := strings.HasSuffix(l.Path, "ErrorCode")
				answered[api+version] = answered[api+version] || l.Path != "connection"
				refused[api] = refused[api] || l.Path == "connection" || isError && l.Value != "0"
			}
		}
	}
	for api, r := range Served {
		if !refused[api] {
			t.Errorf("%s: no scenario has a bad request", api)
		}
		for _, v := range r.list() {
			if api == "Produce" && v < 3 {
				continue // advertised for old clients, but refused (KAFKA-18659)
			}
			if !answered[api+strconv.Itoa(int(v))] {
				t.Errorf("%s v%d: no scenario has an answer of it", api, v)
			}
		}
	}
}

// titleOf splits "main Fetch v4"; false for requests that say another version than they have.
func titleOf(title string) (api, version string, ok bool) {
	words := strings.Fields(title)
	if len(words) != 3 || !strings.HasPrefix(words[2], "v") {
		return "", "", false
	}
	return words[1], words[2][1:], true
}
