package kafka

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/catalog"
)

func init() { register(2, 1, 11, serveListOffsets) }

// Timestamps with a meaning of their own, and the version that brought each.
const (
	latestOffset          = -1
	earliestOffset        = -2
	maxTimestampOffset    = -3 // 7
	earliestLocalOffset   = -4 // 8
	latestTieredOffset    = -5 // 9; there are no tiers here
	earliestPendingOffset = -6 // 11
)

// lowestTimestamp is the lowest timestamp that a version knows.
func lowestTimestamp(version int16) int64 {
	switch {
	case version >= 11:
		return earliestPendingOffset
	case version >= 9:
		return latestTieredOffset
	case version >= 8:
		return earliestLocalOffset
	case version >= 7:
		return maxTimestampOffset
	}
	return earliestOffset
}

// serveListOffsets answers when the look-ups that need the disk are done.
func serveListOffsets(r *request) {
	req := r.kreq.(*kmsg.ListOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
	resp.Topics = make([]kmsg.ListOffsetsResponseTopic, len(req.Topics))
	var left atomic.Int64
	left.Store(1)
	done := func() {
		if left.Add(-1) == 0 {
			r.reply(resp)
		}
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		resp.Topics[i] = kmsg.NewListOffsetsResponseTopic()
		resp.Topics[i].Topic = t.Topic
		wishes, twice := uniquePartitions(t.Partitions)
		answers := make([]kmsg.ListOffsetsResponseTopicPartition, len(wishes))
		resp.Topics[i].Partitions = answers
		for j, w := range wishes {
			answers[j] = kmsg.NewListOffsetsResponseTopicPartition()
			answers[j].Partition = w.Partition
			if twice[w.Partition] {
				answers[j].ErrorCode = kerr.InvalidRequest.Code
				continue
			}
			left.Add(1)
			r.srv.listOffset(req, t.Topic, w, &answers[j], done)
		}
	}
	done()
}

// uniquePartitions drops repetitions, and tells which partitions had them.
func uniquePartitions(all []kmsg.ListOffsetsRequestTopicPartition) (unique []kmsg.ListOffsetsRequestTopicPartition, twice map[int32]bool) {
	seen := make(map[int32]bool, len(all))
	for _, p := range all {
		if !seen[p.Partition] {
			seen[p.Partition] = true
			unique = append(unique, p)
			continue
		}
		if twice == nil {
			twice = make(map[int32]bool)
		}
		twice[p.Partition] = true
	}
	return unique, twice
}

// listOffset fills the answer for one partition and calls done, at once or later.
func (s *Server) listOffset(req *kmsg.ListOffsetsRequest, topic string, w kmsg.ListOffsetsRequestTopicPartition, a *kmsg.ListOffsetsResponseTopicPartition, done func()) {
	p := s.engine.Partition(topic, w.Partition)
	if p == nil || topic == catalog.MetadataTopic {
		a.ErrorCode = kerr.UnknownTopicOrPartition.Code
		done()
		return
	}
	if a.ErrorCode = epochCode(w.CurrentLeaderEpoch, p.LeaderEpoch()); a.ErrorCode != 0 {
		done()
		return
	}
	end := p.HighWatermark()
	if req.IsolationLevel == 1 {
		end = p.LastStable()
	}
	found := func(o engine.TimeOffset, err error) {
		a.ErrorCode = engineCode(err)
		if err == nil && o.Offset >= 0 && o.Offset < end {
			a.Offset, a.Timestamp, a.LeaderEpoch = o.Offset, o.Timestamp, o.LeaderEpoch
		}
		done()
	}
	switch ts := w.Timestamp; {
	case ts < lowestTimestamp(req.Version):
		a.ErrorCode = kerr.UnsupportedVersion.Code
		done()
	case ts >= 0:
		p.OffsetForTime(ts, found)
	case ts == maxTimestampOffset:
		p.OffsetForMaxTime(found)
	case ts == latestOffset:
		a.Offset, a.LeaderEpoch = end, p.LeaderEpoch()
		done()
	case ts == earliestOffset, ts == earliestLocalOffset:
		a.Offset, a.LeaderEpoch = p.LogStart(), p.LeaderEpoch()
		done()
	default:
		done()
	}
}
