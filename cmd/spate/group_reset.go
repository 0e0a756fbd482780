package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

type groupReset struct {
	topics    []string
	allTopics bool
	execute   bool

	earliest bool
	latest   bool
	offset   int64
	datetime string
	shift    int64
}

// resetTargets are the flags of which exactly one says where to go.
var resetTargets = []string{"to-earliest", "to-latest", "to-offset", "to-datetime", "shift-by"}

func newGroupResetCommand(a *app) *cobra.Command {
	var o groupReset
	cmd := &cobra.Command{
		Use:   "reset GROUP",
		Short: "Move the committed offsets of a group without members",
		Long: `Move the committed offsets of a group without members.

Shows what would change; --execute does it. Offsets outside of a partition's log
are moved to its nearest end.`,
		Example: `  spate group reset billing --topic orders --to-earliest
  spate group reset billing --topic orders:0,3 --to-datetime 2026-11-01T00:00:00Z --execute
  spate group reset billing --all-topics --shift-by -100 --execute`,
		Args:              exactly(1, "one group name"),
		ValidArgsFunction: a.completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := o.plan(cmd)
			if err != nil {
				return err
			}
			return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
				return a.groupReset(ctx, adm, args[0], plan, o.execute)
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.topics, "topic", "t", nil, "topic to reset, `TOPIC[:PARTITION,...]`; may be given more than once")
	f.BoolVar(&o.allTopics, "all-topics", false, "reset all topics that the group has committed offsets for")
	f.BoolVar(&o.earliest, "to-earliest", false, "to the first record")
	f.BoolVar(&o.latest, "to-latest", false, "behind the last record")
	f.Int64Var(&o.offset, "to-offset", 0, "to this offset")
	f.StringVar(&o.datetime, "to-datetime", "", "to the first record at or after this `TIME` (RFC 3339, or milliseconds since 1970)")
	f.Int64Var(&o.shift, "shift-by", 0, "by this many records, forwards or, negative, backwards")
	f.BoolVar(&o.execute, "execute", false, "do it instead of only showing it")
	return cmd
}

// resetPlan is a checked command line of group reset.
type resetPlan struct {
	all    bool
	topics map[string][]int32 // nil: all partitions
	target string             // one of resetTargets
	value  int64              // offset or shift
	at     *time.Time         // of to-datetime
}

func (o *groupReset) plan(cmd *cobra.Command) (resetPlan, error) {
	p := resetPlan{all: o.allTopics, topics: map[string][]int32{}}
	var given []string
	for _, name := range resetTargets {
		if cmd.Flags().Changed(name) {
			given = append(given, name)
		}
	}
	if len(given) != 1 {
		return p, usageError("expected exactly one of --%s", strings.Join(resetTargets, ", --"))
	}
	if (len(o.topics) == 0) == !o.allTopics {
		return p, usageError("expected either --topic or --all-topics")
	}
	for _, s := range o.topics {
		topic, partitions, err := parseTopicPartitions(s)
		if err != nil {
			return p, err
		}
		p.topics[topic] = append(p.topics[topic], partitions...)
	}
	p.target = given[0]
	switch p.target {
	case "to-offset":
		p.value = o.offset
	case "shift-by":
		p.value = o.shift
	case "to-datetime":
		t, err := parseTime(o.datetime)
		if err != nil {
			return p, usageError("--to-datetime %s: %v", quote(o.datetime), err)
		}
		p.at = &t
	}
	return p, nil
}

// parseTopicPartitions reads TOPIC[:PARTITION,...]. Topic names have no colon.
func parseTopicPartitions(s string) (string, []int32, error) {
	topic, rest, some := strings.Cut(s, ":")
	if topic == "" {
		return "", nil, usageError("--topic %s: expected TOPIC or TOPIC:PARTITION,...", quote(s))
	}
	if !some {
		return topic, nil, nil
	}
	partitions, err := parsePartitions(strings.Split(rest, ","))
	if err != nil {
		return "", nil, usageError("--topic %s: %v", quote(s), err)
	}
	return topic, partitions, nil
}

func parsePartitions(fields []string) ([]int32, error) {
	var partitions []int32
	for _, s := range fields {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("partition %s is not a number from 0", quote(s))
		}
		partitions = append(partitions, int32(n))
	}
	return partitions, nil
}

// offsetMove is one line of the result.
type offsetMove struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	From      int64  `json:"from"` // -1: nothing committed
	To        int64  `json:"to"`
	Lag       int64  `json:"lag"` // after the move
	Error     string `json:"error,omitempty"`
}

