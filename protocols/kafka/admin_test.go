package kafka

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/catalog"
)

func ask[R response](t *testing.T, a admin, req kmsg.Request) R {
	t.Helper()
	got := make(chan response, 1)
	answerAdmin(a, req, func(r response) { got <- r })
	select {
	case r := <-got:
		return r.(R)
	case <-time.After(10 * time.Second):
		t.Fatalf("no answer to %T", req)
		panic("unreachable")
	}
}

func createMany(t *testing.T, a admin, n int, version int16) *kmsg.CreateTopicsResponse {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = version
	for i := range n {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = fmt.Sprint("t", i), 8, 1
		req.Topics = append(req.Topics, topic)
	}
	return ask[*kmsg.CreateTopicsResponse](t, a, req)
}

func TestCreateManyTopics(t *testing.T) {
	a := newMemoryAdmin(t)
	resp := createMany(t, a, 1250, 7)
	for _, topic := range resp.Topics {
		if topic.ErrorCode != 0 || topic.NumPartitions != 8 || topic.TopicID == [16]byte{} {
			t.Fatalf("%+v", topic)
		}
		if made := a.Catalog().Topic(topic.Topic); made == nil || made.ID != topic.TopicID {
			t.Fatalf("%s: answered %x, made %+v", topic.Topic, topic.TopicID, made)
		}
	}
	if n := a.Catalog().Partitions(); n != 10_001 {
		t.Errorf("%d partitions", n)
	}
}

func TestTooManyTopicsInARequest(t *testing.T) {
	a := newMemoryAdmin(t)
	for _, topic := range createMany(t, a, maxTopicsPerRequest+1, 7).Topics {
		if topic.ErrorCode != kerr.PolicyViolation.Code {
			t.Fatalf("%+v", topic)
		}
	}
	if n := len(a.Catalog().Topics()); n != 1 {
		t.Errorf("%d topics", n)
	}
}

func TestDeleteTopicsByID(t *testing.T) {
	a := newMemoryAdmin(t)
	made := createMany(t, a, 3, 7).Topics
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version = 6
	for _, m := range []struct {
		name *string
		id   [16]byte
	}{{nil, made[0].TopicID}, {nil, made[1].TopicID}, {&made[1].Topic, [16]byte{}}, {&made[2].Topic, [16]byte{}}, {nil, made[2].TopicID}} {
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic, topic.TopicID = m.name, m.id
		req.Topics = append(req.Topics, topic)
	}
	resp := ask[*kmsg.DeleteTopicsResponse](t, a, req)
	if got := resp.Topics[0]; got.ErrorCode != 0 || *got.Topic != made[0].Topic || got.TopicID != made[0].TopicID {
		t.Errorf("%+v", got)
	}
	if a.Catalog().Topic(made[0].Topic) != nil {
		t.Error("the topic is still there")
	}
	for _, got := range resp.Topics[2:] {
		if got.ErrorCode != kerr.InvalidRequest.Code {
			t.Errorf("a topic by name and id: %+v", got)
		}
	}
}

func TestDeleteTopicsTurnedOff(t *testing.T) {
	a := newMemoryAdmin(t)
	createMany(t, a, 1, 7)
	a.catalog = catalogWith(t, a, map[string]string{"delete.topic.enable": "false"})
	for version, want := range map[int16]int16{1: kerr.InvalidRequest.Code, 2: kerr.InvalidRequest.Code, 3: kerr.TopicDeletionDisabled.Code, 5: kerr.TopicDeletionDisabled.Code} {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Version, req.TopicNames = version, []string{"t0"}
		if got := ask[*kmsg.DeleteTopicsResponse](t, a, req).Topics[0].ErrorCode; got != want {
			t.Errorf("version %d: code %d, want %d", version, got, want)
		}
	}
	if a.Catalog().Topic("t0") == nil {
		t.Error("the topic is gone")
	}
}

// catalogWith is the state of a with other static settings, as after a restart.
func catalogWith(t *testing.T, a *memoryAdmin, static map[string]string) *catalog.Catalog {
	c := catalog.New(catalog.Options{Static: static})
	for _, e := range a.catalog.Snapshot() {
		if err := c.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestDeleteRecordsOfFullPartitions(t *testing.T) {
	a := newMemoryAdmin(t)
	createMany(t, a, 1, 7)
	a.ends["t0"] = 10
	for offset, want := range map[int64]kmsg.DeleteRecordsResponseTopicPartition{
		-1: {LowWatermark: 10}, 0: {LowWatermark: 0}, 10: {LowWatermark: 10},
		11: {LowWatermark: -1, ErrorCode: kerr.OffsetOutOfRange.Code}, -2: {LowWatermark: -1, ErrorCode: kerr.OffsetOutOfRange.Code},
	} {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.Version = 2
		req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "t0", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Offset: offset}}}}
		got := ask[*kmsg.DeleteRecordsResponse](t, a, req).Topics[0].Partitions[0]
		if got.LowWatermark != want.LowWatermark || got.ErrorCode != want.ErrorCode {
			t.Errorf("offset %d: got %+v", offset, got)
		}
	}
}

func TestUnservedResourceTypes(t *testing.T) {
	a := newMemoryAdmin(t)
	for _, kind := range []kmsg.ConfigResourceType{0, 1, 3, kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeGroupConfig, 99} {
		describe := kmsg.NewPtrDescribeConfigsRequest()
		describe.Version = 4
		describe.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kind, ResourceName: "x"}}
		alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
		alter.Version = 1
		alter.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kind, ResourceName: "x"}}
		d := ask[*kmsg.DescribeConfigsResponse](t, a, describe).Resources[0]
		i := ask[*kmsg.IncrementalAlterConfigsResponse](t, a, alter).Resources[0]
		if d.ErrorCode != kerr.InvalidRequest.Code || i.ErrorCode != kerr.InvalidRequest.Code || d.ErrorMessage == nil || i.ErrorMessage == nil {
			t.Errorf("type %d: %+v, %+v", kind, d, i)
		}
	}
	logger := kmsg.NewPtrIncrementalAlterConfigsRequest()
	logger.Version = 1
	logger.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeBrokerLogger, ResourceName: "1",
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "root", Value: kmsg.StringPtr("INFO")}}}}
	if got := ask[*kmsg.IncrementalAlterConfigsResponse](t, a, logger).Resources[0]; got.ErrorCode != kerr.InvalidConfig.Code {
		t.Errorf("%+v", got)
	}
}

func TestAnswerOfDescribeConfigsIsBounded(t *testing.T) {
	a := newMemoryAdmin(t)
	createMany(t, a, 1, 7)
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Version = 4
	for range 15_000 {
		req.Resources = append(req.Resources, kmsg.DescribeConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "t0"})
	}
	resp := ask[*kmsg.DescribeConfigsResponse](t, a, req)
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
