package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// process is a command line that runs as a process of its own.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	scan *bufio.Scanner
	err  *strings.Builder
}

func (c cli) start(args ...string) *process {
	c.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	p := &process{t: c.t, cmd: exec.Command(exe, append(args, "--bootstrap", c.bootstrap)...), err: &strings.Builder{}}
	p.cmd.Env = append(os.Environ(), asMain+"=1")
	p.cmd.Stderr = p.err
	p.in, err = p.cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		c.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	p.scan = bufio.NewScanner(p.out)
	stuck := time.AfterFunc(60*time.Second, func() { p.cmd.Process.Kill() })
	c.t.Cleanup(func() {
		stuck.Stop()
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	return p
}

// line is the next line of output.
func (p *process) line() string {
	p.t.Helper()
	if !p.scan.Scan() {
		p.t.Fatalf("output ended: %v\n%s", p.scan.Err(), p.err)
	}
	return p.scan.Text()
}

func (p *process) interrupt() { p.cmd.Process.Signal(os.Interrupt) }

// wait returns the exit status; -1 if a signal killed the process.
func (p *process) wait() int {
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func TestInterruptedConsumerCommitsAndLeaves(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	c.run("produce", "t", "a", "b").ok()
	p := c.start("consume", "t", "-g", "g")
	equal(t, "first", p.line(), "a")
	equal(t, "second", p.line(), "b")
	p.interrupt()
	p.interrupt() // timeout(1) signals twice
	equal(t, "exit status", p.wait(), exitOK)
	g := decode[[]describedGroup](c.run("group", "describe", "g", "--json"))[0]
	equal(t, "state", g.State, "Empty")
	equal(t, "committed", g.Offsets[0].Committed, 2)
}

// The reader of "spate consume | head -1" goes away: not an error, and what it
// has not taken is not committed.
func TestBrokenPipe(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	c.run("produce", "t", "a").ok()
	p := c.start("consume", "t", "-g", "g")
	equal(t, "first", p.line(), "a")
	p.out.Close()
	c.run("produce", "t", "b").ok()
	equal(t, "exit status", p.wait(), exitOK)
	equal(t, "errors", p.err.String(), "")
	g := decode[[]describedGroup](c.run("group", "describe", "g", "--json"))[0]
	equal(t, "state", g.State, "Empty")
	equal(t, "committed", g.Offsets[0].Committed, 1)
}

// An interrupted producer delivers what it has read and says by its status that
// it was not done.
func TestInterruptedProducerDelivers(t *testing.T) {
	c := startBroker(t)
	p := c.start("produce", "t", "--json")
	fmt.Fprintln(p.in, "a")
	if ack := p.line(); !strings.Contains(ack, `"offset":0`) {
		t.Fatalf("ack: %s", ack)
	}
	p.interrupt()
	equal(t, "exit status", p.wait(), exitInterrupted)
	equal(t, "delivered", c.run("consume", "t", "-e").ok(), "a\n")
}

func TestInterruptedBoundedConsumer(t *testing.T) {
	c := startBroker(t)
	c.run("produce", "t", "a").ok()
	p := c.start("consume", "t", "-c", "2")
	equal(t, "first", p.line(), "a")
	p.interrupt()
	equal(t, "exit status", p.wait(), exitInterrupted)
}
