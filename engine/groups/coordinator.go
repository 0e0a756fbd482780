package groups

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sort"
	"sync"
	"time"
	"unicode/utf16"
)

// Log stores records of __consumer_offsets durably. done is called exactly once,
// in order of the calls for one partition, and must not be called under a lock
// that the caller of Append holds.
type Log interface {
	Append(partition int32, records []Record, done func(error))
}

// Options of a Coordinator. Times are in milliseconds.
type Options struct {
	Log        Log
	Partitions int32 // of __consumer_offsets
	// Exists tells whether a partition exists.
	Exists           func(topic string, partition int32) bool
	Now              func() time.Time
	NewID            func() string // random part of member ids
	InitialDelayMs   int64         // group.initial.rebalance.delay.ms
	MinSessionMs     int64
	MaxSessionMs     int64
	MaxGroupSize     int
	MaxGroups        int
	MaxMetadataBytes int   // offset.metadata.max.bytes
	RetentionMs      int64 // offsets.retention.minutes
	SweepMs          int64 // offsets.retention.check.interval.ms
	Logger           *slog.Logger
}

// Coordinator coordinates all groups of a node. Its methods never wait; answers
// come through callbacks on any goroutine.
type Coordinator struct {
	opt Options

	mu       sync.Mutex
	groups   map[string]*group
	effects  []func()
	inflight map[int32]int        // appends not done yet, by partition
	commits  map[string][]*commit // on their way to the log, by group
	timers   timers
	sweepAt  int64 // ms
	running  bool  // a goroutine performs effects
	started  bool
	closed   bool
	wake     chan struct{}
	stop     chan struct{}
	finished chan struct{}
}

// New makes a coordinator without groups; Replay fills it, Start begins.
func New(o Options) *Coordinator {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxGroups == 0 {
		o.MaxGroups = 1_000_000
	}
	return &Coordinator{opt: o, groups: map[string]*group{}, inflight: map[int32]int{}, commits: map[string][]*commit{}, wake: make(chan struct{}, 1),
		stop: make(chan struct{}), finished: make(chan struct{})}
}

// newID is a random UUID in the usual form.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Replay applies a record of __consumer_offsets; before Start. It keeps neither key
// nor value. An error means that the record says nothing this coordinator can use.
func (c *Coordinator) Replay(key, value []byte) error { return c.replay(key, value) }

// Start gives the members found by Replay a new session each and begins.
func (c *Coordinator) Start() {
	c.begin()
	go c.run()
}

// begin gives members their sessions; Start without its goroutine.
func (c *Coordinator) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opt.Now().UnixMilli()
	c.started = true
	c.sweepAt = now + c.opt.SweepMs
	for _, g := range c.groups {
		for _, m := range g.members {
			m.deadline = now + m.sessionMs
		}
		c.reschedule(g)
	}
}

// Close ends the timers, and may be called without Start. Requests still waiting
// are not answered.
func (c *Coordinator) Close() {
	c.mu.Lock()
	begun := c.started && !c.closed
	c.closed = true
	c.mu.Unlock()
	if begun {
		close(c.stop)
		<-c.finished
	}
}

// PartitionFor is the partition of __consumer_offsets that a group is in.
func (c *Coordinator) PartitionFor(group string) int32 { return partitionFor(group, c.opt.Partitions) }

// partitionFor is Kafka's: the hash of a Java string, modulo.
func partitionFor(group string, partitions int32) int32 {
	var h int32
	for _, u := range utf16.Encode([]rune(group)) {
		h = 31*h + int32(u)
	}
	return (h & 0x7fffffff) % partitions
}

// step is one step of one group: the time, and the effects it leaves.
type step struct {
	c   *Coordinator
	opt *Options
	now int64
}

func (s *step) answer(f func()) { s.c.effects = append(s.c.effects, f) }

// append leaves records to be stored. Once they are, or cannot be, done is called,
// without a step.
func (s *step) append(partition int32, r []Record, done func(error)) {
	c := s.c
	c.inflight[partition]++
	s.answer(func() {
		c.opt.Log.Append(partition, r, func(err error) {
			done(err)
			c.do(func(*step) {
				if c.inflight[partition]--; c.inflight[partition] == 0 {
					delete(c.inflight, partition)
				}
			})
		})
	})
}

// write stores the group's metadata; then is called without a step, maybe nil.
func (s *step) write(g *group, then func(error)) {
	g.hasMeta = true
	r := []Record{g.record()}
	p := s.c.PartitionFor(g.id)
	s.append(p, r, func(err error) {
		if err != nil {
			s.c.opt.Logger.Error("group metadata cannot be stored", "group", g.id, "error", err)
		}
		if then != nil {
			then(err)
		}
	})
}

