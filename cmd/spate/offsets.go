package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// logRange is one partition's offsets as the broker reports them.
type logRange struct {
	topic      string
	partition  int32
	start, end int64
	atTime     int64 // first offset at or after the wanted time; end if there is none
}

// lookUpLogs finds the range of each wanted partition (nil: all of the topic),
// sorted by topic and partition. With committed the end is the last stable
// offset. Without a time, atTime is the end.
func lookUpLogs(ctx context.Context, adm *kadm.Client, topics map[string][]int32, committed bool, at *time.Time) ([]logRange, error) {
	names := slices.Sorted(maps.Keys(topics))
	details, err := requireTopics(ctx, adm, names)
	if err != nil {
		return nil, err
	}
	starts, err := adm.ListStartOffsets(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("list start offsets: %w", err)
	}
	listEnds := adm.ListEndOffsets
	if committed {
		listEnds = adm.ListCommittedOffsets
	}
	ends, err := listEnds(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("list end offsets: %w", err)
	}
	times := ends
	if at != nil {
		if times, err = adm.ListOffsetsAfterMilli(ctx, at.UnixMilli(), names...); err != nil {
			return nil, fmt.Errorf("list offsets by time: %w", err)
		}
	}
	var logs []logRange
	for _, topic := range names {
		partitions := topics[topic]
		if partitions == nil {
			partitions = details[topic].Partitions.Numbers()
		}
		partitions = slices.Sorted(slices.Values(partitions))
		for _, p := range slices.Compact(partitions) {
			l, err := lookUpLog(starts, ends, times, topic, p)
			if err != nil {
				return nil, err
			}
			logs = append(logs, l)
		}
	}
	return logs, nil
}

func lookUpLog(starts, ends, times kadm.ListedOffsets, topic string, p int32) (logRange, error) {
	l := logRange{topic: topic, partition: p}
	for _, x := range []struct {
		from kadm.ListedOffsets
		to   *int64
	}{{starts, &l.start}, {ends, &l.end}, {times, &l.atTime}} {
		o, ok := x.from.Lookup(topic, p)
		if !ok {
			return l, failure("'spate topic describe' shows the partitions", "topic %s has no partition %d", quote(topic), p)
		}
		if o.Err != nil {
			return l, fmt.Errorf("topic %s partition %d: %w", quote(topic), p, o.Err)
		}
		*x.to = o.Offset
	}
	if l.atTime < 0 {
		l.atTime = l.end
	}
	return l, nil
}

// requireTopics looks topics up and fails with the first that does not exist.
func requireTopics(ctx context.Context, adm *kadm.Client, names []string) (kadm.TopicDetails, error) {
	details, err := adm.ListTopicsWithInternal(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("look up topics: %w", err)
	}
	for _, name := range names {
		d, ok := details[name]
		if !ok {
			return nil, failure("", "topic %s: the broker did not answer for it", quote(name))
		}
		if d.Err != nil {
			return nil, fmt.Errorf("topic %s: %w", quote(name), d.Err)
		}
	}
	return details, nil
}
