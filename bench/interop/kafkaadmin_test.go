//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// newTopic makes a topic with Kafka's own tool.
func newTopic(t *testing.T, partitions int, settings ...string) string {
	t.Helper()
	topic := name(t)
	args := []string{"--create", "--topic", topic, "--partitions", fmt.Sprint(partitions), "--replication-factor", "1"}
	for _, s := range settings {
		args = append(args, "--config", s)
	}
	kafka(t, "kafka-topics", args...).says("Created topic " + topic + ".").ok()
	return topic
}

// matches requires a line of the output to match a pattern in full.
func matches(t *testing.T, output, pattern string) {
	t.Helper()
	if !regexp.MustCompile(`(?m)^` + pattern + `\s*$`).MatchString(output) {
		t.Fatalf("no line matches %q:\n%s", pattern, output)
	}
}

func TestKafkaTopics(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 3, "retention.ms=100000")
	matches(t, kafka(t, "kafka-topics", "--list").ok(), regexp.QuoteMeta(topic))

	described := kafka(t, "kafka-topics", "--describe", "--topic", topic).ok()
	matches(t, described, `Topic: `+topic+`\tTopicId: [A-Za-z0-9_-]{22}\tPartitionCount: 3\tReplicationFactor: 1\tConfigs: .*retention\.ms=100000.*`)
	for p := range 3 {
		matches(t, described, fmt.Sprintf(`\tTopic: %s\tPartition: %d\tLeader: (\d+)\tReplicas: (\d+)\tIsr: (\d+)\tElr: .*`, topic, p))
	}

	kafka(t, "kafka-topics", "--alter", "--topic", topic, "--partitions", "5").ok()
	if n := strings.Count(kafka(t, "kafka-topics", "--describe", "--topic", topic).ok(), "\tPartition: "); n != 5 {
		t.Fatalf("%d partitions after the alteration", n)
	}
	kafka(t, "kafka-topics", "--alter", "--topic", topic, "--partitions", "2").failed("InvalidPartitionsException")

	kafka(t, "kafka-topics", "--create", "--topic", topic).failed("already exists")
	kafka(t, "kafka-topics", "--create", "--if-not-exists", "--topic", topic).ok()
	kafka(t, "kafka-topics", "--create", "--topic", "not/allowed").failed("InvalidTopicException")
	kafka(t, "kafka-topics", "--create", "--topic", name(t), "--replication-factor", "3").failed("InvalidReplicationFactorException")
	kafka(t, "kafka-topics", "--create", "--topic", name(t), "--config", "no.such=1").failed("no.such")

	kafka(t, "kafka-topics", "--delete", "--topic", topic).ok()
	kafka(t, "kafka-topics", "--describe", "--topic", topic).failed("does not exist")
}

func TestKafkaConfigs(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 1, "retention.ms=100000")
	on := []string{"--entity-type", "topics", "--entity-name", topic}
	describe := func(more ...string) string {
		t.Helper()
		return kafka(t, "kafka-configs", append(append([]string{"--describe"}, more...), on...)...).ok()
	}
	matches(t, describe(), `\s*retention\.ms=100000 sensitive=false synonyms=\{DYNAMIC_TOPIC_CONFIG:retention\.ms=100000.*\}`)

	alter := func(args ...string) outcome {
		t.Helper()
		return kafka(t, "kafka-configs", append(append([]string{"--alter"}, args...), on...)...)
	}
	alter("--add-config", "max.message.bytes=5000,cleanup.policy=[compact,delete]").says("Completed updating config").ok()
	alter("--delete-config", "retention.ms").ok()
	after := describe()
	matches(t, after, `\s*cleanup\.policy=compact,delete sensitive=false synonyms=\{DYNAMIC_TOPIC_CONFIG:cleanup\.policy=compact,delete, DEFAULT_CONFIG:log\.cleanup\.policy=delete\}`)
	matches(t, after, `\s*max\.message\.bytes=5000 .*`)
	if strings.Contains(after, "retention.ms") {
		t.Fatalf("retention.ms is still there:\n%s", after)
	}
	alter("--add-config", "no.such=1").failed("InvalidConfigurationException")
	alter("--add-config", "max.message.bytes=many").failed("max.message.bytes")

	all := describe("--all")
	for _, s := range []string{"retention.ms=604800000", "segment.bytes=", "compression.type=producer", "min.insync.replicas=1"} {
		if !strings.Contains(all, s) {
			t.Errorf("--all lacks %q:\n%s", s, all)
		}
	}
	kafka(t, "kafka-configs", "--describe", "--entity-type", "brokers", "--entity-name", brokerID(t), "--all").
		says("All configs for broker", "log.retention.hours=168", "num.partitions=").ok()
}

