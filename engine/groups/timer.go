package groups

import (
	"container/heap"
	"time"
)

// timers is a heap of the groups that have a deadline, by g.wake. Deadlines mostly
// move into the future (heartbeats), which leaves the heap alone: a group woken too
// early is asked for its next deadline and put back. So groups cost the timer
// nothing until a deadline of theirs is near.
type timers []*group

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].wake < t[j].wake }
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	g := x.(*group)
	g.index = len(*t)
	*t = append(*t, g)
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := len(*t) - 1
	g := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	return g
}

// reschedule has the timer look at the group's next deadline, if it is earlier than
// what is set.
func (c *Coordinator) reschedule(g *group) {
	if g.state == Dead {
		c.unschedule(g)
		return
	}
	at := g.next()
	switch {
	case at == 0 || g.wake != 0 && at >= g.wake:
		return
	case g.wake == 0:
		g.wake = at
		heap.Push(&c.timers, g)
	default:
		g.wake = at
		heap.Fix(&c.timers, g.index)
	}
	if g.index == 0 {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

func (c *Coordinator) unschedule(g *group) {
	if g.wake != 0 {
		g.wake = 0
		heap.Remove(&c.timers, g.index)
	}
}

// run wakes groups at their deadlines and sweeps expired offsets.
func (c *Coordinator) run() {
	defer close(c.finished)
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-c.wake:
		case <-c.stop:
			return
		}
		t.Reset(time.Duration(max(c.tick(), 1)) * time.Millisecond)
	}
}

// tick does what is due and gives the milliseconds until it is to be called again.
func (c *Coordinator) tick() (waitMs int64) {
	c.do(func(s *step) {
		for len(c.timers) > 0 && c.timers[0].wake <= s.now {
			g := c.timers[0]
			c.unschedule(g)
			s.expire(g)
			// A deadline not past now would have this loop turn forever.
			if g.next() > 0 && g.next() <= s.now {
				panic("BUG: deadline of group " + g.id + " was not applied")
			}
			c.reschedule(g)
		}
		if s.now >= c.sweepAt {
			c.sweep(s)
			c.sweepAt = s.now + c.opt.SweepMs
		}
		waitMs = c.sweepAt - s.now
		if len(c.timers) > 0 {
			waitMs = min(waitMs, c.timers[0].wake-s.now)
		}
	})
	return waitMs
}

// sweep deletes expired offsets, and groups that have nothing left.
func (c *Coordinator) sweep(s *step) {
	for _, g := range c.groups {
		if len(c.commits[g.id]) > 0 {
			continue // what is on its way may be newer than what has expired
		}
		if gone := g.expired(s.now, c.opt.RetentionMs); len(gone) > 0 || g.idle() {
			c.drop(s, g, gone, true, nil)
		}
	}
}
