package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/groups"
)

// OffsetCommit (KIP-9): stores a group's offsets.
//
//	v2–4  retention time of the client's own (dropped by KIP-211)
//	v6    leader epoch (KIP-320)
//	v7    static members (KIP-345)
//	v9    a group that does not exist is GROUP_ID_NOT_FOUND (KIP-848)
//	v10   topic ids instead of names (KIP-848)
func init() { register(8, 2, 10, serveOffsetCommit) }

// serveOffsetCommit answers when the offsets are durable.
func serveOffsetCommit(r *request) {
	req := r.kreq.(*kmsg.OffsetCommitRequest)
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	q := &groups.CommitRequest{Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID, Generation: req.Generation}
	for i := range req.Topics {
		if len(req.Topics[i].Partitions) > 0 {
			r.commitTopic(&req.Topics[i], q, resp)
		}
	}
	if len(q.Offsets) == 0 {
		r.reply(resp)
		return
	}
	r.srv.engine.Groups().Commit(q, func(err error) {
		i := 0
		for t := range resp.Topics {
			for p := range resp.Topics[t].Partitions {
				resp.Topics[t].Partitions[p].ErrorCode = commitCode(q.Offsets[i].Err, err, r.version)
				i++
			}
		}
		r.reply(resp)
	})
}

// commitTopic adds a topic's partitions to the coordinator's request and, in the
// same order, to the answer.
func (r *request) commitTopic(t *kmsg.OffsetCommitRequestTopic, q *groups.CommitRequest, resp *kmsg.OffsetCommitResponse) {
	retention := int64(-1)
	if r.version <= 4 {
		retention = r.kreq.(*kmsg.OffsetCommitRequest).RetentionTimeMillis
	}
	name, err := t.Topic, error(nil)
	if r.version >= 10 {
		if known := r.srv.engine.Catalog().TopicByID(catalog.TopicID(t.TopicID)); known != nil {
			name = known.Name
		} else {
			err = errUnknownTopicID
		}
	}
	rt := kmsg.NewOffsetCommitResponseTopic()
	rt.Topic, rt.TopicID = t.Topic, t.TopicID
	for i := range t.Partitions {
		p := &t.Partitions[i]
		c := groups.Commit{TopicPartition: groups.TopicPartition{Topic: name, Partition: p.Partition},
			Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, RetentionMs: retention, Err: err}
		if r.version < 6 {
			c.LeaderEpoch = -1
		}
		if p.Metadata != nil {
			c.Metadata = *p.Metadata
		}
		q.Offsets = append(q.Offsets, c)
		rp := kmsg.NewOffsetCommitResponseTopicPartition()
		rp.Partition = p.Partition
		rt.Partitions = append(rt.Partitions, rp)
	}
	resp.Topics = append(resp.Topics, rt)
}

// commitCode is the code of one partition: its own error before the request's.
func commitCode(own, all error, version int16) int16 {
	switch {
	case own == errUnknownTopicID:
		return kerr.UnknownTopicID.Code
	case own != nil:
		return groupCode(own)
	case version < 9 && errors.Is(all, groups.ErrGroupNotFound):
		return kerr.IllegalGeneration.Code
	}
	return groupCode(all)
}
