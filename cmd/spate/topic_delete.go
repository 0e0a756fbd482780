package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func newTopicDeleteCommand(a *app) *cobra.Command {
	var ifExists bool
	cmd := &cobra.Command{
		Use:               "delete NAME...",
		Short:             "Delete topics and all their records",
		Args:              atLeastOne("topic names"),
		ValidArgsFunction: a.completeTopics,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
				answers, err := adm.DeleteTopics(ctx, names...)
				if err != nil {
					return fmt.Errorf("delete topics: %w", err)
				}
				results := []deletion{}
				for _, r := range answers.Sorted() {
					d := deletion{Name: r.Topic, Status: "deleted", err: r.Err, message: r.ErrMessage}
					if errors.Is(r.Err, kerr.UnknownTopicOrPartition) && ifExists {
						d.Status, d.err = "absent", nil
					}
					results = append(results, d)
				}
				return a.printDeletions(cmd, "topic", results)
			})
		},
	}
	cmd.Flags().BoolVar(&ifExists, "if-exists", false, "it is no error if a topic does not exist")
	return cmd
}

// deletion is the outcome for one deleted topic or group.
type deletion struct {
	Name   string `json:"name"`
	Status string `json:"status"` // deleted, absent

	err     error
	message string
}

// printDeletions prints what was deleted and reports what was not.
func (a *app) printDeletions(cmd *cobra.Command, kind string, all []deletion) error {
	var failed error
	done := []deletion{}
	for _, d := range all {
		if d.err != nil {
			a.printError(cmd, brokerError(kind+" "+quote(d.Name), d.err, d.message))
			failed = errReported
			continue
		}
		done = append(done, d)
	}
	if a.json {
		if err := a.printJSON(done); err != nil {
			return err
		}
		return failed
	}
	for _, d := range done {
		if _, err := fmt.Fprintf(a.out, "%s %s: %s\n", kind, d.Name, d.Status); err != nil {
			return err
		}
	}
	return failed
}
