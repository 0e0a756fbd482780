package oracle

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// warmUpGroup is a group that Ready uses and that scenarios do not see.
const warmUpGroup = "oracle-warm-up"

// setupTimeout is long enough for a broker that shares its processors with others.
const setupTimeout = 60 * time.Second

// ask sends one request of the runner's own on a connection of its own.
func (r *Runner) ask(req kmsg.Request) (kmsg.Response, error) {
	c, err := dial(r.Addr)
	if err != nil {
		return nil, err
	}
	defer c.c.Close()
	s := step{req: req, key: req.Key(), version: req.GetVersion(), as: req.GetVersion(), client: "oracle-setup"}
	if err := c.write(s.frame(1)); err != nil {
		return nil, err
	}
	frame, err := c.read(answerTimeout)
	if err != nil {
		return nil, err
	}
	return s.decode(1, frame)
}

// retry calls f until it gives nil, at most setupTimeout.
func retry(f func() error) error {
	deadline := time.Now().Add(setupTimeout)
	for {
		err := f()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Ready waits until the broker answers and its group coordinator works: the first use creates
// the topic of offsets.
func (r *Runner) Ready() error {
	return retry(func() error {
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.SetVersion(3)
		find.CoordinatorKey = warmUpGroup
		resp, err := r.ask(find)
		if err != nil {
			return err
		}
		if code := resp.(*kmsg.FindCoordinatorResponse).ErrorCode; code != 0 {
			return fmt.Errorf("coordinator of %s: error %s", warmUpGroup, errorName(code))
		}
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Group, beat.MemberID = warmUpGroup, "nobody"
		if resp, err = r.ask(beat); err != nil {
			return err
		}
		if code := resp.(*kmsg.HeartbeatResponse).ErrorCode; code != 25 {
			return fmt.Errorf("heartbeat of an unknown member: error %s", errorName(code))
		}
		return nil
	})
}

// topic is: topic NAME [CONFIG=VALUE ...] [partitions=N] [as=VAR].
func (x *run) topic(st *stmt) error {
	if len(st.args) == 0 {
		return errors.New("topic NAME expected")
	}
	t := kmsg.NewCreateTopicsRequestTopic()
	t.NumPartitions, t.ReplicationFactor = 1, 1
	name, err := x.scope.expand(st.args[0])
	if err != nil {
		return err
	}
	t.Topic = name
	as := "id"
	for _, a := range st.args[1:] {
		k, v, _ := strings.Cut(a, "=")
		if v, err = x.scope.expand(v); err != nil {
			return err
		}
		switch k {
		case "partitions":
			n, err := strconv.Atoi(v)
			if err != nil {
				return err
			}
			t.NumPartitions = int32(n)
		case "as":
			as = v
		default:
			t.Configs = append(t.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: k, Value: &v})
		}
	}
	id, err := x.create(t)
	x.scope.vars[as] = id
	x.norm.symbol("id", id)
	return err
}

func (x *run) create(t kmsg.CreateTopicsRequestTopic) (string, error) {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(7)
	req.TimeoutMillis = 30000
	req.Topics = append(req.Topics, t)
	resp, err := x.ask(req)
	if err != nil {
		return "", err
	}
	id, err := lookup(reflect.ValueOf(resp).Elem(), "Topics[0].TopicID")
	if code := resp.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode; code != 0 {
		return "", fmt.Errorf("create %s: %s", t.Topic, errorName(code))
	}
	if err != nil {
		return "", err
	}
	return id, retry(func() error { return x.led(t.Topic, t.NumPartitions) })
}

// led checks that every partition of a topic answers ListOffsets.
func (x *run) led(topic string, partitions int32) error {
	req := kmsg.NewPtrListOffsetsRequest()
	req.SetVersion(4)
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	for p := range partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = p, -1
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	resp, err := x.ask(req)
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return fmt.Errorf("%s-%d: %s", topic, p.Partition, errorName(p.ErrorCode))
			}
		}
	}
	return nil
}
