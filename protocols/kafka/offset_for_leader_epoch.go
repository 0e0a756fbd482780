package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

func init() { register(23, 2, 4, serveOffsetForLeaderEpoch) }

// serveOffsetForLeaderEpoch tells where leader epochs end, by which a consumer
// sees whether records it has read have been cut off.
func serveOffsetForLeaderEpoch(r *request) {
	req := r.kreq.(*kmsg.OffsetForLeaderEpochRequest)
	resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetForLeaderEpochResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rt.Partitions = append(rt.Partitions, r.srv.epochEnd(t.Topic, p))
		}
		resp.Topics = append(resp.Topics, rt)
	}
	r.reply(resp)
}

func (s *Server) epochEnd(topic string, q kmsg.OffsetForLeaderEpochRequestTopicPartition) kmsg.OffsetForLeaderEpochResponseTopicPartition {
	a := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
	a.Partition = q.Partition
	p := s.engine.Partition(topic, q.Partition)
	if p == nil || topic == catalog.MetadataTopic {
		a.ErrorCode = kerr.UnknownTopicOrPartition.Code
		return a
	}
	if a.ErrorCode = epochCode(q.CurrentLeaderEpoch, p.LeaderEpoch()); a.ErrorCode == 0 && q.LeaderEpoch >= 0 {
		a.LeaderEpoch, a.EndOffset = p.EpochEnd(q.LeaderEpoch)
	}
	return a
}
