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
	running  bool
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
	return &Coordinator{opt: o, groups: map[string]*group{}, wake: make(chan struct{}, 1),
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

// Replay applies a record of __consumer_offsets; before Start.
func (c *Coordinator) Replay(key, value []byte) error { return c.replay(key, value) }

// Start gives the members found by Replay a new session each and begins.
func (c *Coordinator) Start() {
	now := c.opt.Now().UnixMilli()
	for _, g := range c.groups {
		for _, m := range g.members {
			m.deadline = now + m.sessionMs
		}
	}
	go c.run()
}

// Close ends the timers. Requests still waiting are not answered.
func (c *Coordinator) Close() {
	c.mu.Lock()
	was := c.closed
	c.closed = true
	c.mu.Unlock()
	if !was {
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

// write stores the group's metadata; then is called without a step, maybe nil.
func (s *step) write(g *group, then func(error)) {
	g.hasMeta = true
	r := []Record{g.record()}
	p := s.c.PartitionFor(g.id)
	s.answer(func() {
		s.c.opt.Log.Append(p, r, func(err error) {
			if err != nil {
				s.c.opt.Logger.Error("group metadata cannot be stored", "group", g.id, "error", err)
			}
			if then != nil {
				then(err)
			}
		})
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

// reschedule has the timer look at the group's next deadline.
func (c *Coordinator) reschedule(g *group) {
	at := g.next()
	if at != 0 && (g.wake == 0 || at < g.wake) {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
	g.wake = at
}

// run wakes groups at their deadlines and sweeps expired offsets.
func (c *Coordinator) run() {
	defer close(c.finished)
	sweep := c.opt.Now().UnixMilli() + c.opt.SweepMs
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-c.wake:
		case <-c.stop:
			return
		}
		next := sweep
		c.do(func(s *step) {
			next = min(next, c.expireDue(s))
			if s.now >= sweep {
				c.sweep(s)
				sweep = s.now + c.opt.SweepMs
			}
			next = min(next, sweep) - s.now
		})
		t.Reset(time.Duration(max(next, 1)) * time.Millisecond)
	}
}

// expireDue steps the groups whose deadline has come and gives the next one.
func (c *Coordinator) expireDue(s *step) int64 {
	next := s.now + 60_000
	for _, g := range c.groups {
		if g.wake == 0 {
			if g.wake = g.next(); g.wake == 0 {
				continue
			}
		}
		if g.wake <= s.now {
			s.expire(g)
			g.wake = g.next()
		}
		if g.wake != 0 {
			next = min(next, g.wake)
		}
	}
	return next
}

// sweep deletes expired offsets, and groups that have nothing left.
func (c *Coordinator) sweep(s *step) {
	for _, g := range c.groups {
		if gone := g.expired(s.now, c.opt.RetentionMs); len(gone) > 0 {
			c.drop(s, g, gone, nil)
		} else if g.state == Empty && len(g.offsets) == 0 && len(g.pending) == 0 {
			c.drop(s, g, nil, nil)
		}
	}
}

// drop deletes offsets of a group durably, and the group if nothing is left.
func (c *Coordinator) drop(s *step, g *group, gone []TopicPartition, done func(error)) {
	var r []Record
	for _, tp := range gone {
		delete(g.offsets, tp)
		r = append(r, offsetRecord(g.id, tp, nil))
	}
	if g.state == Empty && len(g.offsets) == 0 && len(g.pending) == 0 {
		delete(c.groups, g.id)
		g.state = Dead
		if g.hasMeta {
			r = append(r, groupTombstone(g.id))
		}
	}
	if done == nil {
		done = func(error) {}
	}
	if len(r) == 0 {
		s.answer(func() { done(nil) })
		return
	}
	p := c.PartitionFor(g.id)
	s.answer(func() { c.opt.Log.Append(p, r, done) })
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

// Commit stores offsets. reply gets the request back with Err set on each commit
// that was refused, or an error for all of them.
func (c *Coordinator) Commit(q *CommitRequest, reply func(error)) {
	c.do(func(s *step) {
		g := c.groups[q.Group]
		err := s.mayCommit(g, q)
		if g == nil && err == nil && len(c.groups) >= c.opt.MaxGroups {
			err = ErrTooManyGroups
		}
		if err != nil {
			s.answer(func() { reply(err) })
			return
		}
		g = c.groupFor(q.Group, s.now)
		var r []Record
		offsets := make(map[TopicPartition]Offset, len(q.Offsets))
		for i := range q.Offsets {
			o := &q.Offsets[i]
			switch {
			case o.Err != nil:
				continue
			case len(o.Metadata) > c.opt.MaxMetadataBytes:
				o.Err = ErrMetadataTooLarge
				continue
			case c.opt.Exists != nil && !c.opt.Exists(o.Topic, o.Partition):
				o.Err = ErrUnknownPartition
				continue
			}
			v := Offset{Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, CommitMs: s.now, ExpireMs: -1}
			if o.RetentionMs >= 0 {
				v.ExpireMs = s.now + o.RetentionMs
			}
			offsets[o.TopicPartition] = v
			r = append(r, offsetRecord(q.Group, o.TopicPartition, &v))
		}
		if len(r) == 0 {
			s.answer(func() { reply(nil) })
			return
		}
		p := c.PartitionFor(q.Group)
		s.answer(func() {
			c.opt.Log.Append(p, r, func(err error) { c.committed(q.Group, offsets, err, reply) })
		})
	})
}

// committed makes durable offsets visible.
func (c *Coordinator) committed(id string, offsets map[TopicPartition]Offset, err error, reply func(error)) {
	c.do(func(s *step) {
		if err != nil {
			c.opt.Logger.Error("offsets cannot be stored", "group", id, "error", err)
			s.answer(func() { reply(ErrNotDurable) })
			return
		}
		g := c.groupFor(id, s.now)
		for tp, o := range offsets {
			g.offsets[tp] = o
		}
		s.answer(func() { reply(nil) })
	})
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
			a, b := out[i].TopicPartition, out[j].TopicPartition
			return a.Topic < b.Topic || a.Topic == b.Topic && a.Partition < b.Partition
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

// CheckMember tells whether a member of a group may fetch with this epoch.
func (c *Coordinator) Exists(group string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.groups[group] != nil
}

// Delete deletes an empty group with its offsets.
func (c *Coordinator) Delete(group string, reply func(error)) {
	c.do(func(s *step) {
		g := c.groups[group]
		var err error
		switch {
		case group == "":
			err = ErrInvalidGroup
		case g == nil:
			err = ErrGroupNotFound
		case g.state != Empty || len(g.members) > 0:
			err = ErrGroupNotEmpty
		}
		if err != nil {
			s.answer(func() { reply(err) })
			return
		}
		clear(g.pending)
		all := make([]TopicPartition, 0, len(g.offsets))
		for tp := range g.offsets {
			all = append(all, tp)
		}
		c.drop(s, g, all, reply)
	})
}

// DeleteOffsets deletes committed offsets of topics that the group does not
// subscribe to. reply gets one error for each partition.
func (c *Coordinator) DeleteOffsets(group string, parts []TopicPartition, reply func([]error, error)) {
	c.do(func(s *step) {
		g := c.groups[group]
		if g == nil {
			s.answer(func() { reply(nil, ErrGroupNotFound) })
			return
		}
		if g.state != Empty && g.protoType != "consumer" {
			s.answer(func() { reply(nil, ErrGroupNotEmpty) })
			return
		}
		topics, _ := g.subscribed()
		errs := make([]error, len(parts))
		var gone []TopicPartition
		for i, tp := range parts {
			if len(g.members) > 0 && topics[tp.Topic] {
				errs[i] = ErrSubscribed
			} else if _, ok := g.offsets[tp]; ok {
				gone = append(gone, tp)
			}
		}
		if len(gone) == 0 {
			s.answer(func() { reply(errs, nil) })
			return
		}
		var r []Record
		for _, tp := range gone {
			delete(g.offsets, tp)
			r = append(r, offsetRecord(g.id, tp, nil))
		}
		p := c.PartitionFor(g.id)
		s.answer(func() { c.opt.Log.Append(p, r, func(err error) { reply(errs, err) }) })
	})
}

// TopicDeleted forgets the offsets of a topic that is gone.
func (c *Coordinator) TopicDeleted(topic string) {
	c.do(func(s *step) {
		for _, g := range c.groups {
			var gone []TopicPartition
			for tp := range g.offsets {
				if tp.Topic == topic {
					gone = append(gone, tp)
				}
			}
			if len(gone) > 0 {
				c.drop(s, g, gone, nil)
			}
		}
	})
}

// Partitions is the number of partitions of __consumer_offsets.
func (c *Coordinator) Partitions() int32 { return c.opt.Partitions }
