package groups

// SyncRequest asks for the assignment; the leader's brings it (SyncGroup).
type SyncRequest struct {
	Group       string
	MemberID    string
	InstanceID  *string
	Generation  int32
	ProtoType   *string // nil: not told
	Protocol    *string
	Assignments map[string][]byte // by member id; the leader's only
}

// SyncResult is the answer.
type SyncResult struct {
	Err        error
	ProtoType  string
	Protocol   string
	Assignment []byte
}

func (s *step) sync(g *group, q *SyncRequest, reply func(SyncResult)) {
	m, err := g.find(q.MemberID, q.InstanceID)
	switch {
	case err != nil:
	case q.Generation != g.gen:
		err = ErrIllegalGeneration
	case q.ProtoType != nil && *q.ProtoType != g.protoType || q.Protocol != nil && *q.Protocol != g.protocol:
		err = ErrInconsistentProtocol
	case g.state == Preparing:
		err = ErrRebalancing
	case g.state == Empty:
		err = ErrUnknownMember
	}
	if err != nil {
		s.answer(func() { reply(SyncResult{Err: err}) })
		return
	}
	m.deadline = s.now + m.sessionMs
	m.synced = true
	if g.state == Stable {
		res := g.syncResult(m)
		s.answer(func() { reply(res) })
		return
	}
	if old := m.sync; old != nil {
		s.answer(func() { old(SyncResult{Err: ErrRebalancing}) })
	}
	m.sync = reply
	if m.id == g.leader && !g.assigning {
		s.assign(g, q.Assignments)
	}
}

// endSync answers a waiting sync with an error. Its member was alive as long as it
// waited, so its session begins now.
func (s *step) endSync(m *member, err error) {
	if y := m.sync; y != nil {
		m.sync = nil
		m.deadline = s.now + m.sessionMs
		s.answer(func() { y(SyncResult{Err: err}) })
	}
}

// assign makes the leader's assignment durable and then the group's.
func (s *step) assign(g *group, assignments map[string][]byte) {
	for id, m := range g.members {
		m.assignment = assignments[id]
	}
	gen := g.gen
	g.assigning = true
	s.writeThen(g, func(s *step, err error) {
		if g.state != Completing || g.gen != gen {
			return
		}
		if err != nil {
			for _, m := range g.byOrder() {
				s.endSync(m, ErrNotDurable)
			}
			s.rebalance(g)
			s.tryComplete(g)
			return
		}
		g.assigning = false
		g.enter(Stable, s.now)
		for _, m := range g.byOrder() {
			if y := m.sync; y != nil {
				m.sync = nil
				m.deadline = s.now + m.sessionMs
				res := g.syncResult(m)
				s.answer(func() { y(res) })
			}
		}
	})
}

func (g *group) syncResult(m *member) SyncResult {
	return SyncResult{ProtoType: g.protoType, Protocol: g.protocol, Assignment: m.assignment}
}

func (s *step) heartbeat(g *group, id string, instance *string, gen int32) error {
	m, err := g.find(id, instance)
	switch {
	case err != nil:
		return err
	case gen != g.gen:
		return ErrIllegalGeneration
	case g.state == Empty:
		return ErrUnknownMember
	}
	m.deadline = s.now + m.sessionMs
	if g.state == Preparing {
		return ErrRebalancing
	}
	return nil
}

// LeaveMember names a member that leaves; static ones by instance id alone.
type LeaveMember struct {
	MemberID   string
	InstanceID *string
}

func (s *step) leave(g *group, l LeaveMember) error {
	if l.InstanceID != nil && l.MemberID == "" {
		id, ok := g.static[*l.InstanceID]
		if !ok {
			return ErrUnknownMember
		}
		l.MemberID = id
	}
	if _, ok := g.pending[l.MemberID]; ok {
		delete(g.pending, l.MemberID)
		s.tryComplete(g)
		return nil
	}
	m, err := g.find(l.MemberID, l.InstanceID)
	if err != nil {
		return err
	}
	s.remove(g, m)
	return nil
}

// remove takes a member out and has the rest rebalance.
func (s *step) remove(g *group, m *member) {
	delete(g.members, m.id)
	if m.instance != nil && g.static[*m.instance] == m.id {
		delete(g.static, *m.instance)
	}
	if j := m.join; j != nil {
		s.answer(func() { j(joinError("", ErrUnknownMember)) })
	}
	if y := m.sync; y != nil {
		s.answer(func() { y(SyncResult{Err: ErrUnknownMember}) })
	}
	if g.state == Stable || g.state == Completing {
		s.rebalance(g)
	}
	s.tryComplete(g)
}

// expire applies the deadlines that have passed.
func (s *step) expire(g *group) {
	for id, by := range g.pending {
		if by <= s.now {
			delete(g.pending, id)
		}
	}
	for _, m := range g.byOrder() {
		if m.mayExpire() && m.deadline <= s.now && g.members[m.id] == m {
			s.remove(g, m)
		}
	}
	s.tryComplete(g)
	switch {
	case g.state == Preparing && g.delayBy > 0:
		if g.delayBy <= s.now {
			s.endDelay(g)
		}
	case g.state == Preparing && g.joinBy <= s.now:
		// Ids given out stay good: their clients come in with the next generation.
		s.complete(g)
	case g.syncBy != 0 && g.syncBy <= s.now:
		s.expireSync(g)
	}
}

// expireSync drops the members that never asked for their assignment, static ones
// too, and has the rest rebalance if there were any.
func (s *step) expireSync(g *group) {
	g.syncBy = 0
	var silent []*member
	for _, m := range g.byOrder() {
		if !m.synced {
			silent = append(silent, m)
		}
	}
	if len(silent) == 0 {
		return
	}
	s.rebalance(g)
	for _, m := range silent {
		if g.members[m.id] == m {
			s.remove(g, m)
		}
	}
	s.tryComplete(g)
}
