package crash

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// broker is a spate process that can be killed.
type broker struct {
	t    *testing.T
	bin  string
	data string
	addr string
	cmd  *exec.Cmd
	log  *os.File
}

// build makes the binary once for the test.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "spate")
	cmd := exec.Command("go", "build", "-o", bin, "github.com/spatemq/spate/cmd/spate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

func newBroker(t *testing.T) *broker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "broker.log"))
	if err != nil {
		t.Fatal(err)
	}
	b := &broker{t: t, bin: build(t), data: filepath.Join(dir, "data"), addr: addr, log: log}
	t.Cleanup(func() {
		b.kill()
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("broker's log:\n%s", text)
		}
	})
	return b
}

// start runs the broker and waits until it says that it is ready.
func (b *broker) start(args ...string) {
	b.t.Helper()
	args = append([]string{"serve", "--data", b.data, "--kafka", b.addr, "--set", "spate.segment.bytes=16777216",
		"--set", "group.initial.rebalance.delay.ms=0"}, args...)
	b.cmd = exec.Command(b.bin, args...)
	b.cmd.Stderr = b.log
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		s := bufio.NewScanner(out)
		for s.Scan() {
			if strings.TrimSpace(s.Text()) == "ready" {
				ready <- true
			}
		}
		ready <- false
	}()
	select {
	case ok := <-ready:
		if !ok {
			b.t.Fatal("broker ended before it was ready")
		}
	case <-time.After(30 * time.Second):
		b.t.Fatal("broker is not ready after 30 s")
	}
}

// kill ends the broker as a crash would.
func (b *broker) kill() {
	if b.cmd != nil {
		b.cmd.Process.Kill()
		b.cmd.Wait()
		b.cmd = nil
	}
}

func value(writer, n int) string { return fmt.Sprintf("w%d-%d", writer, n) }
