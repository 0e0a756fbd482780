//go:build oracle

package batch

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestOracle sends every produce case to the real Kafka at SPATE_ORACLE
// (host:port), whose topics it makes anew, and writes down what it answered and
// stored:
//
//	SPATE_ORACLE=127.0.0.1:9092 go test -tags oracle -run Oracle ./engine/batch
func TestOracle(t *testing.T) {
	o := dialOracle(t)
	out := new(strings.Builder)
	fmt.Fprintln(out, "# Answers of Apache Kafka 4.3.1, written by TestOracle; do not edit.")
	fmt.Fprintln(out, "# case | error code | indices of record errors | what was stored | message")
	made := map[string]string{}
	for _, c := range produceCases {
		topic := made[c.topic]
		if topic == "" {
			topic = fmt.Sprintf("%s-%d", c.topic, time.Now().UnixNano())
			o.create(topic, casePolicies[c.topic].configs)
			made[c.topic] = topic
		}
		now := time.Now().UnixMilli()
		p := o.produce(topic, c, now)
		stored, indices := "-", "-"
		if p.ErrorCode == 0 {
			stored = describe(o.fetch(topic, p.BaseOffset), now)
		}
		for i, e := range p.ErrorRecords {
			if i == 0 {
				indices = ""
			}
			indices += fmt.Sprintf("%d ", e.RelativeOffset)
			if i == 0 && e.ErrorMessage != nil {
				t.Logf("%s: record error: %s", c.name, *e.ErrorMessage)
			}
		}
		msg := ""
		if p.ErrorMessage != nil {
			msg = strings.NewReplacer(topic, c.topic, "\n", " ").Replace(*p.ErrorMessage)
		}
		fmt.Fprintf(out, "%s | %d | %s | %s | %s\n", c.name, p.ErrorCode, strings.TrimSpace(indices), stored, msg)
	}
	if err := os.WriteFile("testdata/kafka-answers.txt", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

type oracle struct {
	t    *testing.T
	conn net.Conn
	id   int32
}

func dialOracle(t *testing.T) *oracle {
	conn, err := net.Dial("tcp", os.Getenv("SPATE_ORACLE"))
	if err != nil {
		t.Fatalf("SPATE_ORACLE must name a running Kafka: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return &oracle{t: t, conn: conn}
}

func (o *oracle) do(req kmsg.Request) kmsg.Response {
	o.id++
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID("oracle"))
	o.conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := o.conn.Write(f.AppendRequest(nil, req, o.id)); err != nil {
		o.t.Fatal(err)
	}
	var head [4]byte
	if _, err := io.ReadFull(o.conn, head[:]); err != nil {
		o.t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(o.conn, body); err != nil {
		o.t.Fatal(err)
	}
	body = body[4:]
	resp := req.ResponseKind()
	if resp.IsFlexible() {
		body = body[1:]
	}
	resp.SetVersion(req.GetVersion())
	if err := resp.ReadFrom(body); err != nil {
		o.t.Fatal(err)
	}
	return resp
}

func (o *oracle) create(topic string, configs map[string]string) {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 4, 10000
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, 1, 1
	for k, v := range configs {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = k, &v
		rt.Configs = append(rt.Configs, c)
	}
	req.Topics = append(req.Topics, rt)
	if r := o.do(req).(*kmsg.CreateTopicsResponse); r.Topics[0].ErrorCode != 0 {
		o.t.Fatalf("creating %s: %d %v", topic, r.Topics[0].ErrorCode, r.Topics[0].ErrorMessage)
	}
}

func (o *oracle) produce(topic string, c produceCase, now int64) kmsg.ProduceResponseTopicPartition {
	for range 100 {
		req := kmsg.NewPtrProduceRequest()
		req.Version, req.Acks, req.TimeoutMillis = c.version, -1, 10000
		if c.version == 0 {
			req.Version = 9
		}
		rt := kmsg.NewProduceRequestTopic()
		rt.Topic = topic
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Records = c.records(now)
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
		p := o.do(req).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		if p.ErrorCode != 3 && p.ErrorCode != 6 { // the topic is new
			return p
		}
		time.Sleep(100 * time.Millisecond)
	}
	o.t.Fatalf("%s does not come up", topic)
	panic("unreachable")
}

func (o *oracle) fetch(topic string, offset int64) Batch {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 11, 5000, 1, 1<<20
	req.SessionEpoch = -1
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.FetchOffset, rp.PartitionMaxBytes = offset, 1<<20
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	p := o.do(req).(*kmsg.FetchResponse).Topics[0].Partitions[0]
	b, _, err := Next(p.RecordBatches)
	if err != nil {
		o.t.Fatalf("fetching %s at %d: %d %v", topic, offset, p.ErrorCode, err)
	}
	return b
}
