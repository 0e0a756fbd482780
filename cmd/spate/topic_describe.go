package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func newTopicDescribeCommand(a *app) *cobra.Command {
	var allSettings bool
	cmd := &cobra.Command{
		Use:               "describe NAME...",
		Short:             "Show partitions, offsets and settings of topics",
		Args:              atLeastOne("topic names"),
		ValidArgsFunction: a.completeTopics,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.conn.admin(cmd.Context(), func(ctx context.Context, adm *kadm.Client) error {
				return a.topicDescribe(ctx, cmd, adm, names, allSettings)
			})
		},
	}
	cmd.Flags().BoolVar(&allSettings, "all-settings", false, "show all settings, not only those of the topic's own")
	return cmd
}

type describedTopic struct {
	Topic      string               `json:"topic"`
	ID         string               `json:"id,omitempty"`
	Internal   bool                 `json:"internal"`
	Partitions []describedPartition `json:"partitions"`
	Settings   []topicSetting       `json:"settings"`
}

type describedPartition struct {
	Partition   int32   `json:"partition"`
	Leader      int32   `json:"leader"`
	LeaderEpoch int32   `json:"leader_epoch"`
	Replicas    []int32 `json:"replicas"`
	ISR         []int32 `json:"isr"`
	Offline     []int32 `json:"offline,omitempty"`
	Start       int64   `json:"start_offset"` // -1: see error
	End         int64   `json:"end_offset"`   // high watermark; -1: see error
	Error       string  `json:"error,omitempty"`
}

type topicSetting struct {
	Name   string  `json:"name"`
	Value  *string `json:"value"` // null: none, or sensitive
	Source string  `json:"source"`
}

func (a *app) topicDescribe(ctx context.Context, cmd *cobra.Command, adm *kadm.Client, names []string, allSettings bool) error {
	details, err := adm.ListTopicsWithInternal(ctx, names...)
	if err != nil {
		return fmt.Errorf("describe topics: %w", err)
	}
	var failed error
	topics := []describedTopic{}
	for _, d := range details.Sorted() {
		t := describedTopic{}
		if err := d.Err; err == nil {
			t, err = describeTopic(ctx, adm, d, allSettings)
			if err == nil {
				topics = append(topics, t)
				continue
			}
			d.Err = err
		}
		a.printError(cmd, fmt.Errorf("topic %s: %w", quote(d.Topic), d.Err))
		failed = errReported
	}
	if err := a.printDescribedTopics(topics); err != nil {
		return err
	}
	return failed
}

func describeTopic(ctx context.Context, adm *kadm.Client, d kadm.TopicDetail, allSettings bool) (describedTopic, error) {
	t := describedTopic{Topic: d.Topic, Internal: d.IsInternal}
	t.ID = topicID(d.ID)
	starts, err := adm.ListStartOffsets(ctx, d.Topic)
	if err != nil {
		return t, fmt.Errorf("list start offsets: %w", err)
	}
	ends, err := adm.ListEndOffsets(ctx, d.Topic)
	if err != nil {
		return t, fmt.Errorf("list end offsets: %w", err)
	}
	for _, p := range d.Partitions.Sorted() {
		start, startErr := listedAt(starts, d.Topic, p.Partition)
		end, endErr := listedAt(ends, d.Topic, p.Partition)
		row := describedPartition{
			Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch,
			Replicas: p.Replicas, ISR: p.ISR, Offline: p.OfflineReplicas, Start: start, End: end,
		}
		if err := errors.Join(p.Err, startErr, endErr); err != nil {
			row.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		t.Partitions = append(t.Partitions, row)
	}
	t.Settings, err = describeSettings(ctx, adm, d.Topic, allSettings)
	return t, err
}

// listedAt finds one partition's offset; -1 with an error.
func listedAt(l kadm.ListedOffsets, topic string, partition int32) (int64, error) {
	o, ok := l.Lookup(topic, partition)
	switch {
	case !ok:
		return -1, errors.New("the broker did not answer for this partition")
	case o.Err != nil:
		return -1, o.Err
	}
	return o.Offset, nil
}

func describeSettings(ctx context.Context, adm *kadm.Client, topic string, all bool) ([]topicSetting, error) {
	resources, err := adm.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("describe settings: %w", err)
	}
	r, err := resources.On(topic, nil)
	if err != nil {
		return nil, fmt.Errorf("describe settings: %w", err)
	}
	if r.Err != nil {
		return nil, brokerError("describe settings", r.Err, r.ErrMessage)
	}
	settings := []topicSetting{}
	for _, c := range r.Configs {
		if all || c.Source == kmsg.ConfigSourceDynamicTopicConfig {
			settings = append(settings, topicSetting{c.Key, c.Value, c.Source.String()})
		}
	}
	slices.SortFunc(settings, func(x, y topicSetting) int { return strings.Compare(x.Name, y.Name) })
	return settings, nil
}

func (a *app) printDescribedTopics(topics []describedTopic) error {
	if a.json {
		return a.printJSON(topics)
	}
	for i, t := range topics {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintf(a.out, "topic %s, id %s, %s\n\n", t.Topic, orDash(t.ID), count(int64(len(t.Partitions)), "partition"))
		tab := newTable(a.out, "PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "START", "END", "ERROR")
		for _, p := range t.Partitions {
			tab.row(p.Partition, p.Leader, p.LeaderEpoch, ids(p.Replicas), ids(p.ISR), p.Start, p.End, orDash(p.Error))
		}
		if err := tab.flush(); err != nil {
			return err
		}
		if err := a.printSettings(t.Settings); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printSettings(settings []topicSetting) error {
	if len(settings) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	tab := newTable(a.out, "SETTING", "VALUE", "SOURCE")
	for _, s := range settings {
		value := "-"
		if s.Value != nil {
			value = *s.Value
		}
		tab.row(s.Name, value, s.Source)
	}
	return tab.flush()
}

// ids joins broker ids: "1,2,3".
func ids(ids []int32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
}
