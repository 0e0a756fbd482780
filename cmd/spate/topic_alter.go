package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

type topicAlter struct {
	set        []string
	unset      []string
	partitions int
}

func newTopicAlterCommand(a *app) *cobra.Command {
	var o topicAlter
	cmd := &cobra.Command{
		Use:   "alter NAME...",
		Short: "Change settings of topics or add partitions",
		Example: `  spate topic alter orders --set retention.ms=86400000 --unset cleanup.policy
  spate topic alter orders --partitions 24`,
		Args:              atLeastOne("topic names"),
		ValidArgsFunction: a.completeTopics,
		RunE:              func(cmd *cobra.Command, names []string) error { return a.topicAlter(cmd, o, names) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.set, "set", nil, "topic setting `KEY=VALUE`; may be given more than once")
	f.StringArrayVar(&o.unset, "unset", nil, "return the setting `KEY` to its default; may be given more than once")
	f.IntVarP(&o.partitions, "partitions", "p", 0, "raise the number of partitions to this")
	return cmd
}

// alteredTopic is one line of the result.
type alteredTopic struct {
	Topic  string `json:"topic"`
	Change string `json:"change"` // settings, partitions
}

func (o *topicAlter) configs() ([]kadm.AlterConfig, error) {
	var configs []kadm.AlterConfig
	for _, s := range o.set {
		k, v, err := splitSetting("set", s)
		if err != nil {
			return nil, err
		}
		configs = append(configs, kadm.AlterConfig{Op: kadm.SetConfig, Name: k, Value: &v})
	}
	for _, k := range o.unset {
		configs = append(configs, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: k})
	}
	return configs, nil
}

func (a *app) topicAlter(cmd *cobra.Command, o topicAlter, names []string) error {
	configs, err := o.configs()
	if err != nil {
		return err
	}
	grow := cmd.Flags().Changed("partitions")
	if grow && o.partitions < 1 {
		return usageError("--partitions %d: expected 1 or more", o.partitions)
	}
	if len(configs) == 0 && !grow {
		return usageError("nothing to change; give --set, --unset or --partitions")
	}
	return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
		altered, failed := []alteredTopic{}, false
		note := func(topic, change string, err error, message string) {
			if err != nil {
				a.printError(cmd, brokerError("topic "+quote(topic)+": "+change, err, message))
				failed = true
				return
			}
			altered = append(altered, alteredTopic{topic, change})
		}
		if len(configs) > 0 {
			answers, err := adm.AlterTopicConfigs(ctx, configs, names...)
			if err != nil {
				return fmt.Errorf("alter settings: %w", err)
			}
			for _, r := range answers {
				note(r.Name, "settings", r.Err, r.ErrMessage)
			}
		}
		if grow {
			answers, err := adm.UpdatePartitions(ctx, o.partitions, names...)
			if err != nil {
				return fmt.Errorf("add partitions: %w", err)
			}
			for _, r := range answers.Sorted() {
				note(r.Topic, "partitions", r.Err, r.ErrMessage)
			}
		}
		return a.printAltered(altered, failed)
	})
}

func (a *app) printAltered(altered []alteredTopic, failed bool) error {
	if a.json {
		if err := a.printJSON(altered); err != nil {
			return err
		}
	} else {
		for _, t := range altered {
			if _, err := fmt.Fprintf(a.out, "topic %s: %s altered\n", t.Topic, t.Change); err != nil {
				return err
			}
		}
	}
	if failed {
		return errReported
	}
	return nil
}
