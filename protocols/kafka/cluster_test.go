package kafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestDescribeCluster(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	for v := int16(0); v <= 2; v++ {
		r := kmsg.NewPtrDescribeClusterRequest()
		r.IncludeClusterAuthorizedOperations = true
		resp := c.ask(r, v).(*kmsg.DescribeClusterResponse)
		if resp.ErrorCode != 0 || len(resp.Brokers) != 1 || resp.Brokers[0].Port != 9092 || resp.ControllerID != 1 ||
			resp.ClusterID != b.engine.Catalog().ClusterID() || resp.ClusterAuthorizedOperations != 8096 {
			t.Errorf("version %d: %+v", v, resp)
		}
	}
	for kind, code := range map[int8]int16{2: 114, 9: 115} {
		r := kmsg.NewPtrDescribeClusterRequest()
		r.EndpointType = kind
		if resp := c.ask(r, 2).(*kmsg.DescribeClusterResponse); resp.ErrorCode != code || resp.ErrorMessage == nil || len(resp.Brokers) > 0 {
			t.Errorf("endpoint type %d: %+v", kind, resp)
		}
	}
}

// pages is an answer in short: topic, error and partitions, and the next cursor.
func pages(r *kmsg.DescribeTopicPartitionsResponse) string {
	var all []string
	for _, t := range r.Topics {
		s := fmt.Sprintf("%s:%d", *t.Topic, t.ErrorCode)
		for _, p := range t.Partitions {
			s += fmt.Sprint(" ", p.Partition)
		}
		all = append(all, s)
	}
	if c := r.NextCursor; c != nil {
		all = append(all, fmt.Sprintf("next %s %d", c.Topic, c.Partition))
	}
	return strings.Join(all, "; ")
}

func TestDescribeTopicPartitions(t *testing.T) {
	b := newBroker(t)
	b.topic("a", 2)
	b.topic("b", 2)
	c := b.connect()
	for _, q := range []struct {
		topics string
		limit  int32
		cursor string // topic and partition
		want   string
	}{
		{"", 2000, "", "a:0 0 1; b:0 0 1"},
		{"b a b", 2000, "", "a:0 0 1; b:0 0 1"},
		{"a b", 1, "", "a:0 0; next a 1"},
		{"a b", 1, "a 1", "a:0 1; next b 0"},
		{"a b", 2, "", "a:0 0 1; next b 0"},
		{"a b", 3, "", "a:0 0 1; b:0 0; next b 1"},
		{"a b", 0, "", "a:0 0; next a 1"},
		{"a b", -1, "", "a:0 0; next a 1"},
		{"a b", 10, "b 0", "b:0 0 1"},
		{"a b", 10, "a 9", "a:0; b:0 0 1"},
		{"a b", 10, "a -1", "a:42; b:42"},
		{"a b", 10, "aa 0", "a:42; b:42"},
		{"", 10, "aa 0", "b:0 0 1"},
		{"a none x!", 10, "", "a:0 0 1; none:3; x!:17"},
		{"__cluster_metadata", 10, "", "__cluster_metadata:3"},
	} {
		r := kmsg.NewPtrDescribeTopicPartitionsRequest()
		r.ResponsePartitionLimit = q.limit
		for _, name := range strings.Fields(q.topics) {
			rt := kmsg.NewDescribeTopicPartitionsRequestTopic()
			rt.Topic = name
			r.Topics = append(r.Topics, rt)
		}
		if q.cursor != "" {
			cur := kmsg.NewDescribeTopicPartitionsRequestCursor()
			fmt.Sscan(q.cursor, &cur.Topic, &cur.Partition)
			r.Cursor = &cur
		}
		if got := pages(c.ask(r, 0).(*kmsg.DescribeTopicPartitionsResponse)); got != q.want {
			t.Errorf("topics %q, limit %d, cursor %q: %q, want %q", q.topics, q.limit, q.cursor, got, q.want)
		}
	}
}

func TestInitProducerID(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	ask := func(version int16, txn *string, pid int64, epoch int16) *kmsg.InitProducerIDResponse {
		r := kmsg.NewPtrInitProducerIDRequest()
		r.TransactionalID, r.TransactionTimeoutMillis, r.ProducerID, r.ProducerEpoch = txn, 1000, pid, epoch
		return c.ask(r, version).(*kmsg.InitProducerIDResponse)
	}
	seen := map[int64]bool{}
	for v := int16(0); v <= 5; v++ {
		if resp := ask(v, nil, -1, -1); resp.ErrorCode != 0 || resp.ProducerID < 0 || resp.ProducerEpoch != 0 || seen[resp.ProducerID] {
			t.Errorf("version %d: %+v", v, resp)
		} else {
			seen[resp.ProducerID] = true
		}
	}
	if resp := ask(4, nil, 77, 3); resp.ErrorCode != 0 || resp.ProducerID == 77 || resp.ProducerEpoch != 0 {
		t.Errorf("with the id of before: %+v", resp)
	}
	for name, resp := range map[string]*kmsg.InitProducerIDResponse{
		"id without epoch":       ask(4, nil, 77, -1),
		"epoch without id":       ask(4, nil, -1, 5),
		"empty transactional id": ask(4, kmsg.StringPtr(""), -1, -1),
	} {
		if resp.ErrorCode != 42 || resp.ProducerID != -1 {
			t.Errorf("%s: %+v", name, resp)
		}
	}
	if resp := ask(4, kmsg.StringPtr("t"), -1, -1); resp.ErrorCode != 53 || resp.ProducerID != -1 {
		t.Errorf("transactional: %+v", resp)
	}
}
