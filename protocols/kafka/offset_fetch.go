package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/groups"
)

func init() { register(9, 1, 10, serveOffsetFetch) }

var errUnknownTopicID = errors.New("topic id is not known")

// serveOffsetFetch gives committed offsets; a group or partition without has -1
// and no error. Version 2 can ask for all (null topics), 8 for several groups, 9
// names the member, 10 has topic ids.
func serveOffsetFetch(r *request) {
	req := r.kreq.(*kmsg.OffsetFetchRequest)
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	if r.version < 8 {
		r.fetchOneGroup(req, resp)
		r.reply(resp)
		return
	}
	for i := range req.Groups {
		g := &req.Groups[i]
		rg := kmsg.NewOffsetFetchResponseGroup()
		rg.Group = g.Group
		r.fetchGroup(g, &rg)
		resp.Groups = append(resp.Groups, rg)
	}
	r.reply(resp)
}

func (r *request) fetchOneGroup(req *kmsg.OffsetFetchRequest, resp *kmsg.OffsetFetchResponse) {
	var parts []groups.TopicPartition
	if req.Topics != nil {
		parts = []groups.TopicPartition{}
	}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			parts = append(parts, groups.TopicPartition{Topic: t.Topic, Partition: p})
		}
	}
	for _, c := range r.srv.engine.Groups().Fetch(req.Group, parts) {
		n := len(resp.Topics)
		if n == 0 || resp.Topics[n-1].Topic != c.Topic {
			t := kmsg.NewOffsetFetchResponseTopic()
			t.Topic = c.Topic
			resp.Topics = append(resp.Topics, t)
			n++
		}
		p := kmsg.NewOffsetFetchResponseTopicPartition()
		meta := c.Metadata
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = c.Partition, c.Offset.Offset, c.LeaderEpoch, &meta
		resp.Topics[n-1].Partitions = append(resp.Topics[n-1].Partitions, p)
	}
}

func (r *request) fetchGroup(g *kmsg.OffsetFetchRequestGroup, rg *kmsg.OffsetFetchResponseGroup) {
	var parts []groups.TopicPartition
	if g.Topics != nil {
		parts = []groups.TopicPartition{}
	}
	cat := r.srv.engine.Catalog()
	for _, t := range g.Topics {
		name := t.Topic
		if r.version >= 10 {
			known := cat.TopicByID(catalog.TopicID(t.TopicID))
			if known == nil {
				rg.Topics = append(rg.Topics, unknownTopic(t))
				continue
			}
			name = known.Name
		}
		for _, p := range t.Partitions {
			parts = append(parts, groups.TopicPartition{Topic: name, Partition: p})
		}
	}
	for _, c := range r.srv.engine.Groups().Fetch(g.Group, parts) {
		n := len(rg.Topics)
		if n == 0 || rg.Topics[n-1].Topic != c.Topic {
			t := kmsg.NewOffsetFetchResponseGroupTopic()
			t.Topic = c.Topic
			if known := cat.Topic(c.Topic); known != nil {
				t.TopicID = known.ID
			} else if r.version >= 10 {
				continue // a topic that is gone has no id to be named by
			}
			rg.Topics = append(rg.Topics, t)
			n++
		}
		p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		meta := c.Metadata
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = c.Partition, c.Offset.Offset, c.LeaderEpoch, &meta
		rg.Topics[n-1].Partitions = append(rg.Topics[n-1].Partitions, p)
	}
}

func unknownTopic(t kmsg.OffsetFetchRequestGroupTopic) kmsg.OffsetFetchResponseGroupTopic {
	rt := kmsg.NewOffsetFetchResponseGroupTopic()
	rt.Topic, rt.TopicID = t.Topic, t.TopicID
	for _, p := range t.Partitions {
		rp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		empty := ""
		rp.Partition, rp.Offset, rp.LeaderEpoch, rp.Metadata = p, -1, -1, &empty
		rp.ErrorCode = kerr.UnknownTopicID.Code
		rt.Partitions = append(rt.Partitions, rp)
	}
	return rt
}
