package kafka

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

const adminScenario = "testdata/admin/kafka-4.3.1.txt"

var recordKafka = flag.String("record-kafka", "", "address of a fresh Kafka to record the administrative scenario from")

// adminDifferences are answers that differ from Kafka's on purpose: what is in
// Kafka's, what is in ours, and why.
var adminDifferences = []struct{ kafka, ours, reason string }{
	{"registered or some brokers have all their log directories cordoned.", "registered.", "spate cordons no directories"},
	{"min.insync.replicas ReadOnly:false Source:3", "min.insync.replicas ReadOnly:false Source:5", elr},
	{"min.insync.replicas=1 DYNAMIC_DEFAULT_BROKER_CONFIG ", "", elr},
	{"min.insync.replicas ReadOnly:false Source:DYNAMIC_DEFAULT_BROKER_CONFIG", "min.insync.replicas ReadOnly:false Source:DEFAULT_CONFIG", elr},
}

const elr = "Kafka stores its default of this setting to keep eligible leaders (KIP-966)"

// TestAdminLikeKafka gives spate the requests that Kafka 4.3.1 was given and
// compares the answers. Lines of the scenario: "key version request", and the
// answer after "= ".
func TestAdminLikeKafka(t *testing.T) {
	text, err := os.ReadFile(adminScenario)
	if err != nil {
		t.Fatal(err)
	}
	if *recordKafka != "" {
		recordAdmin(t, string(text))
		return
	}
	c := newBroker(t, "num.partitions=1").connect()
	var request string
	for n, line := range strings.Split(string(text), "\n") {
		if want, ok := strings.CutPrefix(line, "= "); ok {
			if got := askSpate(t, c, request); got != allow(want) {
				from := firstDifference(got, allow(want))
				t.Errorf("line %d: %.120s\ngot   ...%.400s\nkafka ...%.400s", n, request, got[from:], allow(want)[from:])
			}
			continue
		}
		request = line
	}
}

// firstDifference is where to look: a bit before two texts part.
func firstDifference(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return max(0, i-60)
}

func allow(kafka string) string {
	for _, d := range adminDifferences {
		kafka = strings.ReplaceAll(kafka, d.kafka, d.ours)
	}
	return kafka
}

func parseRequest(t *testing.T, line string) kmsg.Request {
	t.Helper()
	var key, version int16
	if _, err := fmt.Sscanf(line, "%d %d", &key, &version); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	req := kmsg.RequestForKey(key)
	if err := json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), req); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	req.SetVersion(version)
	// As it comes off the wire.
	wire := kmsg.RequestForKey(key)
	wire.SetVersion(version)
	if err := wire.ReadFrom(req.AppendTo(nil)); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return wire
}

func askSpate(t *testing.T, c *client, line string) string {
	t.Helper()
	req := parseRequest(t, line)
	return normalize(t, c.ask(req, req.GetVersion()))
}

// normalize writes an answer as JSON without what may differ: the order of
// lists, ids, sizes and the words of documentation.
func normalize(t *testing.T, r response) string {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plain(v)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return plainObject(v)
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if p := plain(e); p != nil {
				out = append(out, p)
			}
		}
		slices.SortStableFunc(out, func(a, b any) int { return cmp.Compare(sortKey(a), sortKey(b)) })
		return out
	}
	return v
}

func plainObject(m map[string]any) any {
	if name, _ := m["Name"].(string); strings.HasPrefix(name, "spate.") || m["Topic"] == "__cluster_metadata" && m["Partitions"] != nil {
		return nil // ours alone
	}
	delete(m, "UnknownTags")
	delete(m, "Version")
	for k, e := range m {
		switch k {
		case "TopicID":
			m[k] = fmt.Sprint(e) != fmt.Sprint(make([]int, 16))
		case "Documentation":
			m[k] = e != nil
		case "Dir":
			m[k] = "dir"
		case "TotalBytes", "UsableBytes":
			m[k] = e.(float64) > 0
		case "ConfigSynonyms":
			list, _ := e.([]any)
			for i, s := range list {
				o := s.(map[string]any)
				list[i] = fmt.Sprint(o["Name"], "=", o["Value"], " ", o["Source"])
			}
		default:
			m[k] = plain(e)
		}
	}
	if _, ok := m["ReadOnly"]; ok { // one setting: a line instead of an object
		return fmt.Sprint(m)
	}
	return m
}

func sortKey(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprint(v)
	}
	if p, ok := m["Partition"]; ok {
		return fmt.Sprintf("%08d", int(p.(float64))+1)
	}
	return fmt.Sprint(m["Topic"], m["ResourceType"], m["ResourceName"], m["TopicID"], m["Name"], m["ErrorCode"], m["Configs"])
}

// recordAdmin asks a real Kafka and writes its answers.
func recordAdmin(t *testing.T, text string) {
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "= ") {
			continue
		}
		out.WriteString(line + "\n")
		if !strings.HasPrefix(line, "#") {
			out.WriteString("= " + askKafka(t, line) + "\n")
			time.Sleep(500 * time.Millisecond) // Kafka answers before its broker has applied a change
		}
	}
	if err := os.WriteFile(adminScenario, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func askKafka(t *testing.T, line string) string {
	req := parseRequest(t, line)
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(req.Key(), req.GetVersion())
	c, err := kgo.NewClient(kgo.SeedBrokers(*recordKafka), kgo.MaxVersions(versions))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	resp, err := c.Broker(1).Request(ctx, req)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return normalize(t, resp)
}
