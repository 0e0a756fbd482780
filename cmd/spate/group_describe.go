package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func newGroupDescribeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "describe NAME...",
		Short:             "Show members, committed offsets and lag of groups",
		Args:              atLeastOne("group names"),
		ValidArgsFunction: a.completeGroups,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
				return a.groupDescribe(ctx, cmd, adm, names)
			})
		},
	}
}

type describedGroup struct {
	Group        string        `json:"group"`
	State        string        `json:"state"`
	ProtocolType string        `json:"protocol_type"`
	Protocol     string        `json:"protocol"`
	Coordinator  int32         `json:"coordinator"`
	Lag          int64         `json:"lag"`
	Members      []groupMember `json:"members"`
	Offsets      []groupOffset `json:"offsets"`
}

type groupMember struct {
	ID         string  `json:"id"`
	InstanceID *string `json:"instance_id"`
	ClientID   string  `json:"client_id"`
	Host       string  `json:"host"`
}

type groupOffset struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed int64  `json:"committed"` // -1: nothing committed
	Start     int64  `json:"start_offset"`
	End       int64  `json:"end_offset"`
	Lag       int64  `json:"lag"` // -1: unknown
	Member    string `json:"member,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	Host      string `json:"host,omitempty"`
	Metadata  string `json:"metadata,omitempty"`
	Error     string `json:"error,omitempty"`
}

func (a *app) groupDescribe(ctx context.Context, cmd *cobra.Command, adm *kadm.Client, names []string) error {
	lags, err := adm.Lag(ctx, names...)
	if err != nil {
		return fmt.Errorf("describe groups: %w", err)
	}
	var failed error
	groups := []describedGroup{}
	for _, l := range lags.Sorted() {
		err := l.Error()
		if err == nil && l.State == "Dead" {
			// Before DescribeGroups v6 this is how a broker says "no such group".
			err = kerr.GroupIDNotFound
		}
		if err != nil {
			a.printError(cmd, fmt.Errorf("group %s: %w", quote(l.Group), err))
			failed = errReported
			continue
		}
		groups = append(groups, describeGroup(l))
	}
	if err := a.printDescribedGroups(groups); err != nil {
		return err
	}
	return failed
}

func describeGroup(l kadm.DescribedGroupLag) describedGroup {
	g := describedGroup{
		Group: l.Group, State: l.State, ProtocolType: l.ProtocolType, Protocol: l.Protocol,
		Coordinator: l.Coordinator.NodeID, Lag: l.Lag.Total(),
		Members: []groupMember{}, Offsets: []groupOffset{},
	}
	for _, m := range l.Members {
		g.Members = append(g.Members, groupMember{m.MemberID, m.InstanceID, m.ClientID, m.ClientHost})
	}
	for _, p := range l.Lag.Sorted() {
		o := groupOffset{
			Topic: p.Topic, Partition: p.Partition, Committed: p.Commit.At,
			Start: p.Start.Offset, End: p.End.Offset, Lag: p.Lag, Metadata: p.Commit.Metadata,
		}
		if p.Member != nil {
			o.Member, o.ClientID, o.Host = p.Member.MemberID, p.Member.ClientID, p.Member.ClientHost
		}
		if p.Err != nil {
			o.Error = p.Err.Error()
		}
		if errors.Is(p.Start.Err, kerr.UnknownTopicOrPartition) {
			o.Start, o.End = -1, -1
		}
		g.Offsets = append(g.Offsets, o)
	}
	return g
}

func (a *app) printDescribedGroups(groups []describedGroup) error {
	if a.json {
		return a.printJSON(groups)
	}
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintf(a.out, "group %s, %s, protocol %s, coordinator %d, %s, lag %d\n",
			g.Group, g.State, orDash(g.Protocol), g.Coordinator, count(int64(len(g.Members)), "member"), g.Lag)
		if len(g.Offsets) == 0 {
			continue
		}
		fmt.Fprintln(a.out)
		t := newTable(a.out, "TOPIC", "PARTITION", "COMMITTED", "START", "END", "LAG", "MEMBER", "CLIENT", "HOST", "ERROR")
		for _, o := range g.Offsets {
			t.row(o.Topic, o.Partition, offsetOrDash(o.Committed), offsetOrDash(o.Start), offsetOrDash(o.End), offsetOrDash(o.Lag),
				orDash(o.Member), orDash(o.ClientID), orDash(o.Host), orDash(o.Error))
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	return nil
}

// offsetOrDash shows an offset; -1 stands for none.
func offsetOrDash(o int64) string {
	if o < 0 {
		return "-"
	}
	return fmt.Sprint(o)
}
