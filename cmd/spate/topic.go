package main

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

func newTopicCommand(a *app) *cobra.Command {
	cmd := newParent("topic", "Create, list, describe, alter and delete topics",
		newTopicCreateCommand(a),
		newTopicListCommand(a),
		newTopicDescribeCommand(a),
		newTopicAlterCommand(a),
		newTopicDeleteCommand(a),
	)
	a.conn.addFlags(cmd)
	a.addJSONFlag(cmd.PersistentFlags())
	return cmd
}

// splitSetting splits KEY=VALUE of the named flag.
func splitSetting(flag, s string) (key, value string, err error) {
	key, value, ok := strings.Cut(s, "=")
	if key = strings.TrimSpace(key); !ok || key == "" {
		return "", "", usageError("--%s %s: expected KEY=VALUE, such as retention.ms=86400000", flag, quote(s))
	}
	return key, value, nil
}

// completeTopics offers the broker's topics to the shell.
func (a *app) completeTopics(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	err := a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
		topics, err := adm.ListTopics(ctx)
		if err == nil {
			names = topics.Names()
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// topicID words a topic id as Kafka's tools do; empty if there is none.
func topicID(id kadm.TopicID) string {
	if id == (kadm.TopicID{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}
