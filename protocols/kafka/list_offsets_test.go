package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
)

func listOffsetsReq(topic string, epoch int32, timestamps ...int64) *kmsg.ListOffsetsRequest {
	r := kmsg.NewPtrListOffsetsRequest()
	r.ReplicaID = -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	for i, ts := range timestamps {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp, p.CurrentLeaderEpoch = int32(i), ts, epoch
		rt.Partitions = append(rt.Partitions, p)
	}
	r.Topics = append(r.Topics, rt)
	return r
}

// timed is a batch of records with the given timestamps.
func timed(timestamps ...int64) batch.Batch {
	b := batch.NewBuilder(batch.NewOptions())
	for _, ts := range timestamps {
		b.Append(ts, nil, []byte("v"))
	}
	return append(batch.Batch(nil), b.Finish()...)
}

func TestListOffsets(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 1)
	c := b.connect()
	c.produceTo(topic, 0, timed(100, 300, 200))
	c.produceTo(topic, 0, timed(50, 400, 400))
	const unsupported = 35
	for _, q := range []struct {
		timestamp  int64
		since      int16 // version that knows it
		offset, ts int64
		epoch      int32
	}{
		{latestOffset, 1, 6, -1, 0},
		{earliestOffset, 1, 0, -1, 0},
		{maxTimestampOffset, 7, 4, 400, 0},
		{earliestLocalOffset, 8, 0, -1, 0},
		{latestTieredOffset, 9, -1, -1, -1},
		{earliestPendingOffset, 11, -1, -1, -1},
		{-7, 99, 0, 0, 0},
		{0, 1, 0, 100, 0},
		{101, 1, 1, 300, 0},
		{250, 1, 1, 300, 0},
		{301, 1, 4, 400, 0},
		{400, 1, 4, 400, 0},
		{401, 1, -1, -1, -1},
	} {
		for v := int16(1); v <= 11; v++ {
			for _, isolation := range []int8{0, 1} {
				r := listOffsetsReq("t", -1, q.timestamp)
				r.IsolationLevel = isolation
				p := c.ask(r, v).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
				if v < q.since {
					if p.ErrorCode != unsupported || p.Offset != -1 {
						t.Errorf("version %d timestamp %d: %+v, want UNSUPPORTED_VERSION", v, q.timestamp, p)
					}
					continue
				}
				if p.ErrorCode != 0 || p.Offset != q.offset || p.Timestamp != q.ts || v >= 4 && p.LeaderEpoch != q.epoch {
					t.Errorf("version %d timestamp %d: %+v, want offset %d with %d, epoch %d", v, q.timestamp, p, q.offset, q.ts, q.epoch)
				}
			}
		}
	}
}

func TestListOffsetsErrors(t *testing.T) {
	b := newBroker(t)
	b.topic("t", 1)
	c := b.connect()
	twice := listOffsetsReq("t", -1, latestOffset, latestOffset)
	twice.Topics[0].Partitions[1].Partition = 0
	for name, q := range map[string]struct {
		req  *kmsg.ListOffsetsRequest
		code int16
	}{
		"unknown topic":         {listOffsetsReq("none", -1, latestOffset), 3},
		"metadata":              {listOffsetsReq(catalog.MetadataTopic, -1, latestOffset), 3},
		"later epoch":           {listOffsetsReq("t", 5, latestOffset), 75},
		"partition named twice": {twice, 42},
		"empty":                 {listOffsetsReq("t", 0, maxTimestampOffset), 0},
	} {
		parts := c.ask(q.req, 7).(*kmsg.ListOffsetsResponse).Topics[0].Partitions
		if len(parts) != 1 || parts[0].ErrorCode != q.code || parts[0].Offset != -1 {
			t.Errorf("%s: %+v, want code %d", name, parts, q.code)
		}
	}
}

func TestOffsetForLeaderEpoch(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("t", 2)
	c := b.connect()
	c.produceTo(topic, 0, makeBatch("a", "b"))
	for _, q := range []struct {
		topic                    string
		partition, current, asks int32
		code                     int16
		epoch                    int32
		end                      int64
	}{
		{"t", 0, -1, 0, 0, 0, 2},
		{"t", 0, 0, 0, 0, 0, 2},
		{"t", 1, -1, 0, 0, 0, 0},
		{"t", 0, -1, 9, 0, -1, -1},
		{"t", 0, -1, -1, 0, -1, -1},
		{"t", 0, 9, 0, 75, -1, -1},
		{"t", 7, -1, 0, 3, -1, -1},
		{"none", 0, 9, 0, 3, -1, -1},
	} {
		for v := int16(2); v <= 4; v++ {
			r := kmsg.NewPtrOffsetForLeaderEpochRequest()
			rt := kmsg.NewOffsetForLeaderEpochRequestTopic()
			rt.Topic = q.topic
			p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			p.Partition, p.CurrentLeaderEpoch, p.LeaderEpoch = q.partition, q.current, q.asks
			rt.Partitions = append(rt.Partitions, p)
			r.Topics = append(r.Topics, rt)
			got := c.ask(r, v).(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0]
			if got.ErrorCode != q.code || got.LeaderEpoch != q.epoch || got.EndOffset != q.end {
				t.Errorf("version %d %+v: %+v", v, q, got)
			}
		}
	}
}
