package main

import (
	"net"
	"strings"
	"testing"
)

func TestUsageErrors(t *testing.T) {
	// Nothing listens here: each of these is found before anything is sent.
	c := cli{t: t}
	for _, x := range []struct {
		args string
		want string
	}{
		{"topc", `unknown command "topc"; did you mean "topic"?`},
		{"topic lst", `did you mean "list"?`},
		{"topic create", "expected one or more topic names"},
		{"topic create a -p 0", "--partitions 0: expected 1 or more"},
		{"topic create a --set x", `--set "x": expected KEY=VALUE`},
		{"topic alter a", "nothing to change"},
		{"topic alter a -p -3", "--partitions -3"},
		{"topic list extra", `unexpected argument "extra"`},
		{"topic list --nope", "unknown flag: --nope"},
		{"topic list --bootstrap localhost", `--bootstrap "localhost": expected HOST:PORT`},
		{"topic list --bootstrap localhost:0", "1 to 65535"},
		{"topic list --sasl PLAIN", "SPATE_PASSWORD"},
		{"topic list --tls-ca /does/not/exist", "--tls-ca"},
		{"group reset", "expected one group name"},
		{"group reset g --to-earliest", "either --topic or --all-topics"},
		{"group reset g --topic t", "exactly one of --to-earliest"},
		{"group reset g --topic t --to-latest --to-earliest", "exactly one of --to-earliest"},
		{"group reset g --topic t:x --to-latest", `partition "x"`},
		{"group reset g --topic t --to-datetime soon", `--to-datetime "soon": expected a time such as`},
		{"produce", "expected a topic name"},
		{"produce t --acks 2", `--acks "2": expected all, 1 or 0`},
		{"produce t --acks 1 --idempotence", "--idempotence needs --acks all"},
		{"produce t -z brotli", `--compression "brotli"`},
		{"produce t --header x", "--header"},
		{"produce t -k a -K b", "exclude each other"},
		{"produce t --keep-partitions", "needs --json-input"},
		{"produce t --file /does/not/exist", "--file"},
		{`produce t --delimiter \q`, "is not an escape"},
		{"consume", "expected one or more topic names"},
		{"consume t --from x", `--from "x": expected beginning, end`},
		{"consume t --until -5", `--until "-5"`},
		{"consume t --exit --until 5", "exclude each other"},
		{"consume t -g g -e", "--group excludes"},
		{"consume t --instance i", "--instance needs --group"},
		{"consume t --format %q", "%q is not a token"},
		{"consume t --format x --json", "exclude each other"},
		{"consume t -p 1,x", `partition "x"`},
	} {
		r := c.run(strings.Fields(x.args)...)
		r.fails(exitUsage, x.want)
	}
}

func TestUnreachableBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := cli{t, l.Addr().String()}
	l.Close()
	closed.run("topic", "list").fails(exitUnreachable, closed.bootstrap, "connection refused", "spate serve")

	// A listener that never answers.
	l, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	silent := cli{t, l.Addr().String()}
	silent.run("topic", "list", "--timeout", "300ms").fails(exitUnreachable, silent.bootstrap)
}

func TestBootstrapFromEnvironment(t *testing.T) {
	c := startBroker(t)
	t.Setenv("SPATE_BOOTSTRAP", c.bootstrap)
	equal(t, "list", cli{t: t}.run("topic", "list").ok(), "TOPIC  PARTITIONS  REPLICATION\n")
}

func TestVersionAndCompletion(t *testing.T) {
	c := cli{t: t}
	if out := c.run("version").ok(); !strings.HasPrefix(out, "spate ") {
		t.Fatalf("version: %q", out)
	}
	v := decode[versionInfo](c.run("version", "--json"))
	if v.Go == "" || v.Platform == "" {
		t.Fatalf("version: %+v", v)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := c.run("completion", shell).ok(); !strings.Contains(out, "spate") {
			t.Fatalf("completion for %s: %q", shell, out)
		}
	}
}

func TestCompletionOffersTopicsAndGroups(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "orders", "orchards").ok()
	c.run("produce", "orders", "x").ok()
	c.run("consume", "orders", "-g", "billing", "-c", "1").ok()
	t.Setenv("SPATE_BOOTSTRAP", c.bootstrap)
	local := cli{t: t}
	equal(t, "topics", local.run("__complete", "consume", "or").ok(), "orchards\norders\n:4\n")
	equal(t, "groups", local.run("__complete", "group", "describe", "").ok(), "billing\n:4\n")
}
