package groups

// JoinRequest asks to be a member (JoinGroup).
type JoinRequest struct {
	Group      string
	MemberID   string
	InstanceID *string
	ClientID   string
	ClientHost string
	SessionMs  int64
	RebalMs    int64
	ProtoType  string
	Protocols  []Protocol
	// NeedsID: a new dynamic member must join a second time with the id that it
	// is given (KIP-394).
	NeedsID bool
	// CanSkip: the client understands JoinResult.Skip (KIP-814).
	CanSkip bool
}

// JoinResult is the answer.
type JoinResult struct {
	Err        error
	MemberID   string
	Generation int32
	ProtoType  string
	Protocol   string
	Leader     string
	Skip       bool // the leader need not assign: the assignment stands
	Members    []JoinMember
}

// JoinMember is what the leader learns of a member.
type JoinMember struct {
	ID         string
	InstanceID *string
	Metadata   []byte
}

// maxPending bounds the member ids of a group that are given out but not used yet.
const maxPending = 10_000

// firstJoinMs is how long a first join waits for the others. Kafka's value.
const firstJoinMs = 5 * 60_000

// minRebalanceMs bounds the rebalance timeout that clients ask for: less would have
// the timer turn without pause while a static member is away.
const minRebalanceMs = 100

func joinError(id string, err error) JoinResult {
	return JoinResult{Err: err, MemberID: id, Generation: -1}
}

// join is one step of the state machine.
func (s *step) join(g *group, q *JoinRequest, reply func(JoinResult)) {
	switch {
	case !s.accepts(g, q.MemberID):
		s.kick(g, q.MemberID)
		s.answer(func() { reply(joinError("", ErrGroupFull)) })
	case !g.supports(q.ProtoType, q.Protocols):
		s.answer(func() { reply(joinError(q.MemberID, ErrInconsistentProtocol)) })
	case q.MemberID == "":
		s.joinNew(g, q, reply)
	default:
		s.rejoin(g, q, reply)
	}
}

// accepts applies group.max.size. While a group gathers only those that have
// joined count, so that the last to come are the ones that are too many.
func (s *step) accepts(g *group, id string) bool {
	m := g.members[id]
	switch g.state {
	case Empty:
		return true
	case Preparing:
		return m != nil && m.join != nil || g.waiting() < s.opt.MaxGroupSize
	}
	return m != nil || len(g.members) < s.opt.MaxGroupSize
}

// waiting is the number of members whose join waits for the others.
func (g *group) waiting() int {
	n := 0
	for _, m := range g.members {
		if m.join != nil {
			n++
		}
	}
	return n
}

// kick takes out a member that came back to a group that is full.
func (s *step) kick(g *group, id string) {
	delete(g.pending, id)
	if m := g.members[id]; m != nil {
		s.remove(g, m)
		return
	}
	s.tryComplete(g)
}

func (s *step) joinNew(g *group, q *JoinRequest, reply func(JoinResult)) {
	if q.InstanceID != nil {
		if old, ok := g.static[*q.InstanceID]; ok {
			s.replaceStatic(g, old, q, reply)
			return
		}
	}
	if len(g.pending) >= maxPending {
		s.answer(func() { reply(joinError("", ErrGroupFull)) })
		return
	}
	prefix := q.ClientID
	if q.InstanceID != nil {
		prefix = *q.InstanceID
	}
	id := prefix + "-" + s.opt.NewID()
	if q.NeedsID && q.InstanceID == nil {
		g.pending[id] = s.now + q.SessionMs
		s.answer(func() { reply(joinError(id, ErrMemberIDRequired)) })
		return
	}
	s.add(g, id, q, reply)
}

func (s *step) rejoin(g *group, q *JoinRequest, reply func(JoinResult)) {
	if _, ok := g.pending[q.MemberID]; ok && q.InstanceID == nil {
		delete(g.pending, q.MemberID)
		s.add(g, q.MemberID, q, reply)
		return
	}
	m, err := g.find(q.MemberID, q.InstanceID)
	if err != nil {
		s.answer(func() { reply(joinError(q.MemberID, err)) })
		return
	}
	same := sameProtocols(m.protocols, q.Protocols)
	current := g.state == Completing && same || g.state == Stable && same && m.id != g.leader
	if current {
		m.deadline = s.now + m.sessionMs
		res := g.joinResult(m)
		s.answer(func() { reply(res) })
		return
	}
	s.update(m, q, reply)
	if g.state != Preparing {
		s.rebalance(g)
	}
	s.tryComplete(g)
}

func (s *step) update(m *member, q *JoinRequest, reply func(JoinResult)) {
	if m.join != nil {
		// The client has given up on its earlier request.
		old := m.join
		s.answer(func() { old(joinError(m.id, ErrRebalancing)) })
	}
	m.clientID, m.clientHost = q.ClientID, q.ClientHost
	m.sessionMs, m.rebalMs, m.protocols = q.SessionMs, max(q.RebalMs, minRebalanceMs), q.Protocols
	m.join = reply
	m.deadline = s.now + m.sessionMs
}

