package groups

import "sort"

// State of a group, with Kafka's names.
type State uint8

// States.
const (
	Empty State = iota
	Preparing
	Completing
	Stable
	Dead
)

func (s State) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"}[s]
}

// Protocol is one assignment strategy that a member offers, with the
// metadata that goes with it.
type Protocol struct {
	Name     string
	Metadata []byte
}

type member struct {
	id         string
	instance   *string
	clientID   string
	clientHost string
	sessionMs  int64
	rebalMs    int64
	protocols  []Protocol
	assignment []byte
	deadline   int64 // of the session, or of the first join's wait, ms
	fresh      bool  // waits for the answer to its first join
	order      int64 // of joining; the first becomes leader
	synced     bool  // has asked for the assignment of this generation
	join       func(JoinResult)
	sync       func(SyncResult)
}

func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

// mayExpire: one that waits for the others is alive as long as its request is,
// except that a first join does not wait for ever: its client cannot heartbeat, and
// each one that has given up leaves a member behind.
func (m *member) mayExpire() bool { return m.fresh || m.join == nil && m.sync == nil }

func sameProtocols(a, b []Protocol) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || string(a[i].Metadata) != string(b[i].Metadata) {
			return false
		}
	}
	return true
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

func (a TopicPartition) less(b TopicPartition) bool {
	return a.Topic < b.Topic || a.Topic == b.Topic && a.Partition < b.Partition
}

// sorted are the partitions of offsets by name.
func sorted(offsets map[TopicPartition]Offset) []TopicPartition {
	out := make([]TopicPartition, 0, len(offsets))
	for tp := range offsets {
		out = append(out, tp)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].less(out[j]) })
	return out
}

// Offset is a committed offset.
type Offset struct {
	Offset      int64
	LeaderEpoch int32 // -1: unknown
	Metadata    string
	CommitMs    int64
	ExpireMs    int64    // -1: by offsets.retention.minutes
	TopicID     [16]byte // zero: unknown, as in records of Kafka before 4.2
}

// NoOffset stands for the offset that nobody has committed.
var NoOffset = Offset{Offset: -1, LeaderEpoch: -1, ExpireMs: -1}

// group is one group. Methods are steps: they change it and add effects.
type group struct {
	id        string
	state     State
	protoType string
	protocol  string
	gen       int32
	leader    string
	members   map[string]*member
	static    map[string]string // instance id to member id
	pending   map[string]int64  // member ids given out, and until when
	offsets   map[TopicPartition]Offset
	sinceMs   int64 // of the present state
	joinBy    int64 // end of Preparing, ms
	delayBy   int64 // end of the initial delay, in which joins are only collected; 0: none
	delayLeft int64 // by how much the initial delay may still be extended, ms
	delayMore bool  // a member has come during the initial delay
	syncBy    int64 // by which all must have asked for their assignment, ms; 0: have
	assigning bool  // the leader's assignment is being stored
	joined    int64
	hasMeta   bool  // a group metadata record exists
	wake      int64 // when the timer looks at the group; 0: not
	index     int   // in the timer's heap
}

func newGroup(id string, now int64) *group {
	return &group{id: id, members: map[string]*member{}, static: map[string]string{},
		pending: map[string]int64{}, offsets: map[TopicPartition]Offset{}, sinceMs: now}
}

func (g *group) enter(s State, now int64) { g.state, g.sinceMs = s, now }

// idle tells whether nothing is left that the group would be kept for.
func (g *group) idle() bool { return g.state == Empty && len(g.offsets) == 0 && len(g.pending) == 0 }

// byOrder lists the members in order of joining.
func (g *group) byOrder() []*member {
	out := make([]*member, 0, len(g.members))
	for _, m := range g.members {
		out = append(out, m)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].order < out[j].order })
	return out
}

func (g *group) maxRebalanceMs() int64 {
	var most int64
	for _, m := range g.members {
		most = max(most, m.rebalMs)
	}
	return most
}

// supports tells whether a member with these protocols can be in the group. As in
// Kafka the member's own earlier protocols count too, so that one that wants others
// altogether has to leave first.
func (g *group) supports(protoType string, protocols []Protocol) bool {
	if g.state == Empty {
		return protoType != "" && len(protocols) > 0
	}
	if g.protoType != protoType {
		return false
	}
	for _, p := range protocols {
		if g.common(p.Name) {
			return true
		}
	}
	return false
}

// common tells whether all members offer a protocol.
func (g *group) common(name string) bool {
	for _, m := range g.members {
		found := false
		for _, p := range m.protocols {
			found = found || p.Name == name
		}
		if !found {
			return false
		}
	}
	return true
}

// choose picks the protocol: each member votes for the first of its own that all
// have.
func (g *group) choose() string {
	votes := map[string]int{}
	var order []string
	for _, m := range g.byOrder() {
		for _, p := range m.protocols {
			if g.common(p.Name) {
				if votes[p.Name] == 0 {
					order = append(order, p.Name)
				}
				votes[p.Name]++
				break
			}
		}
	}
	best := ""
	for _, name := range order {
		if best == "" || votes[name] > votes[best] {
			best = name
		}
	}
	return best
}

// find checks a member's identity.
func (g *group) find(id string, instance *string) (*member, error) {
	if instance != nil {
		known, ok := g.static[*instance]
		if !ok {
			return nil, ErrUnknownMember
		}
		if known != id {
			return nil, ErrFencedInstance
		}
	}
	m := g.members[id]
	if m == nil {
		return nil, ErrUnknownMember
	}
	return m, nil
}

// next is when the group wants to be looked at; 0: never.
func (g *group) next() int64 {
	var at int64
	add := func(t int64) {
		if t > 0 && (at == 0 || t < at) {
			at = t
		}
	}
	switch g.state {
	case Preparing:
		// One of the two is set.
		add(g.joinBy)
		add(g.delayBy)
	case Completing, Stable:
		add(g.syncBy)
	}
	for _, m := range g.members {
		if m.mayExpire() {
			add(m.deadline)
		}
	}
	for _, by := range g.pending {
		add(by)
	}
	return at
}
