//go:build interop

package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func admin(t *testing.T) (context.Context, *kadm.Client) {
	t.Helper()
	adm, err := kadm.NewOptClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(func() { cancel(); adm.Close() })
	return ctx, adm
}

// brokerID is the id of the only broker.
func brokerID(t *testing.T) string {
	t.Helper()
	ctx, adm := admin(t)
	brokers, err := adm.ListBrokers(ctx)
	if err != nil || len(brokers) != 1 {
		t.Fatalf("brokers: %v, %v", brokers, err)
	}
	return fmt.Sprint(brokers[0].NodeID)
}

// serves tells whether the broker advertises an API.
func serves(t *testing.T, key int16) bool {
	t.Helper()
	ctx, adm := admin(t)
	versions, err := adm.ApiVersions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		if v.Err != nil {
			t.Fatal(v.Err)
		}
		_, ok := v.KeyMaxVersion(key)
		return ok
	}
	t.Fatal("no broker")
	return false
}

func TestKafkaConsoleClients(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 1)
	kafkaWith(t, "k1:v1\nk2:v2\n", "kafka-console-producer", "--topic", topic,
		"--reader-property", "parse.key=true", "--reader-property", "key.separator=:").ok()
	kafkaWith(t, "h1=a\tlast\n", "kafka-console-producer", "--topic", topic, "--compression-codec", "zstd",
		"--reader-property", "parse.headers=true", "--reader-property", "headers.key.separator==").ok()
	got := kafka(t, "kafka-console-consumer", "--topic", topic, "--from-beginning", "--max-messages", "3",
		"--formatter-property", "print.key=true", "--formatter-property", "print.offset=true",
		"--formatter-property", "print.partition=true", "--formatter-property", "print.headers=true").ok()
	equal(t, "records", got, "Partition:0\tOffset:0\tNO_HEADERS\tk1\tv1\nPartition:0\tOffset:1\tNO_HEADERS\tk2\tv2\nPartition:0\tOffset:2\th1:a\tnull\tlast\n")
}

func TestKafkaConsumerGroups(t *testing.T) {
	t.Parallel()
	topic, group := newTopic(t, 1), name(t)
	kcat(t, sequence("r", 0, 10), "-P", "-t", topic, "-p", "0").ok()
	equal(t, "records", kafka(t, "kafka-console-consumer", "--topic", topic, "--group", group,
		"--from-beginning", "--max-messages", "10").ok(), sequence("r", 0, 10))

	groups := func(args ...string) outcome {
		t.Helper()
		return kafka(t, "kafka-consumer-groups", args...)
	}
	matches(t, groups("--list").ok(), regexp.QuoteMeta(group))
	row := func(committed, end, lag int) string {
		return fmt.Sprintf(`%s\s+%s\s+0\s+%d\s+%d\s+%d\s+-\s+-\s+-`, group, topic, committed, end, lag)
	}
	matches(t, groups("--describe", "--group", group).ok(), row(10, 10, 0))
	matches(t, groups("--describe", "--group", group, "--state").ok(), group+`\s+\S+\s+\(`+brokerID(t)+`\)\s+-?\s+Empty\s+0`)

	matches(t, groups("--group", group, "--topic", topic, "--reset-offsets", "--to-offset", "3", "--execute").ok(), group+`\s+`+topic+`\s+0\s+3`)
	matches(t, groups("--describe", "--group", group).ok(), row(3, 10, 7))
	equal(t, "after the reset", kafka(t, "kafka-console-consumer", "--topic", topic, "--group", group, "--max-messages", "2").ok(), sequence("r", 3, 5))

	groups("--group", group, "--delete-offsets", "--topic", topic).says("Successful").ok()
	if out := groups("--describe", "--group", group).out; strings.Contains(out, topic) {
		t.Fatalf("the deleted offsets are still there:\n%s", out)
	}
	groups("--group", name(t), "--delete").says("GroupIdNotFoundException")

	another := name(t)
	groups("--group", another, "--topic", topic, "--reset-offsets", "--to-latest", "--execute").ok()
	groups("--group", another, "--delete").says("Deletion of requested consumer groups ('" + another + "') was successful.").ok()
	if strings.Contains(groups("--list").ok(), another) {
		t.Fatal("the deleted group is still listed")
	}
}

// A group with a live member: shown with its member, not to be deleted or reset.
func TestKafkaConsumerGroupWithMembers(t *testing.T) {
	t.Parallel()
	topic, group := newTopic(t, 2), name(t)
	kcat(t, "here\n", "-P", "-t", topic, "-p", "0").ok()
	member := startKafka(t, "kafka-console-consumer", "--topic", topic, "--group", group, "--from-beginning")
	member.expect("here")
	matches(t, kafka(t, "kafka-consumer-groups", "--describe", "--group", group, "--members").ok(), group+`\s+console-consumer-\S+\s+/127\.0\.0\.1\s+console-consumer\s+2.*`)
	matches(t, kafka(t, "kafka-consumer-groups", "--describe", "--group", group, "--state").ok(), group+`\s+\S+\s+\(\d+\)\s+range\s+Stable\s+1`)
	kafka(t, "kafka-consumer-groups", "--group", group, "--delete").says("GroupNotEmptyException")
	kafka(t, "kafka-consumer-groups", "--group", group, "--topic", topic, "--reset-offsets", "--to-earliest", "--execute").
		says("can only be reset if the group", "is inactive")
	member.cmd.Process.Signal(syscall.SIGTERM)
	member.expect("Processed a total of 1 messages")
}

