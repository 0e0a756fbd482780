package engine

import "sync"

// rollout waits for the batches of one snapshot.
type rollout struct {
	mu   sync.Mutex
	left int
	base int64
	err  error
	done func(base int64, err error)
}

// add queues one batch; the caller kicks the log.
func (r *rollout) add(p *Partition, records []byte) {
	r.mu.Lock()
	r.left++
	r.mu.Unlock()
	q := &AppendRequest{Records: records, Internal: true, Done: func(q *AppendRequest) { r.finish(q.Err) }}
	if err := p.appendOne(q); err != nil {
		r.finish(err)
	}
}

func (r *rollout) finish(err error) {
	r.mu.Lock()
	r.left--
	if r.err == nil {
		r.err = err
	}
	last, all := r.left == 0, r.err
	r.mu.Unlock()
	if last {
		r.done(r.base, all)
	}
}
