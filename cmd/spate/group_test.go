package main

import (
	"fmt"
	"strings"
	"testing"
)

// groupWithLag makes topic t with ten records in partition 0, of which group g
// has read four.
func groupWithLag(t *testing.T) cli {
	c := startBroker(t)
	c.run("topic", "create", "t", "-p", "1").ok()
	for i := range 10 {
		c.run("produce", "t", "--timestamp", fmt.Sprint(1000*(i+1)), fmt.Sprint(i)).ok()
	}
	equal(t, "read by group", c.run("consume", "t", "-g", "g", "-c", "4").ok(), "0\n1\n2\n3\n")
	return c
}

func TestGroupListDescribeDelete(t *testing.T) {
	c := groupWithLag(t)
	groups := decode[[]listedGroup](c.run("group", "list", "--json"))
	if len(groups) != 1 || groups[0].Group != "g" || groups[0].State != "Empty" {
		t.Fatalf("groups: %+v", groups)
	}
	d := decode[[]describedGroup](c.run("group", "describe", "g", "--json"))[0]
	equal(t, "lag", d.Lag, 6)
	o := d.Offsets[0]
	o.Metadata = "" // the client's own
	equal(t, "offset", o, groupOffset{Topic: "t", Committed: 4, End: 10, Lag: 6})
	c.run("group", "describe", "none").fails(exitFailed, `group "none"`, "GROUP_ID_NOT_FOUND", "spate group list")

	equal(t, "delete", c.run("group", "delete", "g").ok(), "group g: deleted\n")
	c.run("group", "delete", "g").fails(exitFailed, "GROUP_ID_NOT_FOUND")
	equal(t, "delete again", c.run("group", "delete", "g", "--if-exists").ok(), "group g: absent\n")
}

func TestGroupReset(t *testing.T) {
	c := groupWithLag(t)
	committed := func() int64 {
		return decode[[]describedGroup](c.run("group", "describe", "g", "--json"))[0].Offsets[0].Committed
	}
	for _, x := range []struct {
		target string
		want   int64
	}{
		{"--to-earliest", 0},
		{"--to-latest", 10},
		{"--to-offset 7", 7},
		{"--to-offset 70", 10},
		{"--to-datetime 3000", 2},
		{"--to-datetime 2999", 2},
		{"--to-datetime 1970-01-01T00:00:05Z", 4},
		{"--to-datetime 2100-01-01", 10},
		{"--shift-by -2", 2},
		{"--shift-by -20", 0},
		{"--shift-by 3", 7},
	} {
		c.run("group", "reset", "g", "-t", "t", "--to-offset", "4", "--execute").ok()
		args := append([]string{"group", "reset", "g", "-t", "t:0"}, strings.Fields(x.target)...)
		dry := c.run(args...)
		if dry.ok(); !strings.Contains(dry.err, "nothing has been changed") {
			t.Fatalf("dry run does not say so: %q", dry.err)
		}
		equal(t, "after a dry run", committed(), 4)
		c.run(append(args, "--execute")...).ok()
		equal(t, x.target, committed(), x.want)
	}
	c.run("group", "reset", "g", "--all-topics", "--to-earliest", "--execute").ok()
	equal(t, "all topics", committed(), 0)
}

func TestGroupResetRefusals(t *testing.T) {
	c := groupWithLag(t)
	c.run("group", "reset", "g", "-t", "none", "--to-latest").fails(exitFailed, `topic "none"`, "UNKNOWN_TOPIC")
	c.run("group", "reset", "g", "-t", "t:9", "--to-latest").fails(exitFailed, `topic "t" has no partition 9`)
	c.run("group", "reset", "new", "--all-topics", "--to-latest").fails(exitFailed, "no committed offsets")
	c.run("group", "reset", "new", "-t", "t", "--shift-by", "1").fails(exitFailed, "no committed offset to shift")

	// A group that does not exist yet can be given offsets.
	c.run("group", "reset", "new", "-t", "t", "--to-offset", "8", "--execute").ok()
	equal(t, "first read", c.run("consume", "t", "-g", "new", "-c", "2").ok(), "8\n9\n")
}

func TestGroupResetRefusesMembers(t *testing.T) {
	c := groupWithLag(t)
	member := c.start("consume", "t", "-g", "g")
	equal(t, "first line", member.line(), "4")
	c.run("group", "reset", "g", "-t", "t", "--to-latest", "--execute").fails(exitFailed, `group "g" is Stable with 1 member`)
	c.run("group", "delete", "g").fails(exitFailed, "NON_EMPTY_GROUP", "stop the group's members")
	member.interrupt()
	equal(t, "exit status", member.wait(), exitOK)
	c.run("group", "reset", "g", "-t", "t", "--to-latest", "--execute").ok()
}
