package config

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestStockServerProperties(t *testing.T) {
	file, err := os.ReadFile("testdata/server.properties")
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBroker(Input{File: file, FileName: "server.properties", Hostname: "here"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Listener{{Name: "PLAINTEXT", Port: 9092}}
	if !reflect.DeepEqual(b.Listeners, want) {
		t.Errorf("listeners %+v", b.Listeners)
	}
	want[0].Host = "localhost"
	if !reflect.DeepEqual(b.Advertised, want) {
		t.Errorf("advertised %+v", b.Advertised)
	}
	if b.NodeID != 1 || !reflect.DeepEqual(b.DataDirs, []string{"/tmp/kraft-combined-logs"}) || len(b.Unknown) > 0 {
		t.Errorf("node %d, dirs %q, unknown %q", b.NodeID, b.DataDirs, b.Unknown)
	}
	if w := b.Warning(); !strings.Contains(w, "num.io.threads") || strings.Contains(w, "log.dirs") || strings.Contains(w, "\n") {
		t.Errorf("warning %q", w)
	}
}

func TestDefaultsStart(t *testing.T) {
	b, err := NewBroker(Input{})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Listeners[0].Addr(); got != "127.0.0.1:9092" || b.Advertised[0].Addr() != got {
		t.Errorf("listens on %s, tells %s", got, b.Advertised[0].Addr())
	}
	if b.Warning() != "" || b.NodeID != 1 || b.DataDirs[0] != "./spate-data" || b.TLS != nil {
		t.Errorf("%+v", b)
	}
}

func TestLayersOfABroker(t *testing.T) {
	b, err := NewBroker(Input{
		File:    []byte("num.partitions=2\nlog.retention.ms=1\nlog.retention.bytes=1\nfoo.bar=${x}\n"),
		Environ: []string{"SPATE_LOG_RETENTION_MS=2", "SPATE_LOG_RETENTION_BYTES=2", "SPATE_IO_BACKEND=psync", "SPATE_NO_SUCH=1", "HOME=/"},
		Set:     []string{"log.retention.bytes=3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{"num.partitions": 2, "log.retention.ms": 2, "log.retention.bytes": 3, "log.roll.hours": 168} {
		if got := b.Int(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if b.String("spate.io.backend") != "psync" || !reflect.DeepEqual(b.Unknown, []string{"SPATE_NO_SUCH", "foo.bar"}) {
		t.Errorf("backend %s, unknown %q", b.String("spate.io.backend"), b.Unknown)
	}
	if b.Static()["foo.bar"] != "${x}" {
		t.Errorf("a reference was expanded to %q", b.Static()["foo.bar"])
	}
}

// TestWrongSettings checks that each error names the setting, its value, where
// it was set and what would be right.
func TestWrongSettings(t *testing.T) {
	for set, words := range map[string][]string{
		"num.partitions=0":          {"--set num.partitions", "Invalid value 0", "at least 1"},
		"num.io.threads=many":       {"num.io.threads", "many", "INT"},
		"retention.ms=5":            {"no setting retention.ms", "log.retention.ms"},
		"spate.io.backend=aio":      {"aio", "auto, mixed, io_uring, psync"},
		"spate.nonsense=1":          {"no setting spate.nonsense"},
		"process.roles=controller":  {"process.roles", "broker"},
		"broker.id=7,node.id=8":     {"broker.id", "7", "8"},
		"num.partitions":            {"name=value"},
		"authorizer.class.name=a.B": {"authorizer.class.name", "access control"},
		"log.retention.ms=0":        {"log.retention.ms", "unlimited"},
		"ssl.keystore.type=JKS":     {"JKS", "PEM"},
		"ssl.key.password=hush":     {"ssl.key.password", "[hidden]", "not encrypted"},
		"listeners=localhost:9092":  {"listeners", "NAME://HOST:PORT"},
		"listeners=PLAINTEXT://h:x": {"listeners", "NAME://HOST:PORT"},
		"listeners=FOO://:1":        {"listener.security.protocol.map", "FOO"},
		"listeners=SASL_SSL://:1":   {"SASL", "PLAINTEXT or SSL"},
		"listeners=SSL://:1":        {"ssl.keystore.location", "PEM"},
		"listeners=":                {"listeners", "at least one"},
		"log.dirs= ,log.dir=":       {"log.dirs", "at least one directory"},
		"listeners=CONTROLLER://:1,controller.listener.names=CONTROLLER": {"listeners", "at least one listener"},
		"advertised.listeners=PLAINTEXT://0.0.0.0:9092":                  {"advertised.listeners", "0.0.0.0"},
		"advertised.listeners=OTHER://h:9092":                            {"no listener OTHER"},
		"group.min.session.timeout.ms=2000000":                           {"group.min.session.timeout.ms", "1800000"},
	} {
		_, err := NewBroker(Input{Set: strings.Split(set, ","), Hostname: "here"})
		if err == nil {
			t.Errorf("%s is accepted", set)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", set, err, w)
			}
		}
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %q tells a secret", set, err)
		}
	}
}

func TestListenersTwice(t *testing.T) {
	for _, l := range []string{"A://h:1,A://h:2", "A://h:1,B://h:1"} {
		_, err := NewBroker(Input{File: []byte("listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\nlisteners=" + l)})
		if err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v", l, err)
		}
	}
}

func FuzzNewBroker(f *testing.F) {
	f.Add("listeners=PLAINTEXT://[::1]:9092\nlog.dirs=a,b")
	f.Add("a\\\n b=c\\u00e4\nadvertised.listeners=,")
	f.Fuzz(func(t *testing.T, file string) {
		b, err := NewBroker(Input{File: []byte(file), FileName: "f"})
		if err != nil {
			return
		}
		DescribeBroker(Layers{Static: b.Static()}, nil)
		if len(b.Listeners) == 0 || len(b.Listeners) != len(b.Advertised) || len(b.DataDirs) == 0 {
			t.Errorf("%+v", b)
		}
	})
}
