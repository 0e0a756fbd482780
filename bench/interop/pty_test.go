//go:build interop

package interop

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a client that runs on a pseudo-terminal, as a person runs it.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	lines  chan string
}

func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, fmt.Errorf("unlock pseudo-terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, fmt.Errorf("number of pseudo-terminal: %w", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	return master, slave, err
}

// onTerminal starts a client on a pseudo-terminal without echo.
func onTerminal(t *testing.T, command string, args ...string) *terminal {
	t.Helper()
	master, slave, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	mode, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	mode.Lflag &^= unix.ECHO
	mode.Oflag &^= unix.ONLCR
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, mode); err != nil {
		t.Fatal(err)
	}
	p := &terminal{t: t, cmd: exec.Command(command, args...), master: master, lines: make(chan string, 1024)}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(master); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		master.Close()
	})
	return p
}

func (p *terminal) typeIn(s string) {
	p.t.Helper()
	if _, err := p.master.WriteString(s); err != nil {
		p.t.Fatal(err)
	}
}

// expect waits for a line that contains want.
func (p *terminal) expect(want string) {
	p.t.Helper()
	deadline := time.After(commandTimeout)
	var seen []string
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("%v ended without %q; it printed\n%s", p.cmd.Args, want, strings.Join(seen, "\n"))
			}
			if strings.Contains(line, want) {
				return
			}
			seen = append(seen, line)
		case <-deadline:
			p.t.Fatalf("%v did not print %q; it printed\n%s", p.cmd.Args, want, strings.Join(seen, "\n"))
		}
	}
}

// ended waits for the end and returns the exit status.
func (p *terminal) ended() int {
	p.t.Helper()
	stuck := time.AfterFunc(commandTimeout, func() { p.cmd.Process.Kill() })
	defer stuck.Stop()
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

const (
	controlC = "\x03"
	controlD = "\x04"
)
