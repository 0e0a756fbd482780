package kafka

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine"
)

func init() { register(35, 1, 4, serveAdmin(answerDescribeLogDirs)) }

// answerDescribeLogDirs tells the directories of the data, their space, and how
// much of it the partitions asked for take: all of them if none are named.
func answerDescribeLogDirs(a admin, req *kmsg.DescribeLogDirsRequest, reply func(response)) {
	resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	wanted := wantedPartitions(req)
	for _, dir := range a.LogDirs() {
		d := kmsg.NewDescribeLogDirsResponseDir()
		d.Dir = dir.Path
		d.TotalBytes, d.UsableBytes = -1, -1
		d.ErrorCode, _ = adminError(dir.Err)
		if dir.Err == nil {
			d.TotalBytes, d.UsableBytes = dir.TotalBytes, dir.UsableBytes
			d.Topics = logDirTopics(dir, wanted)
		}
		resp.Dirs = append(resp.Dirs, d)
	}
	reply(resp)
}

// wantedPartitions is nil if all are wanted.
func wantedPartitions(req *kmsg.DescribeLogDirsRequest) map[string]map[int32]bool {
	if req.Topics == nil {
		return nil
	}
	wanted := make(map[string]map[int32]bool, len(req.Topics))
	for _, t := range req.Topics {
		if wanted[t.Topic] == nil {
			wanted[t.Topic] = make(map[int32]bool, len(t.Partitions))
		}
		for _, p := range t.Partitions {
			wanted[t.Topic][p] = true
		}
	}
	return wanted
}

func logDirTopics(dir engine.LogDir, wanted map[string]map[int32]bool) []kmsg.DescribeLogDirsResponseDirTopic {
	sizes := slices.Clone(dir.Partitions)
	slices.SortFunc(sizes, func(a, b engine.PartitionSize) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	var topics []kmsg.DescribeLogDirsResponseDirTopic
	for _, s := range sizes {
		if wanted != nil && !wanted[s.Topic][s.Partition] {
			continue
		}
		if len(topics) == 0 || topics[len(topics)-1].Topic != s.Topic {
			t := kmsg.NewDescribeLogDirsResponseDirTopic()
			t.Topic = s.Topic
			topics = append(topics, t)
		}
		p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		p.Partition, p.Size = s.Partition, s.Bytes
		t := &topics[len(topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	return topics
}
