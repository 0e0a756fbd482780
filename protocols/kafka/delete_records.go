package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

func init() { register(21, 0, 2, serveAdmin(answerDeleteRecords)) }

// answerDeleteRecords moves log starts. The answer leaves when all have become
// durable; a partition that is named twice takes the last offset.
func answerDeleteRecords(a admin, req *kmsg.DeleteRecordsRequest, reply func(response)) {
	resp := req.ResponseKind().(*kmsg.DeleteRecordsResponse)
	offsets := mergeDeletions(req, resp)
	g := newGather(func() { reply(resp) })
	for i := range resp.Topics {
		t := &resp.Topics[i]
		topic := a.Catalog().Topic(t.Topic)
		for j := range t.Partitions {
			p := &t.Partitions[j]
			p.LowWatermark = -1
			if p.ErrorCode = refuseDeletion(topic, p.Partition); p.ErrorCode != 0 {
				continue
			}
			g.begin()
			a.DeleteRecords(t.Topic, p.Partition, offsets[i][j], func(start int64, err error) {
				if p.ErrorCode, _ = adminError(err); err == nil {
					p.LowWatermark = start
				}
				g.end()
			})
		}
	}
	g.end()
}

// mergeDeletions fills in the topics and partitions of the answer, each once,
// and returns the offsets asked for in the same shape.
func mergeDeletions(req *kmsg.DeleteRecordsRequest, resp *kmsg.DeleteRecordsResponse) (offsets [][]int64) {
	topics := make(map[string]int)
	var partitions []map[int32]int
	for _, t := range req.Topics {
		if len(t.Partitions) == 0 {
			continue
		}
		i, known := topics[t.Topic]
		if !known {
			i = len(resp.Topics)
			topics[t.Topic] = i
			rt := kmsg.NewDeleteRecordsResponseTopic()
			rt.Topic = t.Topic
			resp.Topics = append(resp.Topics, rt)
			offsets = append(offsets, nil)
			partitions = append(partitions, make(map[int32]int))
		}
		for _, p := range t.Partitions {
			j, twice := partitions[i][p.Partition]
			if twice {
				offsets[i][j] = p.Offset
				continue
			}
			partitions[i][p.Partition] = len(offsets[i])
			rp := kmsg.NewDeleteRecordsResponseTopicPartition()
			rp.Partition = p.Partition
			resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, rp)
			offsets[i] = append(offsets[i], p.Offset)
		}
	}
	return offsets
}

// refuseDeletion is the code for partitions whose records cannot be deleted.
func refuseDeletion(t *catalog.Topic, partition int32) int16 {
	switch {
	case t == nil || partition < 0 || partition >= t.Partitions():
		return kerr.UnknownTopicOrPartition.Code
	case t.Internal:
		return kerr.InvalidTopicException.Code
	case t.Settings.CleanupCompact && !t.Settings.CleanupDelete:
		return kerr.PolicyViolation.Code
	}
	return 0
}
