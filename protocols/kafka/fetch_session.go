package kafka

import (
	"container/list"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine"
)

// Epochs of fetch sessions (KIP-227).
const (
	initialEpoch = 0  // full fetch that may open a session
	finalEpoch   = -1 // full fetch without one; closes the one it names
)

const (
	// fetchSessionEviction is how long a session is safe from being evicted for a
	// larger one, and idle before it is evicted for any other.
	fetchSessionEviction = 2 * time.Minute
	// maxSessionPartitions bounds the partitions of all sessions together.
	maxSessionPartitions = 2_000_000
)

// fetchSessions are the open sessions. A session remembers a consumer's
// partitions, so that its requests and answers name only what has changed.
type fetchSessions struct {
	slots int
	now   func() time.Time

	mu         sync.Mutex
	byID       map[int32]*fetchSession
	byUse      list.List // *fetchSession, longest unused first
	partitions int
}

func newFetchSessions(slots int) *fetchSessions {
	return &fetchSessions{slots: slots, now: time.Now, byID: make(map[int32]*fetchSession)}
}

// fetchSession is one session. Usually one connection uses it, but nothing keeps
// a client from naming another's.
type fetchSession struct {
	id      int32
	byIDs   bool // of topics: its requests have version 13 or above
	created time.Time

	// Of fetchSessions, under its lock.
	used  time.Time
	place *list.Element
	size  int

	mu      sync.Mutex
	epoch   int32
	parts   map[fetchKey]*sessionPart
	order   []*sessionPart // what has given records last stands last
	scratch []*sessionPart
}

type fetchKey struct {
	fetchTopic
	index int32
}

// sessionPart is one partition of a session and what its client knows of it.
type sessionPart struct {
	fetchKey
	fetchWish
	partition     *engine.Partition // nil: unknown when last looked up
	highWatermark int64             // as last answered; -1: answer in any case
	logStart      int64
	forgotten     bool
	gaveRecords   bool // in the last answer
}

// nextEpoch follows epoch; it stays clear of the special ones.
func nextEpoch(epoch int32) int32 {
	if epoch == math.MaxInt32 {
		return 1
	}
	return epoch + 1
}

// use finds the session of an incremental request, applies the request's changes
// and calls each for all its partitions in order. Without partitions left the
// session ends and is nil. code is the error for the whole request.
func (c *fetchSessions) use(q *fetchRequest, each func(*sessionPart)) (s *fetchSession, code int16) {
	c.mu.Lock()
	s = c.byID[q.sessionID]
	c.mu.Unlock()
	if s == nil {
		return nil, kerr.FetchSessionIDNotFound.Code
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.epoch != q.sessionEpoch:
		return nil, kerr.InvalidFetchSessionEpoch.Code
	case s.byIDs != (q.version >= 13):
		return nil, kerr.FetchSessionTopicIDError.Code
	}
	s.update(q)
	if len(s.order) == 0 {
		c.remove(s)
		return nil, 0
	}
	if !c.touch(s, len(s.order)) {
		return nil, kerr.FetchSessionIDNotFound.Code
	}
	s.epoch = nextEpoch(s.epoch)
	for _, p := range s.order {
		each(p)
	}
	return s, 0
}

// update applies a request's changes.
func (s *fetchSession) update(q *fetchRequest) {
	for i := range q.parts {
		e := &q.parts[i]
		if p := s.parts[fetchKey{e.fetchTopic, e.index}]; p != nil {
			p.fetchWish = e.fetchWish
			continue
		}
		p := newSessionPart(e)
		s.parts[p.fetchKey] = p
		s.order = append(s.order, p)
	}
	if len(q.forgotten) == 0 {
		return
	}
	for _, e := range q.forgotten {
		key := fetchKey{e.fetchTopic, e.index}
		if p := s.parts[key]; p != nil {
			p.forgotten = true
			delete(s.parts, key)
		}
	}
	kept := s.order[:0]
	for _, p := range s.order {
		if !p.forgotten {
			kept = append(kept, p)
		}
	}
	clear(s.order[len(kept):])
	s.order = kept
}

// newSessionPart copies the name, which refers to the frame.
func newSessionPart(e *fetchEntry) *sessionPart {
	t := e.fetchTopic
	t.name = strings.Clone(t.name)
	return &sessionPart{fetchKey: fetchKey{t, e.index}, fetchWish: e.fetchWish, highWatermark: -1, logStart: -1}
}

// rotate moves the partitions that gave records behind the others, so that a
// busy one cannot keep the others from being answered. The lock is held.
func (s *fetchSession) rotate(gave int) {
	if gave == 0 || gave == len(s.order) {
		return
	}
	kept := s.order[:0]
	for _, p := range s.order {
		if p.gaveRecords {
			s.scratch = append(s.scratch, p)
		} else {
			kept = append(kept, p)
		}
	}
	s.order = append(kept, s.scratch...)
	clear(s.scratch)
	s.scratch = s.scratch[:0]
}

// open makes a session of the partitions of a full fetch; nil if there is no
// room. Full fetches are rare, and legal without a session.
func (c *fetchSessions) open(parts []*sessionPart, byIDs bool) *fetchSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !c.makeRoom(len(parts), now) {
		return nil
	}
	s := &fetchSession{id: c.newID(), byIDs: byIDs, created: now, used: now, size: len(parts),
		epoch: nextEpoch(initialEpoch), parts: make(map[fetchKey]*sessionPart, len(parts))}
	for _, p := range parts {
		if s.parts[p.fetchKey] == nil { // else named twice
			s.order = append(s.order, p)
			s.parts[p.fetchKey] = p
		}
	}
	c.byID[s.id] = s
	s.place = c.byUse.PushBack(s)
	c.partitions += s.size
	return s
}

// makeRoom evicts a session if all slots are taken: the one unused for longest,
// if that is long enough, or else the smallest of those that have had their
// time, if the new one is larger.
func (c *fetchSessions) makeRoom(size int, now time.Time) bool {
	if c.partitions+size > maxSessionPartitions || c.slots == 0 {
		return false
	}
	if len(c.byID) < c.slots {
		return true
	}
	oldest := c.byUse.Front().Value.(*fetchSession)
	if now.Sub(oldest.used) > fetchSessionEviction {
		c.drop(oldest)
		return true
	}
	var smallest *fetchSession
	for _, s := range c.byID {
		if now.Sub(s.created) > fetchSessionEviction && (smallest == nil || s.size < smallest.size) {
			smallest = s
		}
	}
	if smallest == nil || smallest.size >= size {
		return false
	}
	c.drop(smallest)
	return true
}

func (c *fetchSessions) newID() int32 {
	for {
		id := rand.Int32N(math.MaxInt32) + 1
		if c.byID[id] == nil {
			return id
		}
	}
}

// touch marks a session as used now. False: it has been evicted, or has grown
// beyond the limit and is ended.
func (c *fetchSessions) touch(s *fetchSession, size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[s.id] != s {
		return false
	}
	c.partitions += size - s.size
	s.size, s.used = size, c.now()
	if c.partitions > maxSessionPartitions {
		c.drop(s)
		return false
	}
	c.byUse.MoveToBack(s.place)
	return true
}

// end ends the session of that id, if there is one.
func (c *fetchSessions) end(id int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.byID[id]; s != nil {
		c.drop(s)
	}
}

func (c *fetchSessions) remove(s *fetchSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[s.id] == s {
		c.drop(s)
	}
}

func (c *fetchSessions) drop(s *fetchSession) {
	delete(c.byID, s.id)
	c.byUse.Remove(s.place)
	c.partitions -= s.size
}
