//go:build interop

package interop

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// commandTimeout bounds every client that ends by itself.
const commandTimeout = 2 * time.Minute

var names atomic.Int64

// name makes a topic or group name of this test's own.
func name(t *testing.T) string {
	clean := strings.NewReplacer("/", "-", "_", "-", " ", "-").Replace(t.Name())
	return fmt.Sprintf("%s-%d-%d", clean, time.Now().UnixNano()/1e6, names.Add(1))
}

// outcome is what a client printed and how it ended.
type outcome struct {
	t        *testing.T
	command  string
	status   int
	out, err string
}

// run executes a client to its end.
func run(t *testing.T, stdin, command string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	o := outcome{t, command + " " + strings.Join(args, " "), cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
	if ctx.Err() != nil {
		t.Fatalf("%s\ndid not end within %s\n%s%s", o.command, commandTimeout, o.out, o.err)
	}
	if err != nil && o.status < 0 {
		t.Fatalf("%s: %v\n%s", o.command, err, o.err)
	}
	return o
}

// ok requires success and returns standard output.
func (o outcome) ok() string {
	o.t.Helper()
	if o.status != 0 {
		o.t.Fatalf("%s\nexit status %d\n%s%s", o.command, o.status, o.out, o.err)
	}
	return o.out
}

// failed requires that the client has failed, with these words somewhere in what
// it printed.
func (o outcome) failed(words ...string) {
	o.t.Helper()
	if o.status == 0 {
		o.t.Fatalf("%s\nsucceeded\n%s%s", o.command, o.out, o.err)
	}
	o.says(words...)
}

// says requires words in what the client printed.
func (o outcome) says(words ...string) outcome {
	o.t.Helper()
	for _, w := range words {
		if !strings.Contains(o.out+o.err, w) {
			o.t.Fatalf("%s\nprinted no %q:\n%s%s", o.command, w, o.out, o.err)
		}
	}
	return o
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}

// sequence is the lines from..to-1 with a prefix.
func sequence(prefix string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%s%d\n", prefix, i)
	}
	return b.String()
}
