package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func newGroupDeleteCommand(a *app) *cobra.Command {
	var ifExists bool
	cmd := &cobra.Command{
		Use:               "delete NAME...",
		Short:             "Delete empty groups and their committed offsets",
		Args:              atLeastOne("group names"),
		ValidArgsFunction: a.completeGroups,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
				answers, err := adm.DeleteGroups(ctx, names...)
				if err != nil {
					return fmt.Errorf("delete groups: %w", err)
				}
				results := []deletion{}
				for _, r := range answers.Sorted() {
					d := deletion{Name: r.Group, Status: "deleted", err: r.Err, message: r.ErrMessage}
					if errors.Is(r.Err, kerr.GroupIDNotFound) && ifExists {
						d.Status, d.err = "absent", nil
					}
					results = append(results, d)
				}
				return a.printDeletions(cmd, "group", results)
			})
		},
	}
	cmd.Flags().BoolVar(&ifExists, "if-exists", false, "it is no error if a group does not exist")
	return cmd
}