func TestKafkaGetOffsets(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 2)
	kcat(t, sequence("r", 0, 7), "-P", "-t", topic, "-p", "1").ok()
	offsets := func(at string) string {
		t.Helper()
		return kafka(t, "kafka-get-offsets", "--topic", topic, "--time", at).ok()
	}
	equal(t, "latest", offsets("latest"), topic+":0:0\n"+topic+":1:7\n")
	equal(t, "earliest", offsets("earliest"), topic+":0:0\n"+topic+":1:0\n")
	matches(t, offsets("max-timestamp"), topic+`:1:\d`)
	equal(t, "by time", offsets("0"), topic+":1:0\n")
}

func TestKafkaDeleteRecords(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 2)
	for p := range 2 {
		kcat(t, sequence("r", 0, 10), "-P", "-t", topic, "-p", fmt.Sprint(p)).ok()
	}
	remove := func(partition, offset int) outcome {
		t.Helper()
		file := filepath.Join(t.TempDir(), "offsets.json")
		text := fmt.Sprintf(`{"version":1,"partitions":[{"topic":%q,"partition":%d,"offset":%d}]}`, topic, partition, offset)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return kafka(t, "kafka-delete-records", "--offset-json-file", file)
	}
	remove(0, 4).says("partition: " + topic + "-0\tlow_watermark: 4").ok()
	remove(1, -1).says("partition: " + topic + "-1\tlow_watermark: 10").ok()
	remove(0, 11).says("OffsetOutOfRangeException")
	equal(t, "earliest", kafka(t, "kafka-get-offsets", "--topic", topic, "--time", "earliest").ok(), topic+":0:4\n"+topic+":1:10\n")
	equal(t, "what is left", kcat(t, "", "-C", "-t", topic, "-p", "0", "-o", "beginning", "-e").ok(), sequence("r", 4, 10))
}

func TestKafkaLogDirs(t *testing.T) {
	t.Parallel()
	topic := newTopic(t, 2)
	kcat(t, strings.Repeat("x", 50_000), "-P", "-t", topic, "-p", "1", "-D", "|").ok()
	out := kafka(t, "kafka-log-dirs", "--describe", "--topic-list", topic).ok()
	var d struct {
		Version int
		Brokers []struct {
			Broker  int
			LogDirs []struct {
				LogDir     string
				Error      *string
				Partitions []struct {
					Partition string
					Size      int64
					OffsetLag int64
					IsFuture  bool
				}
			}
		}
	}
	start := strings.Index(out, "{")
	if start < 0 {
		t.Fatalf("no JSON in:\n%s", out)
	}
	if err := json.Unmarshal([]byte(out[start:]), &d); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	sizes := map[string]int64{}
	for _, dir := range d.Brokers[0].LogDirs {
		if dir.Error != nil || dir.LogDir == "" {
			t.Fatalf("log directory: %+v", dir)
		}
		for _, p := range dir.Partitions {
			sizes[p.Partition] = p.Size
		}
	}
	equal(t, "partitions", len(sizes), 2)
	equal(t, "size of the empty one", sizes[topic+"-0"], 0)
	if s := sizes[topic+"-1"]; s < 50_000 || s > 60_000 {
		t.Fatalf("size of the other: %d", s)
	}
}

func TestKafkaBrokerApiVersions(t *testing.T) {
	t.Parallel()
	kafka(t, "kafka-broker-versions").says("Produce(0): ", "Fetch(1): ", "ApiVersions(18): ").ok()
}

func TestKafkaClusterID(t *testing.T) {
	t.Parallel()
	class := javaArgs(t, "kafka-cluster")
	// This tool wants its verb before the options.
	args := append(class[:len(class)-2:len(class)-2], "cluster-id", "--bootstrap-server", bootstrap)
	matches(t, run(t, "", "java", args...).ok(), `Cluster ID: [A-Za-z0-9_-]{22}`)
}
