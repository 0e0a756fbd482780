package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScenarios runs testdata: requests planned and applied on a catalog, with
// the events they give.
//
//	create NAME [partitions=N] [rf=N] [assign=1/1+2] [k=v ...]
//	grow NAME total=N [assign=...]
//	delete NAME
//	alter topic|broker NAME k=v|-k ...      ("" for all brokers)
//	reserve N | epoch | snapshot | topics
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		c := newCluster(t, 7)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				out.WriteString(run(t, c, strings.Fields(line)))
			}
			return out.String()
		})
	})
}

func run(t *testing.T, c *Catalog, words []string) string {
	args := words[1:]
	switch words[0] {
	case "create":
		_, events, err := c.PlanCreateTopic(specOf(args))
		return outcome(t, c, events, err)
	case "grow":
		spec := specOf(args)
		total, _ := strconv.Atoi(*spec.Configs["total"])
		var assignments [][]int32
		for p := range int32(len(spec.Assignments)) {
			assignments = append(assignments, spec.Assignments[p])
		}
		events, err := c.PlanAddPartitions(idOf(c, args[0]), int32(total), assignments)
		return outcome(t, c, events, err)
	case "delete":
		events, err := c.PlanDeleteTopic(idOf(c, args[0]))
		return outcome(t, c, events, err)
	case "alter":
		r := Resource{Type: TopicResource, Name: strings.Trim(args[1], `"`)}
		if args[0] == "broker" {
			r.Type = BrokerResource
		}
		set := map[string]*string{}
		for _, kv := range args[2:] {
			if name, ok := strings.CutPrefix(kv, "-"); ok {
				set[name] = nil
			} else {
				k, v, _ := strings.Cut(kv, "=")
				set[k] = &v
			}
		}
		events, err := c.PlanAlterConfigs(r, set)
		return outcome(t, c, events, err)
	case "reserve":
		n, _ := strconv.ParseInt(args[0], 10, 64)
		first, events, err := c.PlanReserveProducerIDs(n)
		return fmt.Sprint("from ", first, " ", outcome(t, c, events, err))
	case "epoch":
		return outcome(t, c, c.PlanRaiseLeaderEpoch(), nil)
	case "snapshot":
		return outcome(t, c, c.Snapshot(), nil)
	case "topics":
		return topicLines(c)
	}
	t.Fatalf("no command %q", words)
	return ""
}

func specOf(args []string) TopicSpec {
	spec := TopicSpec{Name: strings.Trim(args[0], `"`), Partitions: -1, ReplicationFactor: -1, Configs: map[string]*string{}}
	for _, kv := range args[1:] {
		k, v, ok := strings.Cut(kv, "=")
		n, _ := strconv.Atoi(v)
		switch {
		case k == "partitions":
			spec.Partitions = int32(n)
		case k == "rf":
			spec.ReplicationFactor = int16(n)
		case k == "assign":
			spec.Assignments = assignmentsOf(v)
		case !ok:
			spec.Configs[k] = nil
		default:
			spec.Configs[k] = &v
		}
	}
	return spec
}

// assignmentsOf reads "1+2/1": replicas 1 and 2 of partition 0, 1 of partition 1.
func assignmentsOf(text string) map[int32][]int32 {
	m := map[int32][]int32{}
	for p, replicas := range strings.Split(text, "/") {
		m[int32(p)] = nil
		for _, r := range strings.Split(replicas, "+") {
			if n, err := strconv.Atoi(r); err == nil {
				m[int32(p)] = append(m[int32(p)], int32(n))
			}
		}
	}
	return m
}

func idOf(c *Catalog, name string) TopicID {
	if t := c.Topic(name); t != nil {
		return t.ID
	}
	return TopicID{9}
}

func outcome(t *testing.T, c *Catalog, events []Event, err error) string {
	if err != nil {
		return fmt.Sprintf("refused, kind %d: %s\n", KindOf(err), err)
	}
	if len(events) == 0 {
		return "nothing to do\n"
	}
	var out strings.Builder
	for _, e := range events {
		k, v := e.Encode()
		fmt.Fprintf(&out, "%s %s\n", k, v)
	}
	apply(t, c, events)
	return out.String()
}

func topicLines(c *Catalog) string {
	var out strings.Builder
	for _, t := range c.Topics() {
		internal := ""
		if t.Internal {
			internal = " internal"
		}
		fmt.Fprintf(&out, "%s streams=%v epoch=%d config=%v retention=%d%s\n", t.Name, t.Streams, t.Epoch, t.Config, t.Settings.RetentionMs, internal)
	}
	fmt.Fprintf(&out, "version %d, %d partitions, leader epoch %d\n", c.Version(), c.Partitions(), c.LeaderEpoch())
	return out.String()
}
