package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestProduceConsume(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	c.pipe("k1:v1\nk2:\n:v3\n", "produce", "t", "-K", ":", "-H", "a=1", "-H", "b=x=y", "--timestamp", "1700000000123").ok()
	c.run("produce", "t", "plain", "").ok()
	c.run("produce", "t", "-Z", "-k", "gone", "").ok()

	got := c.run("consume", "t", "-e", "-f", `%t/%p/%o %k(%K)=%s(%S) %h\n`).ok()
	equal(t, "formatted", got, `t/0/0 k1(2)=v1(2) a=1,b=x=y
t/0/1 k2(2)=(0) a=1,b=x=y
t/0/2 (0)=v3(2) a=1,b=x=y
t/0/3 (-1)=plain(5) 
t/0/4 (-1)=(0) 
t/0/5 gone(4)=(-1) 
`)
	equal(t, "timestamp", c.run("consume", "t", "-c", "1", "-f", "%T").ok(), "1700000000123")
}

func TestConsumePositions(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	for i := range 6 {
		c.run("produce", "t", "--timestamp", fmt.Sprint(1000*(i+1)), fmt.Sprint(i)).ok()
	}
	for args, want := range map[string]string{
		"-e":                           "012345",
		"-e --from end":                "",
		"-e --from 4":                  "45",
		"-e --from 40":                 "",
		"-e --from -2":                 "45",
		"-e --from -20":                "012345",
		"-e --from @3000":              "2345",
		"-e --from @9000":              "",
		"--until 2":                    "01",
		"--from 1 --until @4000":       "12",
		"--from @2000 --until @3000":   "1",
		"-c 2":                         "01",
		"--from 3 -c 2":                "34",
		"--idle 1s --from 5":           "5",
		"--from 5 --until 5":           "",
		"-e -p 0":                      "012345",
		"-e --uncommitted --from 3":    "345",
		"-g g --from -1 --idle 1500ms": "5",
	} {
		got := c.run(append([]string{"consume", "t", "-f", "%s"}, strings.Fields(args)...)...).ok()
		equal(t, args, got, want)
	}
	c.run("consume", "t", "-e", "-p", "3").fails(exitFailed, `topic "t" has no partition 3`)
	c.run("consume", "none").fails(exitFailed, `topic "none"`, "UNKNOWN_TOPIC", "spate topic create")
}

// A consumer without an end sees records that come later.
func TestConsumeFollows(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t").ok()
	c.run("produce", "t", "-p", "0", "old").ok()
	p := c.start("consume", "t", "-f", `%p %s\n`)
	equal(t, "old record", p.line(), "0 old")
	for _, partition := range []string{"2", "0", "1"} {
		c.run("produce", "t", "-p", partition, "new").ok()
		equal(t, "new record", p.line(), partition+" new")
	}
	p.interrupt()
	equal(t, "exit status", p.wait(), exitOK)
}

// What consume prints as JSON lines can be produced again without loss.
func TestJSONRoundTrip(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "a", "b", "-p", "3").ok()
	input := strings.Join([]string{
		`{"key":"k","value":"v","partition":2,"timestamp":1700000000000,"headers":[{"key":"h","value":"x"},{"key":"n","value":null}]}`,
		`{"key":null,"value":null,"partition":0,"timestamp":1700000000001}`,
		`{"key":"","value":"","partition":0,"timestamp":1700000000002}`,
		`{"key_base64":"/wD+","value_base64":"gIE=","partition":1,"timestamp":1700000000003}`,
		`{"key":"<&>","value":"zwölf\n","partition":1,"timestamp":1700000000004}`,
	}, "\n")
	c.pipe(input, "produce", "a", "--json-input", "--keep-partitions").ok()
	first := c.run("consume", "a", "-e", "--json").ok()
	equal(t, "lines", strings.Count(first, "\n"), 5)
	c.pipe(first, "produce", "b", "--json-input", "--keep-partitions", "-z", "zstd").ok()
	second := c.run("consume", "b", "-e", "--json").ok()
	equal(t, "copy", strings.ReplaceAll(second, `"topic":"b"`, `"topic":"a"`), first)
	for _, want := range []string{`"key_base64":"/wD+"`, `"<&>"`, `{"key":"n","value":null}`, `"key":"","value":""`, `"key":null,"value":null`} {
		if !strings.Contains(first, want) {
			t.Fatalf("%s is not in\n%s", want, first)
		}
	}
}

