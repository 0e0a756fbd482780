package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/groups"
)

func init() { register(47, 0, 0, serveOffsetDelete) }

// serveOffsetDelete deletes committed offsets (KIP-496).
func serveOffsetDelete(r *request) {
	req := r.kreq.(*kmsg.OffsetDeleteRequest)
	resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	var parts []groups.TopicPartition
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			parts = append(parts, groups.TopicPartition{Topic: t.Topic, Partition: p.Partition})
		}
	}
	r.srv.engine.Groups().DeleteOffsets(req.Group, parts, func(errs []error, err error) {
		resp.ErrorCode = groupCode(err)
		i := 0
		for _, t := range req.Topics {
			if err != nil {
				break
			}
			rt := kmsg.NewOffsetDeleteResponseTopic()
			rt.Topic = t.Topic
			for _, p := range t.Partitions {
				rp := kmsg.NewOffsetDeleteResponseTopicPartition()
				rp.Partition = p.Partition
				if rp.ErrorCode = groupCode(errs[i]); r.srv.engine.Partition(t.Topic, p.Partition) == nil {
					rp.ErrorCode = groupCode(groups.ErrUnknownPartition)
				}
				i++
				rt.Partitions = append(rt.Partitions, rp)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		r.reply(resp)
	})
}
