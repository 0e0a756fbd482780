package kafka

import (
	"time"

	"github.com/spatemq/spate/engine"
)

// slackInterval is how often a fetch looks again that has records, but fewer
// than its min.bytes.
const slackInterval = 5 * time.Millisecond

// decide answers or waits, when all has been read.
func (f *fetch) decide() {
	total, urgent := f.settle()
	if urgent || f.timedOut || len(f.parts) == 0 || total >= f.minBytes || total > 0 && f.limited() {
		f.unregister()
		f.answer()
		return
	}
	f.slack = total > 0
	f.wait()
}

// wait waits until a partition may have more, or the deadline.
func (f *fetch) wait() {
	if !f.waiting {
		f.waiting = true
		f.deadline = time.Now().Add(time.Duration(f.req.maxWaitMs) * time.Millisecond)
		for i := range f.parts {
			f.parts[i].partition.AddWaiter(f)
		}
	}
	f.setTimer(time.Until(f.deadline))
	if f.moved() {
		// It came after reading and before registering, or during a read from disk.
		f.Wake(nil)
	}
	// What has been read is not held while waiting, but read anew.
	f.reads.reset()
}

// moved tells whether a partition has changed since it was read.
func (f *fetch) moved() bool {
	for i := range f.parts {
		p, res := f.parts[i].partition, &f.reads.results[i]
		if p.HighWatermark() != res.HighWatermark || p.LogStart() != res.LogStart || p.LastStable() != res.LastStable {
			return true
		}
	}
	return false
}

func (f *fetch) setTimer(d time.Duration) {
	if f.timer == nil {
		f.timer = time.AfterFunc(d, f.tick)
	} else {
		f.timer.Reset(d)
	}
}

// unregister ends waiting.
func (f *fetch) unregister() {
	if !f.waiting {
		return
	}
	f.waiting = false
	f.timer.Stop()
	for i := range f.parts {
		f.parts[i].partition.RemoveWaiter(f)
	}
}

// Wake is called by the engine when a partition may have something new.
func (f *fetch) Wake(*engine.Partition) {
	if !f.isWoken.Swap(true) {
		f.sess.conn.Execute(f.wokenFunc)
	}
}

// tick is called by the timer.
func (f *fetch) tick() { f.sess.conn.Execute(f.tickedFunc) }

// woken reads again. A fetch that has some records, but fewer than it wants,
// does so at most every slackInterval: reading all again for each batch that is
// appended would cost more with each.
func (f *fetch) woken() {
	f.isWoken.Store(false)
	switch {
	case !f.idle():
	case f.slack:
		f.setTimer(min(slackInterval, time.Until(f.deadline)))
	default:
		f.read()
	}
}

// ticked reads again at the deadline, for the last time, or before it.
func (f *fetch) ticked() {
	if !f.idle() {
		return
	}
	left := time.Until(f.deadline)
	f.timedOut = left <= 0
	if !f.timedOut {
		f.setTimer(left)
	}
	if f.timedOut || f.slack {
		f.read()
	}
}

// idle tells whether the request waits and nothing is being read. A wake-up of
// an earlier request finds the next one so too, and does no harm.
func (f *fetch) idle() bool {
	return f.waiting && f.cold.Load() == 0 && !f.sess.ended.Load()
}
