package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/groups"
)

func init() { register(8, 2, 10, serveOffsetCommit) }

// serveOffsetCommit stores a group's offsets and answers when they are durable.
// Versions 2 to 4 bring a retention time, 6 the leader epoch, 7 static members, 10
// topic ids instead of names.
func serveOffsetCommit(r *request) {
	req := r.kreq.(*kmsg.OffsetCommitRequest)
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	q := &groups.CommitRequest{Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID, Generation: req.Generation}
	retention := int64(-1)
	if r.version <= 4 {
		retention = req.RetentionTimeMillis
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		name := t.Topic
		unknownID := false
		if r.version >= 10 {
			if known := r.srv.engine.Catalog().TopicByID(catalog.TopicID(t.TopicID)); known != nil {
				name = known.Name
			} else {
				unknownID = true
			}
		}
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for j := range t.Partitions {
			p := &t.Partitions[j]
			c := groups.Commit{TopicPartition: groups.TopicPartition{Topic: name, Partition: p.Partition},
				Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, RetentionMs: retention}
			if r.version < 6 {
				c.LeaderEpoch = -1
			}
			if p.Metadata != nil {
				c.Metadata = *p.Metadata
			}
			if unknownID {
				c.Err = errUnknownTopicID
			}
			q.Offsets = append(q.Offsets, c)
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition = p.Partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	r.srv.engine.Groups().Commit(q, func(err error) {
		i := 0
		for t := range resp.Topics {
			for p := range resp.Topics[t].Partitions {
				resp.Topics[t].Partitions[p].ErrorCode = commitCode(q.Offsets[i].Err, err)
				i++
			}
		}
		r.reply(resp)
	})
}

// commitCode is the code of one partition: its own error before the request's.
func commitCode(own, all error) int16 {
	if own == errUnknownTopicID {
		return kerr.UnknownTopicID.Code
	}
	if own != nil {
		return groupCode(own)
	}
	return groupCode(all)
}
