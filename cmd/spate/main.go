package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	// A reader that goes away ("spate consume t | head") must be seen as a write
	// error, so that a group member can commit and leave, rather than kill the
	// process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A while after the first signal the default handling is back, so that another
	// one ends a command that hangs in its clean-up. Not at once: timeout(1) signals
	// both the process and its group, and the second of these must not cut the
	// clean-up short.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status. Everything a
// command reads or prints goes through the three streams.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	a := &app{in: in, out: out, errOut: errOut}
	root := newRootCommand(a)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteContextC(ctx)
	return a.report(ctx, cmd, err)
}
