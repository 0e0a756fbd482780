package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

func newGroupListCommand(a *app) *cobra.Command {
	var states []string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List consumer groups",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
				return a.groupList(ctx, adm, states)
			})
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only groups in these `STATES`, such as Stable or Empty")
	return cmd
}

type listedGroup struct {
	Group        string `json:"group"`
	State        string `json:"state"`
	Type         string `json:"type,omitempty"`
	ProtocolType string `json:"protocol_type"`
	Coordinator  int32  `json:"coordinator"`
}

func (a *app) groupList(ctx context.Context, adm *kadm.Client, states []string) error {
	groups, err := adm.ListGroups(ctx, states...)
	if err != nil {
		return fmt.Errorf("list groups: %w", err)
	}
	listed := []listedGroup{}
	for _, g := range groups.Sorted() {
		listed = append(listed, listedGroup{g.Group, g.State, g.GroupType, g.ProtocolType, g.Coordinator})
	}
	if a.json {
		return a.printJSON(listed)
	}
	t := newTable(a.out, "GROUP", "STATE", "TYPE", "PROTOCOL TYPE", "COORDINATOR")
	for _, g := range listed {
		t.row(g.Group, orDash(g.State), orDash(g.Type), orDash(g.ProtocolType), g.Coordinator)
	}
	return t.flush()
}
