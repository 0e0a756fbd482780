package netpoll

import "sync"

// replies is the order in which a connection's answers leave.
type replies struct {
	mu     sync.Mutex
	places []*place // reserved, oldest first; filled ones leave from the front
	out    []output // ready to be written
	unsent int      // bytes in out and in filled places
	dead   bool
	done   []func() // of the last wrote, to be used again by the next
}

// place implements Reply.
type place struct {
	c       *conn
	filled  bool
	bufs    [][]byte
	release func()
}

// output is what of one reply the socket has not taken yet.
type output struct {
	bufs    [][]byte
	release func()
}

func (c *conn) Reserve() Reply {
	p := &place{c: c}
	r := &c.replies
	r.mu.Lock()
	if !r.dead {
		r.places = append(r.places, p)
	}
	r.mu.Unlock()
	return p
}

// Send fills the place; see protocols.Reply.
func (p *place) Send(bufs [][]byte, release func()) { p.fill(bufs, release) }

// Skip leaves the place empty.
func (p *place) Skip() { p.fill(nil, nil) }

func (p *place) fill(bufs [][]byte, release func()) {
	r := &p.c.replies
	r.mu.Lock()
	if p.filled {
		r.mu.Unlock()
		panic("BUG: reply place filled twice")
	}
	p.filled = true
	if r.dead {
		r.mu.Unlock()
		if release != nil {
			release()
		}
		return
	}
	p.bufs, p.release = bufs, release
	for _, b := range bufs {
		r.unsent += len(b)
	}
	ready := r.places[0] == p
	if ready {
		r.advance()
	}
	r.mu.Unlock()
	if ready {
		p.c.wantFlush()
	}
}

// advance moves filled places at the front to the output.
func (r *replies) advance() {
	n := 0
	for n < len(r.places) && r.places[n].filled {
		p := r.places[n]
		if len(p.bufs) > 0 || p.release != nil {
			r.out = append(r.out, output{p.bufs, p.release})
		}
		n++
	}
	rest := copy(r.places, r.places[n:])
	clear(r.places[rest:])
	r.places = r.places[:rest]
}

// open is the number of places not yet filled and written.
func (r *replies) open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.places) + len(r.out)
}

// load is open, and how many outputs wait for the socket.
func (r *replies) load() (open, waiting int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.places) + len(r.out), len(r.out)
}

// dropReplies drops everything; later fills go nowhere. The buffers must not be
// in use by a write any more.
func (c *conn) dropReplies() {
	for _, f := range c.replies.kill() {
		c.release(f)
	}
}

func (r *replies) kill() (releases []func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead = true
	for _, o := range r.out {
		releases = append(releases, o.release)
	}
	for _, p := range r.places {
		if p.filled {
			releases = append(releases, p.release)
		}
	}
	r.out, r.places, r.unsent = nil, nil, 0
	return releases
}

// release calls a reply's release function, on the loop or on a TLS connection's
// writer. A panic ends the connection only.
func (c *conn) release(f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.panicked(p)
			c.wire.post(func() { c.end(errPanic) })
		}
	}()
	if f != nil {
		f()
	}
}

// take moves up to max pieces of output into iov. They stay where they are until
// wrote.
func (r *replies) take(iov [][]byte, most int) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.out {
		for _, b := range o.bufs {
			if len(iov) == most {
				return iov
			}
			if len(b) > 0 {
				iov = append(iov, b)
			}
		}
	}
	return iov
}

// wrote notes that the socket has taken n bytes and releases what is done.
// Writer only: the loop, or a TLS connection's writer.
func (c *conn) wrote(n int) {
	done := c.replies.wrote(n)
	for i, f := range done {
		done[i] = nil
		c.release(f)
	}
}

func (r *replies) wrote(n int) []func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := r.done[:0]
	r.unsent -= n
	k := 0
	for k < len(r.out) {
		o := &r.out[k]
		for len(o.bufs) > 0 && len(o.bufs[0]) <= n {
			n -= len(o.bufs[0])
			o.bufs = o.bufs[1:]
		}
		if len(o.bufs) > 0 {
			if n > 0 {
				// A copy of the list: the sender may still own it.
				o.bufs = append([][]byte{o.bufs[0][n:]}, o.bufs[1:]...)
			}
			break
		}
		if o.release != nil {
			done = append(done, o.release)
		}
		k++
	}
	rest := copy(r.out, r.out[k:])
	clear(r.out[rest:])
	r.out = r.out[:rest]
	r.done = done
	return done
}

// Unsent is the number of bytes that the socket has not taken yet.
func (c *conn) Unsent() int {
	c.replies.mu.Lock()
	defer c.replies.mu.Unlock()
	return c.replies.unsent
}
