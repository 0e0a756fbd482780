package commitlog

import (
	"errors"
	"time"

	"github.com/spatemq/spate/engine/disk"
)

const (
	// fullRetry is how often a full disk is asked again.
	fullRetry = 500 * time.Millisecond
	// prefillIdle is how long the log must have been idle before new blocks are
	// filled with zeros, and the pause between two pieces.
	prefillIdle  = 50 * time.Millisecond
	prefillBytes = 1 << 20
)

// preparer keeps one segment ready behind the active one.
func (l *Log) preparer() {
	defer l.wg.Done()
	for {
		l.mu.Lock()
		need := l.next == nil && l.err == nil
		l.mu.Unlock()
		if need {
			// Looked at again afterwards: the new segment may be in use already.
			if !l.prepareOne() && !l.pause(fullRetry) {
				return
			}
			continue
		}
		select {
		case <-l.prepare:
		case <-l.stop:
			return
		}
	}
}

func (l *Log) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.stop:
		return false
	}
}

// prepareOne makes the next segment; false to try again later.
func (l *Log) prepareOne() bool {
	g, fresh, err := l.segs.create(l.opt.SegmentBytes, l.opt.ReserveBytes)
	if err != nil {
		l.prepareFailed(err)
		return false
	}
	l.mu.Lock()
	if l.full {
		l.opt.Logger.Info("space is back; writes go on", "dir", l.opt.Dir.Path())
	}
	l.next, l.full = g, false
	l.mu.Unlock()
	l.Kick()
	if fresh {
		l.prefill(g)
	}
	return true
}

func (l *Log) prepareFailed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil || l.closed {
		return
	}
	if !errors.Is(err, disk.ErrNoSpace) {
		l.failLocked(err)
		go l.runDeliveries()
		return
	}
	if !l.full {
		l.full = true
		l.opt.Logger.Error("disk is full: writes are refused until there is space for a segment, reads go on",
			"dir", l.opt.Dir.Path(), "error", err)
	}
}

// prefill writes zeros over a new slot file's blocks, so that later writes find
// them allocated and written, in pieces and only while the log is idle. It gives
// up when the segment becomes active.
func (l *Log) prefill(g *segment) {
	mem, err := l.opt.Dir.Arena(prefillBytes)
	if err != nil {
		return
	}
	defer mem.Free()
	var last uint64
	for off := int64(segHeadBytes); off < g.bytes; {
		select {
		case <-time.After(prefillIdle):
		case <-l.prepare:
			// The segment is in use: the next one is needed now, not when the
			// timer ends.
			return
		case <-l.stop:
			return
		}
		l.mu.Lock()
		mine, idle := l.next == g, len(l.pending) == 0 && len(l.inflight) == 0 && l.stats.Groups == last
		last = l.stats.Groups
		// While it is set, the segment cannot become active: zeros must never
		// meet a block.
		l.prefilling = mine && idle
		l.mu.Unlock()
		if !mine {
			return
		}
		if !idle {
			continue
		}
		n := min(int64(prefillBytes), g.bytes-off)
		_, err := g.file.WriteAt(mem.Buf[:n], off)
		l.mu.Lock()
		l.prefilling = false
		l.mu.Unlock()
		l.Kick()
		if err != nil {
			return
		}
		off += n
	}
	g.file.Sync()
}
