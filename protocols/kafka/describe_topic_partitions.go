package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

func init() { register(75, 0, 0, serveDescribeTopicPartitions) }

// serveDescribeTopicPartitions describes topics page by page, in the order of
// their names. A page ends at a number of partitions, and tells where the next
// begins.
func serveDescribeTopicPartitions(r *request) {
	req := r.kreq.(*kmsg.DescribeTopicPartitionsRequest)
	names, ok := r.srv.describedNames(req)
	if !ok {
		refuseDescribe(r, req)
		return
	}
	resp := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	left := max(min(int(r.srv.config.Int("max.request.partition.size.limit")), int(req.ResponsePartitionLimit)), 1)
	for _, name := range names {
		if left == 0 {
			resp.NextCursor = cursor(name, 0)
			break
		}
		from := int32(0)
		if req.Cursor != nil && req.Cursor.Topic == name {
			from = req.Cursor.Partition
		}
		t, next := r.srv.describeTopic(name, from, left)
		left -= len(t.Partitions)
		resp.Topics = append(resp.Topics, t)
		if next >= 0 {
			resp.NextCursor = cursor(name, next)
			break
		}
	}
	r.reply(resp)
}

// describedNames are the names of the topics from the cursor on, sorted and each
// once. The cursor's topic must be among those asked for.
func (s *Server) describedNames(req *kmsg.DescribeTopicPartitionsRequest) (names []string, ok bool) {
	from := ""
	if req.Cursor != nil {
		if from = req.Cursor.Topic; req.Cursor.Partition < 0 {
			return nil, false
		}
	}
	if len(req.Topics) == 0 {
		for _, t := range s.engine.Catalog().Topics() {
			if t.Name >= from && t.Name != catalog.MetadataTopic {
				names = append(names, t.Name)
			}
		}
		return names, true
	}
	for _, t := range req.Topics {
		if t.Topic >= from {
			names = append(names, t.Topic)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, req.Cursor == nil || slices.Contains(names, from)
}

func refuseDescribe(r *request, req *kmsg.DescribeTopicPartitionsRequest) {
	resp := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	for _, t := range req.Topics {
		resp.Topics = append(resp.Topics, describeError(t.Topic, kerr.InvalidRequest.Code))
	}
	r.reply(resp)
}

func cursor(topic string, partition int32) *kmsg.DescribeTopicPartitionsResponseNextCursor {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = topic, partition
	return &c
}

func describeError(name string, code int16) kmsg.DescribeTopicPartitionsResponseTopic {
	d := kmsg.NewDescribeTopicPartitionsResponseTopic()
	d.Topic, d.ErrorCode = &name, code
	return d
}

// describeTopic describes up to limit partitions of a topic; next is the first
// that did not fit, -1 for none.
func (s *Server) describeTopic(name string, from int32, limit int) (d kmsg.DescribeTopicPartitionsResponseTopic, next int32) {
	t := s.engine.Catalog().Topic(name)
	if t == nil || name == catalog.MetadataTopic {
		code := kerr.UnknownTopicOrPartition.Code
		if catalog.ValidateTopicName(name) != nil {
			code = kerr.InvalidTopicException.Code
		}
		return describeError(name, code), -1
	}
	d = describeError(name, 0)
	d.TopicID, d.IsInternal, d.AuthorizedOperations = t.ID, t.Internal, topicOperations
	end := t.Partitions()
	if next = -1; int(end)-int(from) > limit {
		end = from + int32(limit)
		next = end
	}
	epoch := s.engine.Catalog().LeaderEpoch()
	for i := from; i < end; i++ {
		p := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		p.Partition, p.LeaderID, p.LeaderEpoch = i, s.config.NodeID, epoch
		p.Replicas, p.ISR = s.self, s.self
		p.EligibleLeaderReplicas, p.LastKnownELR = []int32{}, []int32{}
		d.Partitions = append(d.Partitions, p)
	}
	return d, next
}
