package peers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// SpateOptions say how spate is started.
type SpateOptions struct {
	// Binary is the built program; empty: it is built from this module.
	Binary string
	// Dir holds its data; it is created if needed.
	Dir string
	// Set are settings, key=value.
	Set []string
	// Durability is for the report; empty: the default's.
	Durability string
}

// BuildSpate builds the binary from this module, without cgo, into dir.
func BuildSpate(dir string) (string, error) {
	out := filepath.Join(dir, "spate")
	cmd := exec.Command("go", "build", "-trimpath", "-o", out, "github.com/spatemq/spate/cmd/spate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, b)
	}
	return out, nil
}

// spateReadyTimeout covers the recovery of a large log.
const spateReadyTimeout = 2 * time.Minute

// StartSpate starts spate and waits for the line "ready".
func StartSpate(o SpateOptions) (*Peer, error) {
	addr, err := FreeAddr()
	if err != nil {
		return nil, err
	}
	if o.Binary == "" {
		cache, err := CacheDir()
		if err != nil {
			return nil, err
		}
		if o.Binary, err = BuildSpate(cache); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	args := []string{"serve", "--data", filepath.Join(o.Dir, "data"), "--kafka", addr}
	for _, s := range o.Set {
		args = append(args, "--set", s)
	}
	p := &Peer{Name: "spate", Addr: addr, Dir: o.Dir, Durability: o.Durability, Config: "spate " + strings.Join(args, " ")}
	if p.Durability == "" {
		p.Durability = "fsync before every acknowledgement (default)"
	}
	// The parent process reads the output, so that it knows the moment of "ready".
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(o.Binary, args...)
	cmd.Stdout = w
	err = p.launch(cmd, filepath.Join(o.Dir, "spate.log"))
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	return p, p.awaitReady(r)
}

func (p *Peer) awaitReady(r io.ReadCloser) error {
	ready := make(chan bool, 1)
	go func() {
		defer r.Close()
		lines := bufio.NewScanner(r)
		found := false
		for lines.Scan() {
			if !found && lines.Text() == "ready" {
				found = true
				ready <- true
			}
		}
		if !found {
			ready <- false
		}
	}()
	select {
	case ok := <-ready:
		if ok {
			return nil
		}
		<-p.done
		return p.failed("ended before it was ready")
	case <-time.After(spateReadyTimeout):
		err := p.failed("was not ready in " + spateReadyTimeout.String())
		_ = p.Kill()
		return err
	}
}
