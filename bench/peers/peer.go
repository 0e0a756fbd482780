package peers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Peer is one broker that runs.
type Peer struct {
	// Name is what reports call it: "spate", "kafka 4.3.1".
	Name string
	// Addr is where it serves the Kafka protocol.
	Addr string
	// Durability says in a few words what its acknowledgement promises.
	Durability string
	// Config is its configuration as started, for the report.
	Config string
	// Dir holds its data and its log.
	Dir string
	// Log is the file with what it printed.
	Log string

	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // how it ended
}

// PID is the process id of the broker.
func (p *Peer) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended, for whatever reason.
func (p *Peer) Done() <-chan struct{} { return p.done }

// stopTimeout is how long a broker may take to end by itself.
const stopTimeout = 60 * time.Second

// Stop asks the broker to end and waits for it; one that does not is killed and named in the error.
func (p *Peer) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(stopTimeout):
		if err := p.Kill(); err != nil {
			return err
		}
		return fmt.Errorf("%s did not end within %s of SIGTERM", p.Name, stopTimeout)
	}
}

// Kill ends the broker as a crash would, and waits until it is gone.
func (p *Peer) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	return nil
}

// launch starts the process with its output in the file log.
func (p *Peer) launch(cmd *exec.Cmd, log string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close()
	p.Log = log
	if cmd.Stdout == nil {
		cmd.Stdout = f
	}
	cmd.Stderr = f
	// It ends with us, even if we are killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.done = cmd, make(chan struct{})
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return nil
}

// failed is the error of a broker that ended or hangs at its start, with the end of its log.
func (p *Peer) failed(what string) error {
	out, _ := os.ReadFile(p.Log)
	const tail = 4000
	if len(out) > tail {
		out = out[len(out)-tail:]
	}
	return fmt.Errorf("%s %s:\n%s", p.Name, what, out)
}

// FreeAddr is a loopback address that nobody listens on.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// CacheDir is where downloads and built binaries are kept.
func CacheDir() (string, error) {
	dir := os.Getenv("SPATE_CACHE")
	if dir == "" {
		root, err := moduleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, ".cache")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// moduleRoot is the directory of go.mod at or above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod here or above: run this inside the module")
		}
		dir = up
	}
}
