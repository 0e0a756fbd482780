package disk

import "sync"

// Gate holds operations of a Fault until a test opens it. The zero Gate is shut.
type Gate struct {
	mu      sync.Mutex
	open    bool
	held    []func() // what goes on when the gate opens, oldest first
	watches []gateWatch
}

// gateWatch is somebody who waits for count operations at the gate.
type gateWatch struct {
	count   int
	reached chan struct{}
}

// Open lets all held operations go on, oldest first, and all later ones pass.
func (g *Gate) Open() {
	g.mu.Lock()
	g.open = true
	held := g.held
	g.held = nil
	g.mu.Unlock()
	for _, proceed := range held {
		proceed()
	}
}

// Shut holds operations from now on.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
}

// Release lets the n oldest held operations go on (fewer if there are fewer); the
// gate stays shut.
func (g *Gate) Release(n int) {
	g.mu.Lock()
	n = min(n, len(g.held))
	held := g.held[:n:n]
	g.held = g.held[n:]
	g.mu.Unlock()
	for _, proceed := range held {
		proceed()
	}
}

// Held returns a channel that is closed as soon as n operations are held at the
// same time.
func (g *Gate) Held(n int) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := gateWatch{count: n, reached: make(chan struct{})}
	g.watches = append(g.watches, w)
	g.tell()
	return w.reached
}

// tell closes the channels of the watches that are satisfied; mu is held.
func (g *Gate) tell() {
	waiting := g.watches[:0]
	for _, w := range g.watches {
		if len(g.held) >= w.count {
			close(w.reached)
		} else {
			waiting = append(waiting, w)
		}
	}
	g.watches = waiting
}

// pass calls proceed: now if the gate is open, else when it lets it go on.
func (g *Gate) pass(proceed func()) {
	g.mu.Lock()
	if !g.open {
		g.held = append(g.held, proceed)
		g.tell()
		g.mu.Unlock()
		return
	}
	g.mu.Unlock()
	proceed()
}

// wait blocks until the gate lets the caller go on.
func (g *Gate) wait() {
	passed := make(chan struct{})
	g.pass(func() { close(passed) })
	<-passed
}
