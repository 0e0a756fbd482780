//go:build interop

package interop

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bootstrap is the broker under test.
var bootstrap string

// startTimeout bounds how long the broker may take to say "ready".
const startTimeout = 30 * time.Second

func TestMain(m *testing.M) {
	os.Exit(runWithBroker(m))
}

func runWithBroker(m *testing.M) int {
	bootstrap = os.Getenv("INTEROP_BOOTSTRAP")
	if bootstrap != "" {
		return m.Run()
	}
	stop, err := startSpate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		return 1
	}
	status := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		return 1
	}
	return status
}

// startSpate starts the binary on a free port with an empty directory, waits
// until it is ready and returns what stops it.
func startSpate() (stop func() error, err error) {
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	binary := os.Getenv("SPATE_BINARY")
	if binary == "" {
		binary = filepath.Join(root, "bin", "spate")
	}
	dir, err := os.MkdirTemp("", "spate-interop-")
	if err != nil {
		return nil, err
	}
	if bootstrap, err = freeAddress(); err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "serve", "--data", filepath.Join(dir, "data"), "--kafka", bootstrap)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("start the broker (make build makes it): %w", err)
	}
	ready, exited := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.TrimSpace(lines.Text()) == "ready" {
				select {
				case ready <- struct{}{}:
				default:
				}
			}
		}
		exited <- cmd.Wait()
	}()
	stop = func() error { return stopSpate(cmd, exited, dir) }
	select {
	case <-ready:
		return stop, nil
	case err := <-exited:
		return nil, fmt.Errorf("%s ended before it was ready: %v; its data is in %s", binary, err, dir)
	case <-time.After(startTimeout):
		cmd.Process.Kill()
		return nil, fmt.Errorf("%s was not ready after %s", binary, startTimeout)
	}
}

// stopSpate ends the broker as an operator does and requires a clean end.
func stopSpate(cmd *exec.Cmd, exited <-chan error, dir string) error {
	cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-exited:
		if err != nil {
			return fmt.Errorf("the broker ended badly: %w; its data is in %s", err, dir)
		}
		return os.RemoveAll(dir)
	case <-time.After(startTimeout):
		cmd.Process.Kill()
		return fmt.Errorf("the broker did not end within %s of SIGTERM; its data is in %s", startTimeout, dir)
	}
}

// freeAddress is a loopback address that nothing listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// checkout is the root of the repository.
func checkout() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// cacheDir is where downloads of this name are kept.
func cacheDir(t *testing.T, name string) string {
	t.Helper()
	base := os.Getenv("SPATE_CACHE")
	if base == "" {
		root, err := checkout()
		if err != nil {
			t.Fatal(err)
		}
		base = filepath.Join(root, ".cache")
	}
	return filepath.Join(base, name)
}
