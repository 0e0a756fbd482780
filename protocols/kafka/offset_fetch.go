package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/groups"
)

// OffsetFetch (KIP-9): committed offsets. A group, topic or partition without any has
// offset -1 and no error: clients that start count on it.
//
//	v2   all of a group's offsets (null topics)
//	v5   leader epoch (KIP-320)
//	v7   require stable (KIP-447): only transactions make offsets unstable
//	v8   several groups (KIP-709)
//	v9   member and epoch, which only groups of the new protocol check (KIP-848)
//	v10  topic ids instead of names (KIP-848)
func init() { register(9, 1, 10, serveOffsetFetch) }

var errUnknownTopicID = errors.New("topic id is not known")

func serveOffsetFetch(r *request) {
	req := r.kreq.(*kmsg.OffsetFetchRequest)
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	if r.version < 8 {
		r.fetchOneGroup(req, resp)
		r.reply(resp)
		return
	}
	for i := range req.Groups {
		resp.Groups = append(resp.Groups, r.fetchGroup(&req.Groups[i]))
	}
	r.reply(resp)
}

// fetchOneGroup answers versions 1 to 7, in the shape of the later ones.
func (r *request) fetchOneGroup(req *kmsg.OffsetFetchRequest, resp *kmsg.OffsetFetchResponse) {
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = req.Group
	if req.Topics != nil {
		g.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
	}
	for _, t := range req.Topics {
		g.Topics = append(g.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions})
	}
	for _, t := range r.fetchGroup(&g).Topics {
		rt := kmsg.NewOffsetFetchResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetFetchResponseTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
}

func (r *request) fetchGroup(g *kmsg.OffsetFetchRequestGroup) kmsg.OffsetFetchResponseGroup {
	rg := kmsg.NewOffsetFetchResponseGroup()
	rg.Group = g.Group
	if g.Topics == nil {
		rg.Topics = r.fetchAll(g.Group)
		return rg
	}
	var unknown []kmsg.OffsetFetchResponseGroupTopic
	for _, t := range g.Topics {
		name := t.Topic
		if r.version >= 10 {
			known := r.srv.engine.Catalog().TopicByID(catalog.TopicID(t.TopicID))
			if known == nil {
				unknown = append(unknown, unknownTopic(t))
				continue
			}
			name = known.Name
		}
		parts := make([]groups.TopicPartition, len(t.Partitions))
		for i, p := range t.Partitions {
			parts[i] = groups.TopicPartition{Topic: name, Partition: p}
		}
		rt := kmsg.NewOffsetFetchResponseGroupTopic()
		rt.Topic, rt.TopicID = name, t.TopicID
		for _, c := range r.srv.engine.Groups().Fetch(g.Group, parts) {
			rt.Partitions = append(rt.Partitions, committedOffset(c))
		}
		rg.Topics = append(rg.Topics, rt)
	}
	rg.Topics = append(rg.Topics, unknown...)
	return rg
}

// fetchAll gives all offsets of a group, which come sorted by topic.
func (r *request) fetchAll(group string) []kmsg.OffsetFetchResponseGroupTopic {
	var out []kmsg.OffsetFetchResponseGroupTopic
	for _, c := range r.srv.engine.Groups().Fetch(group, nil) {
		n := len(out)
		if n == 0 || out[n-1].Topic != c.Topic {
			t := kmsg.NewOffsetFetchResponseGroupTopic()
			t.Topic = c.Topic
			if known := r.srv.engine.Catalog().Topic(c.Topic); known != nil {
				t.TopicID = known.ID
			} else if r.version >= 10 {
				continue // a topic that is gone has no id to be named by
			}
			out = append(out, t)
			n++
		}
		out[n-1].Partitions = append(out[n-1].Partitions, committedOffset(c))
	}
	return out
}

func committedOffset(c groups.Committed) kmsg.OffsetFetchResponseGroupTopicPartition {
	p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = c.Partition, c.Offset.Offset, c.LeaderEpoch, &c.Metadata
	return p
}

func unknownTopic(t kmsg.OffsetFetchRequestGroupTopic) kmsg.OffsetFetchResponseGroupTopic {
	rt := kmsg.NewOffsetFetchResponseGroupTopic()
	rt.Topic, rt.TopicID = t.Topic, t.TopicID
	for _, p := range t.Partitions {
		none := groups.Committed{TopicPartition: groups.TopicPartition{Partition: p}, Offset: groups.NoOffset}
		rp := committedOffset(none)
		rp.ErrorCode = commitCode(errUnknownTopicID, nil, 10)
		rt.Partitions = append(rt.Partitions, rp)
	}
	return rt
}