func TestProduceSettings(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	want := ""
	for _, args := range []string{"--acks all", "--acks 1", "--acks 0", "--idempotence=false", "-z gzip", "-z snappy", "-z lz4", "-z zstd"} {
		c.run(append([]string{"produce", "t", "-H", "x=y", strings.ReplaceAll(args, "-", "_")}, strings.Fields(args)...)...).ok()
		want += strings.ReplaceAll(args, "-", "_") + "\n"
	}
	equal(t, "records", c.run("consume", "t", "-e").ok(), want)
}

func TestProduceFileAndDelimiter(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, []byte("a\nb||c||"), 0o600); err != nil {
		t.Fatal(err)
	}
	acks := c.run("produce", "t", "-f", name, "-D", `||`, "--json").ok()
	equal(t, "acks", strings.Count(acks, `"partition":0,"offset":`), 2)
	equal(t, "records", c.run("consume", "t", "-e", "-f", `%s\0`).ok(), "a\nb\x00c\x00")
}

func TestProduceErrors(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	c.pipe("a:1\nb\n", "produce", "t", "-K", ":").fails(exitFailed, "record 2", `key delimiter ":" not found`)
	equal(t, "before the error", c.run("consume", "t", "-e").ok(), "1\n")
	c.pipe("{}\n{\"x\":1}\n", "produce", "t", "--json-input").fails(exitFailed, "record 2: not a JSON record")
	c.pipe(strings.Repeat("x", 5000), "produce", "t", "--max-message-bytes", "2000").fails(exitFailed, "record 1", "longer than 2000 bytes")
	c.run("produce", "t", "-p", "7", "x").fails(exitFailed, `topic "t"`)
	c.run("produce", "missing", "--no-create", "x").fails(exitFailed, `topic "missing"`, "UNKNOWN_TOPIC")
}

// A broker that dies under a producer is an error in due time, also for records
// whose timestamps lie in the past.
func TestProduceToDeadBroker(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	c := cli{t, cluster.ListenAddrs()[0]}
	p := c.start("produce", "t", "--json", "--timeout", "2s", "--timestamp", "1000")
	fmt.Fprintln(p.in, "a")
	p.line()
	cluster.Close()
	fmt.Fprintln(p.in, "b")
	equal(t, "exit status", p.wait(), exitFailed)
	if !strings.Contains(p.err.String(), "no acknowledgement for 2s") {
		t.Fatalf("errors: %s", p.err)
	}
}

// The end of a partition may be a transaction's marker, which is no record: a
// bounded read ends there all the same.
func TestConsumeTransactions(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.bootstrap), kgo.TransactionalID("x"), kgo.DefaultProduceTopic("t"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	transaction := func(value string, commit kgo.TransactionEndTry) {
		t.Helper()
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := cl.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := cl.EndTransaction(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	transaction("committed", kgo.TryCommit)
	transaction("aborted", kgo.TryAbort)
	equal(t, "committed", c.run("consume", "t", "-e").ok(), "committed\n")
	equal(t, "all", c.run("consume", "t", "-e", "--uncommitted").ok(), "committed\naborted\n")
}

func TestSASL(t *testing.T) {
	c := startBroker(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "ann", "secret"), kfake.Superuser("PLAIN", "bob", "hush"))
	t.Setenv("SPATE_PASSWORD", "secret")
	c.run("topic", "list", "--sasl", "SCRAM-SHA-256", "--user", "ann").ok()
	c.run("topic", "list", "--sasl", "plain", "--user", "ann", "--timeout", "2s").fails(exitUnreachable, "SASL")
	t.Setenv("SPATE_PASSWORD", "hush")
	c.run("topic", "list", "--sasl", "plain", "--user", "bob").ok()
}
