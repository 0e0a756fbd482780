package groups

import (
	"sort"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// CommitRequest stores offsets of a group (OffsetCommit).
type CommitRequest struct {
	Group      string
	MemberID   string
	InstanceID *string
	Generation int32 // -1: the client is no member
	Offsets    []Commit
}

// Commit is one offset to be stored.
type Commit struct {
	TopicPartition
	Offset      int64
	LeaderEpoch int32
	Metadata    string
	RetentionMs int64 // -1: the broker's
	Err         error // set by the coordinator
}

// mayCommit checks that the client may commit now.
func (s *step) mayCommit(g *group, q *CommitRequest) error {
	if q.Generation < 0 && (g == nil || g.state == Empty) {
		return nil // a tool, or a consumer with partitions of its own choice
	}
	if g == nil {
		return ErrGroupNotFound
	}
	m, err := g.find(q.MemberID, q.InstanceID)
	if err != nil {
		return err
	}
	if q.Generation != g.gen {
		return ErrIllegalGeneration
	}
	if g.state == Completing {
		return ErrRebalancing
	}
	m.deadline = s.now + m.sessionMs
	return nil
}

// Committed is a committed offset, or none (Offset -1).
type Committed struct {
	TopicPartition
	Offset
}

// subscribed are the topics that the members of a consumer group subscribe to;
// known is false if that cannot be told.
func (g *group) subscribed() (topics map[string]bool, known bool) {
	if g.protoType != "consumer" {
		return nil, false
	}
	topics = map[string]bool{}
	for _, m := range g.members {
		var meta kmsg.ConsumerMemberMetadata
		if len(m.protocols) == 0 || meta.ReadFrom(m.metadata(g.protocol)) != nil && meta.ReadFrom(m.protocols[0].Metadata) != nil {
			return nil, false
		}
		for _, t := range meta.Topics {
			topics[t] = true
		}
	}
	return topics, true
}

// expired lists offsets whose retention is over: counted from when the group
// lost its last member, or from the commit for topics that a live group does not
// subscribe to and for groups that never had members (KIP-211).
func (g *group) expired(now, retentionMs int64) []TopicPartition {
	var topics map[string]bool
	known := true
	if len(g.members) > 0 {
		if topics, known = g.subscribed(); !known || g.state != Stable {
			return nil
		}
	}
	var out []TopicPartition
	for tp, o := range g.offsets {
		if topics[tp.Topic] {
			continue
		}
		from := o.CommitMs
		if len(g.members) == 0 && g.protoType != "" {
			from = max(from, g.sinceMs)
		}
		if o.ExpireMs >= 0 && now >= o.ExpireMs || o.ExpireMs < 0 && now-from >= retentionMs {
			out = append(out, tp)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].less(out[j]) })
	return out
}
