package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

func newTopicListCommand(a *app) *cobra.Command {
	var internal bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List topics",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
				return a.topicList(ctx, adm, internal)
			})
		},
	}
	cmd.Flags().BoolVar(&internal, "internal", false, "include internal topics")
	return cmd
}

type listedTopic struct {
	Topic      string `json:"topic"`
	ID         string `json:"id,omitempty"`
	Partitions int    `json:"partitions"`
	Replicas   int    `json:"replication_factor"`
	Internal   bool   `json:"internal"`
}

func (a *app) topicList(ctx context.Context, adm *kadm.Client, internal bool) error {
	listTopics := adm.ListTopics
	if internal {
		listTopics = adm.ListTopicsWithInternal
	}
	topics, err := listTopics(ctx)
	if err != nil {
		return fmt.Errorf("list topics: %w", err)
	}
	listed := []listedTopic{}
	for _, t := range topics.Sorted() {
		if t.Err != nil {
			return fmt.Errorf("topic %s: %w", quote(t.Topic), t.Err)
		}
		l := listedTopic{Topic: t.Topic, Partitions: len(t.Partitions), Replicas: t.Partitions.NumReplicas(), Internal: t.IsInternal}
		l.ID = topicID(t.ID)
		listed = append(listed, l)
	}
	if a.json {
		return a.printJSON(listed)
	}
	tab := newTable(a.out, "TOPIC", "PARTITIONS", "REPLICATION")
	for _, l := range listed {
		tab.row(l.Topic, l.Partitions, l.Replicas)
	}
	return tab.flush()
}
