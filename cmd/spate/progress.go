package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// progress counts records and, on a terminal only, shows how it goes in one
// line that it rewrites. Its methods may be called from any goroutine.
type progress struct {
	verb    string // "produced"
	out     io.Writer
	records atomic.Int64
	bytes   atomic.Int64
	started time.Time
	stop    chan struct{}
	stopped chan struct{}
}

// startProgress shows progress on out until finish. It shows nothing if show is
// false, but still counts.
func startProgress(verb string, out io.Writer, show bool) *progress {
	p := &progress{verb: verb, out: out, started: time.Now()}
	if show {
		p.stop, p.stopped = make(chan struct{}), make(chan struct{})
		go p.loop()
	}
	return p
}

func (p *progress) add(records, bytes int64) {
	p.records.Add(records)
	p.bytes.Add(bytes)
}

func (p *progress) loop() {
	defer close(p.stopped)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(p.out, "\r\x1b[K%s", p.line())
		case <-p.stop:
			fmt.Fprintf(p.out, "\r\x1b[K%s\n", p.line())
			return
		}
	}
}

func (p *progress) line() string {
	n, b := p.records.Load(), p.bytes.Load()
	s := fmt.Sprintf("%s %s, %s", p.verb, count(n, "record"), byteCount(b))
	if t := time.Since(p.started).Seconds(); t >= 0.5 {
		s += fmt.Sprintf(", %.0f records/s, %s/s", float64(n)/t, byteCount(int64(float64(b)/t)))
	}
	return s
}

// finish leaves the last line standing.
func (p *progress) finish() {
	if p.stop != nil {
		close(p.stop)
		<-p.stopped
		p.stop = nil
	}
}
