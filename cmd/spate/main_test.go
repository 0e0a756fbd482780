package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/goleak"
)

// asMain makes the test binary act as spate, for tests that need a process with
// pipes and signals.
const asMain = "SPATE_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		return
	}
	os.Unsetenv("SPATE_BOOTSTRAP")
	goleak.VerifyTestMain(m)
}

// cli runs command lines against one broker.
type cli struct {
	t         *testing.T
	bootstrap string
}

// startBroker starts an in-process broker that speaks the Kafka protocol.
func startBroker(t *testing.T, opts ...kfake.Opt) cli {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(3),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return cli{t, strings.Join(c.ListenAddrs(), ",")}
}

type result struct {
	t        *testing.T
	status   int
	out, err string
}

// run executes a command line with an empty standard input.
func (c cli) run(args ...string) result { c.t.Helper(); return c.pipe("", args...) }

// pipe executes a command line with input on standard input.
func (c cli) pipe(input string, args ...string) result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if c.bootstrap != "" {
		args = append(args, "--bootstrap", c.bootstrap)
	}
	var out, errOut bytes.Buffer
	status := run(ctx, args, strings.NewReader(input), &out, &errOut)
	if ctx.Err() != nil {
		c.t.Fatalf("%v did not end; output so far:\n%s%s", args, out.String(), errOut.String())
	}
	return result{c.t, status, out.String(), errOut.String()}
}

// ok requires success and returns standard output.
func (r result) ok() string {
	r.t.Helper()
	if r.status != exitOK {
		r.t.Fatalf("exit status %d\n%s%s", r.status, r.out, r.err)
	}
	return r.out
}

// fails requires an exit status and all of the words in the error output.
func (r result) fails(status int, words ...string) {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("exit status %d, want %d\n%s%s", r.status, status, r.out, r.err)
	}
	for _, w := range words {
		if !strings.Contains(r.err, w) {
			r.t.Fatalf("error output lacks %q:\n%s", w, r.err)
		}
	}
}

// decode requires success and reads standard output as JSON.
func decode[T any](r result) T {
	r.t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.ok()), &v); err != nil {
		r.t.Fatalf("not JSON: %v\n%s", err, r.out)
	}
	return v
}

// equal compares and shows both.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}