// writeThen stores the group's metadata and goes on with a step.
func (s *step) writeThen(g *group, then func(*step, error)) {
	s.write(g, func(err error) {
		s.c.do(func(s *step) {
			then(s, err)
			s.c.reschedule(g)
		})
	})
}

// do runs a step under the lock and then, in order, what it left to be done.
func (c *Coordinator) do(f func(*step)) {
	c.mu.Lock()
	f(&step{c: c, opt: &c.opt, now: c.opt.Now().UnixMilli()})
	if c.running {
		c.mu.Unlock()
		return
	}
	c.running = true
	var batch []func()
	for len(c.effects) > 0 {
		batch, c.effects = c.effects, batch[:0]
		c.mu.Unlock()
		for i, e := range batch {
			e()
			batch[i] = nil
		}
		c.mu.Lock()
	}
	c.running = false
	c.mu.Unlock()
}

func (c *Coordinator) groupFor(id string, now int64) *group {
	g := c.groups[id]
	if g == nil {
		g = newGroup(id, now)
		c.groups[id] = g
	}
	return g
}

// Join asks to be a member.
func (c *Coordinator) Join(q *JoinRequest, reply func(JoinResult)) {
	c.do(func(s *step) {
		var err error
		g := c.groups[q.Group]
		switch {
		case q.Group == "":
			err = ErrInvalidGroup
		case q.SessionMs < c.opt.MinSessionMs || q.SessionMs > c.opt.MaxSessionMs:
			err = ErrInvalidSession
		case g == nil && q.MemberID != "":
			err = ErrUnknownMember
		case g == nil && len(c.groups) >= c.opt.MaxGroups:
			err = ErrTooManyGroups
		case g == nil && (q.ProtoType == "" || len(q.Protocols) == 0):
			err = ErrInconsistentProtocol
		}
		if err != nil {
			s.answer(func() { reply(joinError(q.MemberID, err)) })
			return
		}
		g = c.groupFor(q.Group, s.now)
		s.join(g, q, reply)
		c.reschedule(g)
	})
}

// Sync asks for the member's assignment.
func (c *Coordinator) Sync(q *SyncRequest, reply func(SyncResult)) {
	c.do(func(s *step) {
		g := c.groups[q.Group]
		if err := knownGroup(q.Group, g); err != nil {
			s.answer(func() { reply(SyncResult{Err: err}) })
			return
		}
		s.sync(g, q, reply)
		c.reschedule(g)
	})
}

func knownGroup(id string, g *group) error {
	if id == "" {
		return ErrInvalidGroup
	}
	if g == nil {
		return ErrUnknownMember
	}
	return nil
}

// Heartbeat keeps a member's session alive.
func (c *Coordinator) Heartbeat(group, member string, instance *string, gen int32) (err error) {
	c.do(func(s *step) {
		g := c.groups[group]
		if err = knownGroup(group, g); err == nil {
			err = s.heartbeat(g, member, instance, gen)
		}
	})
	return err
}

// Leave takes members out; errs has one entry for each.
func (c *Coordinator) Leave(group string, members []LeaveMember) (errs []error, err error) {
	errs = make([]error, len(members))
	c.do(func(s *step) {
		g := c.groups[group]
		if group == "" {
			err = ErrInvalidGroup
			return
		}
		for i, m := range members {
			if g == nil {
				errs[i] = ErrUnknownMember
				continue
			}
			errs[i] = s.leave(g, m)
		}
		if g != nil {
			c.reschedule(g)
		}
	})
	return errs, err
}

// Fetch gives the committed offsets of the named partitions, all if nil. A group
// that does not exist has none.
func (c *Coordinator) Fetch(group string, parts []TopicPartition) []Committed {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.groups[group]
	none := Offset{Offset: -1, LeaderEpoch: -1}
	var out []Committed
	if parts == nil {
		if g == nil {
			return nil
		}
		for tp, o := range g.offsets {
			out = append(out, Committed{tp, o})
		}
		sort.Slice(out, func(i, j int) bool {
			return out[i].TopicPartition.less(out[j].TopicPartition)
		})
		return out
	}
	for _, tp := range parts {
		o := none
		if g != nil {
			if v, ok := g.offsets[tp]; ok {
				o = v
			}
		}
		out = append(out, Committed{tp, o})
	}
	return out
}

// Exists tells whether there is a group of that name.
func (c *Coordinator) Exists(group string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.groups[group] != nil
}

// Partitions is the number of partitions of __consumer_offsets.
func (c *Coordinator) Partitions() int32 { return c.opt.Partitions }
