//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func kcat(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	return run(t, stdin, "kcat", append([]string{"-b", bootstrap}, args...)...)
}

// kcatTopic makes a topic by producing one record to it, as the broker creates
// missing topics by itself.
func kcatTopic(t *testing.T) string {
	t.Helper()
	topic := name(t)
	kcat(t, "first\n", "-P", "-t", topic, "-p", "0").ok()
	return topic
}

func TestKcatMetadata(t *testing.T) {
	topic := kcatTopic(t)
	var m struct {
		Brokers []struct {
			ID   int
			Name string
		}
		Topics []struct {
			Topic      string
			Partitions []struct {
				Partition, Leader int
				Replicas, ISRs    []struct{ ID int }
			}
		}
	}
	if err := json.Unmarshal([]byte(kcat(t, "", "-L", "-J", "-t", topic).ok()), &m); err != nil {
		t.Fatal(err)
	}
	equal(t, "brokers", len(m.Brokers), 1)
	equal(t, "address", m.Brokers[0].Name, bootstrap)
	equal(t, "topic", m.Topics[0].Topic, topic)
	p := m.Topics[0].Partitions[0]
	equal(t, "leader", p.Leader, m.Brokers[0].ID)
	equal(t, "in-sync replica", p.ISRs[0].ID, m.Brokers[0].ID)
}

// Keys, headers, empty and null values come back as they were sent.
func TestKcatRoundTrip(t *testing.T) {
	topic := kcatTopic(t)
	kcat(t, "k1:v1\nk2:\n", "-P", "-t", topic, "-p", "0", "-K", ":", "-H", "a=1", "-H", "b=two").ok()
	kcat(t, "k3:\n", "-P", "-t", topic, "-p", "0", "-K", ":", "-Z").ok()
	got := kcat(t, "", "-C", "-t", topic, "-p", "0", "-o", "beginning", "-e", "-f", `%t %p %o %k(%K) %s(%S) %h|`).ok()
	equal(t, "records", got, fmt.Sprintf("%[1]s 0 0 (-1) first(5) |%[1]s 0 1 k1(2) v1(2) a=1,b=two|%[1]s 0 2 k2(2) (0) a=1,b=two|%[1]s 0 3 k3(2) (-1) |", topic))
}

func TestKcatCompression(t *testing.T) {
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			topic := kcatTopic(t)
			input := sequence(strings.Repeat(codec, 20), 0, 2000)
			kcat(t, input, "-P", "-t", topic, "-p", "0", "-z", codec).ok()
			got := kcat(t, "", "-C", "-t", topic, "-p", "0", "-o", "1", "-e").ok()
			equal(t, "records", got == input, true)
		})
	}
}

func TestKcatAcksAndIdempotence(t *testing.T) {
	topic := kcatTopic(t)
	want := "first\n"
	for _, setting := range []string{"acks=0", "acks=1", "acks=all", "enable.idempotence=true"} {
		kcat(t, sequence(setting+" ", 0, 100), "-P", "-t", topic, "-p", "0", "-X", setting).ok()
		want += sequence(setting+" ", 0, 100)
	}
	equal(t, "records", kcat(t, "", "-C", "-t", topic, "-p", "0", "-e").ok(), want)
}

func TestKcatOffsets(t *testing.T) {
	topic := kcatTopic(t)
	kcat(t, sequence("r", 1, 10), "-P", "-t", topic, "-p", "0").ok()
	consume := func(args ...string) string {
		t.Helper()
		return kcat(t, "", append([]string{"-C", "-t", topic, "-p", "0", "-e"}, args...)...).ok()
	}
	equal(t, "an offset", consume("-o", "7"), "r7\nr8\nr9\n")
	equal(t, "before the end", consume("-o", "-2"), "r8\nr9\n")
	equal(t, "a count", consume("-o", "2", "-c", "3"), "r2\nr3\nr4\n")
	equal(t, "end", consume("-o", "end"), "")

	stamps := strings.Fields(consume("-o", "beginning", "-f", `%T\n`))
	equal(t, "records with a timestamp", len(stamps), 10)
	query := func(at string) string {
		t.Helper()
		return strings.TrimSpace(kcat(t, "", "-Q", "-t", topic+":0:"+at).ok())
	}
	equal(t, "earliest", query("-2"), topic+" [0] offset 0")
	equal(t, "latest", query("-1"), topic+" [0] offset 10")
	equal(t, "by time", query(stamps[0]), topic+" [0] offset 0")
	equal(t, "from a time", consume("-o", "s@"+stamps[0])[:6], "first\n")
}

// A batch may be as large as the topic's default allows, and no larger.
func TestKcatLargeMessages(t *testing.T) {
	topic := kcatTopic(t)
	large := strings.Repeat("x", 900_000)
	kcat(t, large, "-P", "-t", topic, "-p", "0", "-D", "|").ok()
	equal(t, "size", kcat(t, "", "-C", "-t", topic, "-p", "0", "-o", "1", "-e", "-f", "%S").ok(), "900000")
	kcat(t, strings.Repeat("x", 2_000_000), "-P", "-t", topic, "-p", "0", "-D", "|", "-X", "message.max.bytes=5000000").
		failed("Message size too large")
}

func TestKcatUnknownPartition(t *testing.T) {
	topic := kcatTopic(t)
	kcat(t, "x\n", "-P", "-t", topic, "-p", "77").failed("Unknown partition")
}

func TestKcatGroup(t *testing.T) {
	topic, group := kcatTopic(t), name(t)
	kcat(t, sequence("r", 0, 50), "-P", "-t", topic, "-p", "0").ok()
	args := []string{"-X", "auto.offset.reset=earliest", "-e", "-G", group, topic}
	equal(t, "first run", kcat(t, "", args...).ok(), "first\n"+sequence("r", 0, 50))
	kcat(t, "later\n", "-P", "-t", topic, "-p", "0").ok()
	equal(t, "second run goes on at the commit", kcat(t, "", args...).ok(), "later\n")
}

// On terminals: what is typed into one kcat shows in the other. kcat sends its
// input in whole buffers and reads on once after an end of input, so two ends
// come before it sends.
func TestKcatOnTerminal(t *testing.T) {
	topic := kcatTopic(t)
	consumer := onTerminal(t, "kcat", "-b", bootstrap, "-C", "-u", "-t", topic, "-p", "0", "-o", "beginning", "-f", `got %s at %o\n`)
	consumer.expect("got first at 0")
	consumer.expect("Reached end of topic " + topic + " [0] at offset 1")
	for i, word := range []string{"one", "two", "three"} {
		producer := onTerminal(t, "kcat", "-b", bootstrap, "-P", "-t", topic, "-p", "0")
		producer.typeIn(word + "\n" + controlD + controlD)
		equal(t, "producer's exit status", producer.ended(), 0)
		consumer.expect(fmt.Sprintf("got %s at %d", word, i+1))
	}
	consumer.typeIn(controlC)
	equal(t, "consumer's exit status", consumer.ended(), 0)
}
