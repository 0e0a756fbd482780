package main

import (
	"slices"
	"testing"
)

func TestTopicLifecycle(t *testing.T) {
	c := startBroker(t)
	created := decode[[]createdTopic](c.run("topic", "create", "orders", "-p", "4", "--set", "retention.ms=1000", "--json"))
	equal(t, "created", len(created), 1)
	equal(t, "partitions", created[0].Partitions, 4)
	equal(t, "id length", len(created[0].ID), 22)

	c.run("topic", "create", "orders").fails(exitFailed, `topic "orders"`, "TOPIC_ALREADY_EXISTS", "--if-not-exists")
	equal(t, "table", c.run("topic", "create", "orders", "--if-not-exists").ok(),
		"TOPIC   PARTITIONS  REPLICATION  STATUS\norders  -           -            exists\n")
	decode[[]createdTopic](c.run("topic", "create", "unmade", "--validate-only", "--json"))
	equal(t, "list", c.run("topic", "list").ok(),
		"TOPIC   PARTITIONS  REPLICATION\norders  4           1\n")

	c.run("topic", "alter", "orders", "--set", "cleanup.policy=compact", "--unset", "retention.ms", "-p", "6").ok()
	described := decode[[]describedTopic](c.run("topic", "describe", "orders", "--json"))
	equal(t, "partitions after alter", len(described[0].Partitions), 6)
	own := slices.IndexFunc(described[0].Settings, func(s topicSetting) bool { return s.Name == "cleanup.policy" })
	if own < 0 || *described[0].Settings[own].Value != "compact" {
		t.Fatalf("cleanup.policy is not compact: %+v", described[0].Settings)
	}
	if slices.ContainsFunc(described[0].Settings, func(s topicSetting) bool { return s.Name == "retention.ms" }) {
		t.Fatalf("retention.ms was not unset: %+v", described[0].Settings)
	}
	c.run("topic", "alter", "orders", "-p", "2").fails(exitFailed, `topic "orders": partitions`, "INVALID_PARTITIONS")

	equal(t, "delete", c.run("topic", "delete", "orders").ok(), "topic orders: deleted\n")
	c.run("topic", "delete", "orders").fails(exitFailed, "UNKNOWN_TOPIC", "spate topic list")
	equal(t, "delete again", c.run("topic", "delete", "orders", "--if-exists").ok(), "topic orders: absent\n")
	c.run("topic", "describe", "orders").fails(exitFailed, `topic "orders"`, "UNKNOWN_TOPIC")
}

func TestTopicDescribeShowsOffsets(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "2").ok()
	c.run("produce", "t", "-p", "1", "a", "b", "c").ok()
	p := decode[[]describedTopic](c.run("topic", "describe", "t", "--json"))[0].Partitions
	equal(t, "end of 0", p[0].End, 0)
	equal(t, "end of 1", p[1].End, 3)
}

// One topic's failure does not hide what was done for the others.
func TestPartialFailure(t *testing.T) {
	c := startBroker(t)
	c.run("topic", "create", "a").ok()
	r := c.run("topic", "create", "a", "b")
	r.fails(exitFailed, `topic "a"`)
	equal(t, "list", c.run("topic", "list").ok(), "TOPIC  PARTITIONS  REPLICATION\na      3           1\nb      3           1\n")
}
