package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

func newGroupCommand(a *app) *cobra.Command {
	cmd := newParent("group", "List, describe, reset and delete consumer groups",
		newGroupListCommand(a),
		newGroupDescribeCommand(a),
		newGroupResetCommand(a),
		newGroupDeleteCommand(a),
	)
	a.conn.addFlags(cmd)
	a.addJSONFlag(cmd.PersistentFlags())
	return cmd
}

// completeGroups offers the broker's groups to the shell.
func (a *app) completeGroups(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	err := a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
		groups, err := adm.ListGroups(ctx)
		if err == nil {
			names = groups.Groups()
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
