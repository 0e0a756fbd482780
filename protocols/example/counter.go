package example

import "sync"

// maxWaiters bounds how many requests of all connections may wait together.
const maxWaiters = 10_000

// counter is what the connections share. Sessions of different connections run
// on different loops at the same time, so it has a lock.
type counter struct {
	mu      sync.Mutex
	value   int64
	waiters map[*waiter]struct{}
}

// waiter is a request that waits for the counter to reach a value.
type waiter struct {
	least int64
	send  func(value int64) // any goroutine, once
}

// add changes the counter and answers those who have waited for its new value.
func (c *counter) add(n int64) int64 {
	c.mu.Lock()
	c.value += n
	value := c.value
	var ready []*waiter
	for w := range c.waiters {
		if w.least <= value {
			ready = append(ready, w)
			delete(c.waiters, w)
		}
	}
	c.mu.Unlock()
	for _, w := range ready {
		w.send(value)
	}
	return value
}

// wait has w.send called when the counter is w.least or more: at once, or later
// by whoever adds. It is false if too many wait already.
func (c *counter) wait(w *waiter) bool {
	c.mu.Lock()
	value := c.value
	now := value >= w.least
	if !now {
		if len(c.waiters) >= maxWaiters {
			c.mu.Unlock()
			return false
		}
		c.waiters[w] = struct{}{}
	}
	c.mu.Unlock()
	if now {
		w.send(value)
	}
	return true
}

// forget drops those who will not take an answer any more.
func (c *counter) forget(ws map[*waiter]struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range ws {
		delete(c.waiters, w)
	}
}

func (c *counter) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiters)
}