func (a *app) groupReset(ctx context.Context, adm *kadm.Client, group string, plan resetPlan, execute bool) error {
	if err := checkResettable(ctx, adm, group); err != nil {
		return err
	}
	moves, err := plan.moves(ctx, adm, group)
	if err != nil {
		return err
	}
	var failed error
	if execute {
		if failed, err = commitMoves(ctx, adm, group, moves); err != nil {
			return err
		}
	}
	if err := a.printMoves(moves, execute); err != nil {
		return err
	}
	return failed
}

// checkResettable refuses groups with members: they would commit over the reset.
func checkResettable(ctx context.Context, adm *kadm.Client, group string) error {
	described, err := adm.DescribeGroups(ctx, group)
	if err != nil {
		return fmt.Errorf("describe group %s: %w", quote(group), err)
	}
	d, err := described.On(group, nil)
	if err != nil {
		return fmt.Errorf("describe group %s: %w", quote(group), err)
	}
	switch {
	case d.Err == kerr.GroupIDNotFound || d.Err == nil && d.State == "Dead":
		return nil // a group of this name is made by the commit
	case d.Err != nil:
		return brokerError("describe group "+quote(group), d.Err, d.ErrMessage)
	case d.State != "Empty":
		return failure("stop its members first; 'spate group describe' shows them",
			"group %s is %s with %s; only a group without members can be reset",
			quote(group), d.State, count(int64(len(d.Members)), "member"))
	}
	return nil
}

// moves works out the new offsets, sorted by topic and partition.
func (p resetPlan) moves(ctx context.Context, adm *kadm.Client, group string) ([]offsetMove, error) {
	committed, err := adm.FetchOffsets(ctx, group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("fetch offsets of group %s: %w", quote(group), err)
	}
	topics := p.topics
	if p.all {
		topics = map[string][]int32{}
		committed.Each(func(o kadm.OffsetResponse) { topics[o.Topic] = append(topics[o.Topic], o.Partition) })
		if len(topics) == 0 {
			return nil, failure("name topics with --topic", "group %s has no committed offsets", quote(group))
		}
	}
	logs, err := lookUpLogs(ctx, adm, topics, false, p.at)
	if err != nil {
		return nil, err
	}
	var moves []offsetMove
	for _, l := range logs {
		m := offsetMove{Topic: l.topic, Partition: l.partition, From: -1}
		if c, ok := committed.Lookup(l.topic, l.partition); ok && c.Err == nil {
			m.From = c.At
		}
		if p.target == "shift-by" && m.From < 0 {
			return nil, failure("use one of the other targets for it",
				"topic %s partition %d: group %s has no committed offset to shift", quote(l.topic), l.partition, quote(group))
		}
		m.To = p.newOffset(m.From, l)
		m.Lag = l.end - m.To
		moves = append(moves, m)
	}
	return moves, nil
}

// newOffset is where the plan moves a partition whose committed offset is from.
func (p resetPlan) newOffset(from int64, l logRange) int64 {
	to := l.start
	switch p.target {
	case "to-latest":
		to = l.end
	case "to-offset":
		to = p.value
	case "to-datetime":
		to = l.atTime
	case "shift-by":
		to = from + p.value
	}
	return min(max(to, l.start), l.end)
}

func commitMoves(ctx context.Context, adm *kadm.Client, group string, moves []offsetMove) (failed, err error) {
	var offsets kadm.Offsets
	for _, m := range moves {
		offsets.AddOffset(m.Topic, m.Partition, m.To, -1)
	}
	answers, err := adm.CommitOffsets(ctx, group, offsets)
	if err != nil {
		return nil, fmt.Errorf("commit offsets of group %s: %w", quote(group), err)
	}
	for i := range moves {
		m := &moves[i]
		if r, ok := answers.Lookup(m.Topic, m.Partition); !ok || r.Err != nil {
			m.Error = "the broker did not answer for this partition"
			if ok {
				m.Error = r.Err.Error()
			}
			failed = errReported
		}
	}
	return failed, nil
}

func (a *app) printMoves(moves []offsetMove, executed bool) error {
	if a.json {
		return a.printJSON(struct {
			Executed bool         `json:"executed"`
			Offsets  []offsetMove `json:"offsets"`
		}{executed, moves})
	}
	t := newTable(a.out, "TOPIC", "PARTITION", "FROM", "TO", "LAG", "ERROR")
	for _, m := range moves {
		t.row(m.Topic, m.Partition, offsetOrDash(m.From), m.To, m.Lag, orDash(m.Error))
	}
	if err := t.flush(); err != nil {
		return err
	}
	if !executed {
		fmt.Fprintln(a.errOut, "nothing has been changed; add --execute to do it")
	}
	return nil
}