func TestKafkaPerformanceTools(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 4)
	const records = 50_000
	sent := kafka(t, "kafka-producer-perf", "--topic", topic, "--num-records", fmt.Sprint(records), "--record-size", "200",
		"--throughput", "-1", "--command-property", "acks=all").ok()
	if !regexp.MustCompile(fmt.Sprintf(`(?m)^%d records sent, [0-9.]+ records/sec .* 99\.9th\.$`, records)).MatchString(sent) {
		t.Fatalf("producer-perf:\n%s", sent)
	}
	out := kafka(t, "kafka-consumer-perf", "--topic", topic, "--num-records", fmt.Sprint(records)).ok()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	fields := strings.Split(lines[len(lines)-1], ", ")
	if len(fields) != 10 {
		t.Fatalf("consumer-perf:\n%s", out)
	}
	if n, err := strconv.Atoi(fields[4]); err != nil || n != records {
		t.Fatalf("consumer-perf read %s records, want %d:\n%s", fields[4], records, out)
	}
}

func TestKafkaEndToEndLatency(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 1)
	for _, acks := range []string{"1", "all"} {
		out := kafka(t, "kafka-e2e-latency", "--topic", topic, "--num-records", "300", "--producer-acks", acks, "--record-size", "100").ok()
		matches(t, out, `Avg latency: [0-9.]+ ms`)
		matches(t, out, `Percentiles: 50th = \d+, 99th = \d+, 99\.9th = \d+`)
	}
}

// event is one line of the verifiable clients.
type event struct {
	Name      string
	Value     string
	Offset    int64
	Partition int32
	Sent      int
	Acked     int
	Count     int
	Success   bool
}

func events(t *testing.T, output string) []event {
	t.Helper()
	var all []event
	for _, line := range strings.Split(strings.TrimSpace(output), "\n") {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, e)
	}
	return all
}

// Every record that the verifiable producer saw acknowledged is read by the
// verifiable consumer, and each offset is given once.
func TestKafkaVerifiableClients(t *testing.T) {
	t.Parallel()
	topic, group := newTopic(t, 3), name(t)
	const records = 3000
	acked := map[string]bool{}
	for _, e := range events(t, kafka(t, "verifiable-producer", "--topic", topic, "--max-messages", fmt.Sprint(records), "--acks", "-1").ok()) {
		switch e.Name {
		case "producer_send_success":
			at := fmt.Sprintf("%d/%d", e.Partition, e.Offset)
			if acked[at] {
				t.Fatalf("offset %s was given twice", at)
			}
			acked[at] = true
		case "producer_send_error":
			t.Fatalf("send error: %+v", e)
		case "tool_data":
			equal(t, "acked", e.Acked, records)
		}
	}
	equal(t, "acknowledged offsets", len(acked), records)

	consumed, committed := 0, false
	for _, e := range events(t, kafka(t, "verifiable-consumer", "--topic", topic, "--group-id", group,
		"--max-messages", fmt.Sprint(records), "--reset-policy", "earliest").ok()) {
		switch e.Name {
		case "records_consumed":
			consumed += e.Count
		case "offsets_committed":
			committed = committed || e.Success
		}
	}
	equal(t, "consumed", consumed, records)
	equal(t, "committed", committed, true)
	matches(t, kafka(t, "kafka-consumer-groups", "--describe", "--group", group).ok(), fmt.Sprintf(`%s\s+%s\s+\d+\s+\d+\s+\d+\s+0\s+.*`, group, topic))
}

// Kafka's own test of a client against a foreign broker. What a broker without
// authorization does with DescribeAcls is its own choice: the API is either not
// advertised or answers that security is disabled.
func TestKafkaClientCompatibility(t *testing.T) {
	t.Parallel()
	const describeAcls = 29
	// The tool makes a topic of this name and leaves it behind.
	const made = "newtopic"
	ctx, adm := admin(t)
	if _, err := adm.DeleteTopic(ctx, made); err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Fatal(err)
	}
	kafka(t, "client-compatibility", "--topic", newTopic(t, 1),
		"--offsets-for-times-supported", "true",
		"--cluster-id-supported", "true",
		"--expect-record-too-large-exception", "false",
		"--num-cluster-nodes", "1",
		"--create-topics-supported", "true",
		"--describe-acls-supported", fmt.Sprint(serves(t, describeAcls)),
		"--describe-configs-supported", "true",
		"--idempotent-producer-supported", "true").says("SUCCESS").ok()
}
