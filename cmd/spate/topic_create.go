package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

type topicCreate struct {
	partitions   int32
	replication  int16
	settings     []string
	ifNotExists  bool
	validateOnly bool
}

func newTopicCreateCommand(a *app) *cobra.Command {
	var o topicCreate
	cmd := &cobra.Command{
		Use:   "create NAME...",
		Short: "Create topics",
		Example: `  spate topic create orders
  spate topic create orders --partitions 12 --set retention.ms=604800000`,
		Args: atLeastOne("topic names"),
		RunE: func(cmd *cobra.Command, names []string) error { return a.topicCreate(cmd, o, names) },
	}
	f := cmd.Flags()
	f.Int32VarP(&o.partitions, "partitions", "p", -1, "number of partitions (-1: the broker's num.partitions)")
	f.Int16Var(&o.replication, "replication", -1, "number of replicas (-1: the broker's default.replication.factor)")
	f.StringArrayVar(&o.settings, "set", nil, "topic setting `KEY=VALUE`; may be given more than once")
	f.BoolVar(&o.ifNotExists, "if-not-exists", false, "it is no error if a topic exists")
	f.BoolVar(&o.validateOnly, "validate-only", false, "let the broker check the request without creating anything")
	return cmd
}

// createdTopic is one line of the result.
type createdTopic struct {
	Topic             string `json:"topic"`
	ID                string `json:"id,omitempty"`
	Partitions        int32  `json:"partitions,omitempty"`
	ReplicationFactor int16  `json:"replication_factor,omitempty"`
	Status            string `json:"status"` // created, exists, valid
}

func (a *app) topicCreate(cmd *cobra.Command, o topicCreate, names []string) error {
	if o.partitions == 0 || o.partitions < -1 {
		return usageError("--partitions %d: expected 1 or more, or -1 for the broker's default", o.partitions)
	}
	if o.replication == 0 || o.replication < -1 {
		return usageError("--replication %d: expected 1 or more, or -1 for the broker's default", o.replication)
	}
	configs := map[string]*string{}
	for _, s := range o.settings {
		k, v, err := splitSetting("set", s)
		if err != nil {
			return err
		}
		configs[k] = &v
	}
	return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
		create := adm.CreateTopics
		if o.validateOnly {
			create = adm.ValidateCreateTopics
		}
		answers, err := create(ctx, o.partitions, o.replication, configs, names...)
		if err != nil {
			return fmt.Errorf("create topics: %w", err)
		}
		return a.printCreated(cmd, o, answers.Sorted())
	})
}

func (a *app) printCreated(cmd *cobra.Command, o topicCreate, answers []kadm.CreateTopicResponse) error {
	var failed error
	created := []createdTopic{}
	for _, r := range answers {
		t := createdTopic{Topic: r.Topic, Partitions: max(r.NumPartitions, 0), ReplicationFactor: max(r.ReplicationFactor, 0), Status: "created"}
		t.ID = topicID(r.ID)
		if o.validateOnly {
			t.Status = "valid"
		}
		switch {
		case errors.Is(r.Err, kerr.TopicAlreadyExists) && o.ifNotExists:
			t = createdTopic{Topic: r.Topic, Status: "exists"}
		case r.Err != nil:
			a.printError(cmd, brokerError("topic "+quote(r.Topic), r.Err, r.ErrMessage))
			failed = errReported
			continue
		}
		created = append(created, t)
	}
	if err := a.printCreatedList(created); err != nil {
		return err
	}
	return failed
}

func (a *app) printCreatedList(created []createdTopic) error {
	if a.json {
		return a.printJSON(created)
	}
	if len(created) == 0 {
		return nil
	}
	t := newTable(a.out, "TOPIC", "PARTITIONS", "REPLICATION", "STATUS")
	for _, c := range created {
		t.row(c.Topic, numberOrDash(int64(c.Partitions)), numberOrDash(int64(c.ReplicationFactor)), c.Status)
	}
	return t.flush()
}

// numberOrDash shows a number that the broker may have left out (0).
func numberOrDash(n int64) string {
	if n <= 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