// add takes a new member in.
func (s *step) add(g *group, id string, q *JoinRequest, reply func(JoinResult)) {
	g.joined++
	m := &member{id: id, instance: q.InstanceID, order: g.joined}
	s.update(m, q, reply)
	m.fresh, m.deadline = true, s.now+firstJoinMs
	if len(g.members) == 0 {
		g.protoType = q.ProtoType
	}
	g.members[id] = m
	if m.instance != nil {
		g.static[*m.instance] = id
	}
	switch {
	case g.state == Empty && s.opt.InitialDelayMs == 0:
		// Ids that are given out are not waited for either.
		s.rebalance(g)
		s.complete(g)
	case g.state == Preparing:
		g.delayMore = true
		s.tryComplete(g)
	default:
		s.rebalance(g)
		s.tryComplete(g)
	}
}

// replaceStatic gives a static member's place to its new incarnation. In a stable
// group the others need not notice, unless another protocol is to be chosen: a new
// subscription alone waits for the next rebalance, as in Kafka.
func (s *step) replaceStatic(g *group, oldID string, q *JoinRequest, reply func(JoinResult)) {
	m := g.members[oldID]
	if j := m.join; j != nil {
		m.join = nil
		s.answer(func() { j(joinError(oldID, ErrFencedInstance)) })
	}
	if y := m.sync; y != nil {
		m.sync = nil
		s.answer(func() { y(SyncResult{Err: ErrFencedInstance}) })
	}
	delete(g.members, oldID)
	oldLeader := g.leader
	wasLeader := oldLeader == oldID
	m.id = *q.InstanceID + "-" + s.opt.NewID()
	g.members[m.id] = m
	g.static[*q.InstanceID] = m.id
	if wasLeader {
		g.leader = m.id
	}
	s.update(m, q, reply)
	if g.state != Stable || g.choose() != g.protocol {
		if g.state != Preparing {
			s.rebalance(g)
		}
		s.tryComplete(g)
		return
	}
	m.join = nil
	res := g.joinResult(m)
	if wasLeader && q.CanSkip {
		res.Skip = true
	} else if wasLeader {
		// An old client that saw itself as leader would assign anew.
		res.Leader, res.Members = oldLeader, nil
	}
	s.writeThen(g, func(s *step, err error) {
		switch {
		case err != nil:
			res = joinError("", ErrNotDurable)
		case g.static[*q.InstanceID] != res.MemberID:
			res = joinError(res.MemberID, ErrFencedInstance) // by the next one
		}
		s.answer(func() { reply(res) })
	})
}

// joinResult is what a member learns of the present generation.
func (g *group) joinResult(m *member) JoinResult {
	r := JoinResult{MemberID: m.id, Generation: g.gen, ProtoType: g.protoType, Protocol: g.protocol, Leader: g.leader}
	if m.id == g.leader {
		for _, o := range g.byOrder() {
			r.Members = append(r.Members, JoinMember{o.id, o.instance, o.metadata(g.protocol)})
		}
	}
	return r
}

// rebalance begins to collect joins.
func (s *step) rebalance(g *group) {
	if g.state == Completing {
		for _, m := range g.byOrder() {
			m.assignment = nil
			s.endSync(m, ErrRebalancing)
		}
	}
	g.assigning, g.syncBy = false, 0
	most, delay := g.maxRebalanceMs(), s.opt.InitialDelayMs
	g.joinBy, g.delayBy, g.delayMore = s.now+most, 0, false
	if g.state == Empty && delay > 0 {
		g.joinBy, g.delayBy, g.delayLeft = 0, s.now+delay, max(most-delay, 0)
	}
	g.enter(Preparing, s.now)
}

// endDelay ends the initial delay, or extends it if others have come meanwhile: more
// may be about to (KIP-134).
func (s *step) endDelay(g *group) {
	if !g.delayMore || g.delayLeft == 0 {
		s.complete(g)
		return
	}
	more := min(s.opt.InitialDelayMs, g.delayLeft)
	g.delayBy, g.delayLeft, g.delayMore = s.now+more, g.delayLeft-more, false
}

// tryComplete ends the collection when everybody is there.
func (s *step) tryComplete(g *group) {
	if g.state != Preparing || g.delayBy > 0 || len(g.pending) > 0 {
		return
	}
	for _, m := range g.members {
		if m.join == nil {
			return
		}
	}
	s.complete(g)
}

// complete makes a new generation of those who have joined. Dynamic members
// that have not are out; static ones may come back until their session ends.
func (s *step) complete(g *group) {
	g.delayBy = 0
	anyone := false
	for id, m := range g.members {
		switch {
		case m.join != nil:
			anyone = true
		case m.instance == nil:
			delete(g.members, id)
		}
	}
	if len(g.members) > 0 && !anyone {
		g.joinBy = s.now + g.maxRebalanceMs()
		return
	}
	g.gen++
	if len(g.members) == 0 {
		g.protocol, g.leader = "", ""
		g.enter(Empty, s.now)
		s.write(g, nil)
		return
	}
	g.protocol = g.choose()
	if l := g.members[g.leader]; l == nil || l.join == nil {
		for _, m := range g.byOrder() {
			if m.join != nil {
				g.leader = m.id
				break
			}
		}
	}
	g.enter(Completing, s.now)
	g.syncBy = s.now + g.maxRebalanceMs()
	for _, m := range g.byOrder() {
		m.synced = false
		if j := m.join; j != nil {
			m.join, m.fresh = nil, false
			m.deadline = s.now + m.sessionMs
			res := g.joinResult(m)
			s.answer(func() { j(res) })
		}
	}
}
