package iouring

import "fmt"

// complete takes completions and hands requests back until the ring is closed.
func (r *Ring) complete() {
	defer close(r.stopped)
	for r.waiter.wait() {
		r.reap()
	}
}

// reap takes what is in the completion queue. Requests are handed back before new
// ones are submitted for the freed slots: somebody waits for those, and a Done
// often brings a request of its own.
func (r *Ring) reap() {
	for {
		var done requestList
		for {
			c, ok := r.q.next()
			if !ok {
				break
			}
			if req := r.take(c); req != nil {
				done.push(req)
			}
		}
		if done.head == nil {
			break
		}
		r.finish(done)
	}
	r.mu.Lock()
	lost := r.flush()
	r.mu.Unlock()
	r.finish(lost)
}

// take accounts for one completion and returns the request that it completes.
func (r *Ring) take(c completion) *Request {
	if c.userData == stopMark {
		return nil
	}
	index, stage := uint32(c.userData>>stageBits), c.userData&(1<<stageBits-1)
	r.mu.Lock()
	if int(index) >= len(r.slots) || r.slots[index].req == nil {
		panic(fmt.Sprintf("BUG: iouring: completion %#x belongs to no request", c.userData))
	}
	s := &r.slots[index]
	req, split := s.req, s.split
	if stage == stageData {
		req.transferred(c.res)
	} else if !split {
		req.synced(c.res)
	}
	s.left--
	last := s.left == 0
	if last {
		r.release(index)
		if split && req.Err == nil {
			last = !r.syncAlone(req)
		}
	}
	r.mu.Unlock()
	// Only this goroutine can complete req, so it is still in flight here.
	if stage == stageData && req.Op == WriteSync && req.Err == nil && req.Wrote != nil {
		req.Wrote(req)
	}
	if !last {
		return nil
	}
	return req
}

// syncAlone queues the sync that a split request still lacks; false if the ring
// takes no more, and then the request has failed. mu is held.
func (r *Ring) syncAlone(req *Request) bool {
	if r.failed != nil {
		req.Err = r.failed
		return false
	}
	req.syncOnly = true
	r.pending.pushFront(req)
	return true
}
