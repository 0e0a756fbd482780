package kafka

import (
	"errors"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/catalog"
)

func createMany(c *client, n int) *kmsg.CreateTopicsResponse {
	req := kmsg.NewPtrCreateTopicsRequest()
	for i := range n {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = fmt.Sprint("t", i), 8, 1
		req.Topics = append(req.Topics, topic)
	}
	return c.ask(req, 7).(*kmsg.CreateTopicsResponse)
}

func TestCreateManyTopics(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	resp := createMany(c, 1250)
	for _, topic := range resp.Topics {
		if topic.ErrorCode != 0 || topic.NumPartitions != 8 || topic.TopicID == [16]byte{} {
			t.Fatalf("%+v", topic)
		}
		if made := b.engine.Catalog().Topic(topic.Topic); made == nil || made.ID != topic.TopicID {
			t.Fatalf("%s: answered %x, made %+v", topic.Topic, topic.TopicID, made)
		}
	}
	if n := b.engine.Catalog().Partitions(); n != 10_001 {
		t.Errorf("%d partitions", n)
	}
}

func TestTooManyTopicsInARequest(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	for _, topic := range createMany(c, maxTopicsPerRequest+1).Topics {
		if topic.ErrorCode != kerr.PolicyViolation.Code {
			t.Fatalf("%+v", topic)
		}
	}
	if n := len(b.engine.Catalog().Topics()); n != 1 {
		t.Errorf("%d topics", n)
	}
}

func TestDeleteTopicsByID(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	made := createMany(c, 3).Topics
	req := kmsg.NewPtrDeleteTopicsRequest()
	for _, m := range []struct {
		name *string
		id   [16]byte
	}{{nil, made[0].TopicID}, {nil, made[1].TopicID}, {&made[1].Topic, [16]byte{}}, {&made[2].Topic, [16]byte{}}, {nil, made[2].TopicID}} {
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic, topic.TopicID = m.name, m.id
		req.Topics = append(req.Topics, topic)
	}
	resp := c.ask(req, 6).(*kmsg.DeleteTopicsResponse)
	if got := resp.Topics[0]; got.ErrorCode != 0 || *got.Topic != made[0].Topic || got.TopicID != made[0].TopicID {
		t.Errorf("%+v", got)
	}
	if b.engine.Catalog().Topic(made[0].Topic) != nil {
		t.Error("the topic is still there")
	}
	for _, got := range resp.Topics[2:] {
		if got.ErrorCode != kerr.InvalidRequest.Code {
			t.Errorf("a topic by name and id: %+v", got)
		}
	}
}

func TestDeleteTopicsTurnedOff(t *testing.T) {
	b := newBroker(t, "delete.topic.enable=false")
	b.topic("t0", 1)
	c := b.connect()
	for version, want := range map[int16]int16{1: kerr.InvalidRequest.Code, 2: kerr.InvalidRequest.Code, 3: kerr.TopicDeletionDisabled.Code, 5: kerr.TopicDeletionDisabled.Code} {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TopicNames = []string{"t0"}
		if got := c.ask(req, version).(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode; got != want {
			t.Errorf("version %d: code %d, want %d", version, got, want)
		}
	}
	if b.engine.Catalog().Topic("t0") == nil {
		t.Error("the topic is gone")
	}
}

// TestDeleteRecordsOfFullPartitions follows one partition of three records.
func TestDeleteRecordsOfFullPartitions(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	if p := c.produceTo(b.topic("t0", 1), 0, makeBatch("a", "b", "c")); p.ErrorCode != 0 {
		t.Fatalf("%+v", p)
	}
	for _, step := range []struct {
		offset, low int64
		code        int16
	}{
		{4, -1, kerr.OffsetOutOfRange.Code}, {-2, -1, kerr.OffsetOutOfRange.Code},
		{0, 0, 0}, {2, 2, 0}, {1, 2, 0}, {-1, 3, 0}, {3, 3, 0},
	} {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "t0", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: step.offset}}}}
		got := c.ask(req, 2).(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]
		if got.LowWatermark != step.low || got.ErrorCode != step.code {
			t.Errorf("offset %d: got %+v", step.offset, got)
		}
	}
}

func TestUnservedResourceTypes(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	for _, kind := range []kmsg.ConfigResourceType{0, 1, 3, kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeGroupConfig, 99} {
		describe := kmsg.NewPtrDescribeConfigsRequest()
		describe.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kind, ResourceName: "x"}}
		alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
		alter.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kind, ResourceName: "x"}}
		d := c.ask(describe, 4).(*kmsg.DescribeConfigsResponse).Resources[0]
		i := c.ask(alter, 1).(*kmsg.IncrementalAlterConfigsResponse).Resources[0]
		if d.ErrorCode != kerr.InvalidRequest.Code || i.ErrorCode != kerr.InvalidRequest.Code || d.ErrorMessage == nil || i.ErrorMessage == nil {
			t.Errorf("type %d: %+v, %+v", kind, d, i)
		}
	}
	logger := kmsg.NewPtrIncrementalAlterConfigsRequest()
	logger.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeBrokerLogger, ResourceName: "1",
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "root", Value: kmsg.StringPtr("INFO")}}}}
	if got := c.ask(logger, 1).(*kmsg.IncrementalAlterConfigsResponse).Resources[0]; got.ErrorCode != kerr.InvalidConfig.Code {
		t.Errorf("%+v", got)
	}
}

func TestAnswerOfDescribeConfigsIsBounded(t *testing.T) {
	b := newBroker(t)
	c := b.connect()
	createMany(c, 1)
	req := kmsg.NewPtrDescribeConfigsRequest()
	for range 15_000 {
		req.Resources = append(req.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "t0"})
	}
	resp := c.ask(req, 4).(*kmsg.DescribeConfigsResponse)
	told := 0
	for _, r := range resp.Resources {
		told += len(r.Configs)
	}
	if last := resp.Resources[len(resp.Resources)-1]; told > maxDescribedSettings+100 || last.ErrorCode != kerr.InvalidRequest.Code {
		t.Errorf("told %d settings, last %+v", told, last)
	}
}

func TestAdminErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int16
	}{
		{nil, 0},
		{fmt.Errorf("volume: %w", engine.ErrDiskFull), kerr.KafkaStorageError.Code},
		{engine.ErrShutdown, kerr.NotController.Code},
		{&catalog.Error{Kind: catalog.TooManyPartitions, Message: "m"}, kerr.PolicyViolation.Code},
		{errors.New("odd"), kerr.UnknownServerError.Code},
	} {
		code, message := adminError(c.err)
		if code != c.code || (message == nil) != (c.err == nil) {
			t.Errorf("%v: code %d, message %v", c.err, code, message)
		}
	}
	for kind := catalog.InvalidTopicName; kind <= catalog.TooManyPartitions; kind++ {
		if catalogCodes[kind] == 0 {
			t.Errorf("kind %d has no code", kind)
		}
	}
}
