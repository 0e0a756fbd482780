package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

type topicPartition struct {
	topic     string
	partition int32
}

// offsetRange is what is to be read of one partition: start ≤ offset < end.
type offsetRange struct{ start, end int64 }

// position is a place in a log as the command line names it.
type position struct {
	kind  positionKind
	value int64 // offset, number of records or milliseconds since 1970
}

type positionKind uint8

const (
	atBeginning positionKind = iota + 1
	atEnd
	atOffset
	beforeEnd
	atTime
)

// parsePosition reads beginning, end, OFFSET, -N or @TIME.
func parsePosition(flag, s string) (position, error) {
	switch s {
	case "beginning":
		return position{kind: atBeginning}, nil
	case "end":
		return position{kind: atEnd}, nil
	}
	if at, ok := strings.CutPrefix(s, "@"); ok {
		t, err := parseTime(at)
		if err != nil {
			return position{}, usageError("--%s %s: %v", flag, quote(s), err)
		}
		return position{atTime, t.UnixMilli()}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return position{}, usageError("--%s %s: expected beginning, end, an offset, -N or @TIME", flag, quote(s))
	case n < 0:
		return position{beforeEnd, -n}, nil
	}
	return position{atOffset, n}, nil
}

// clientOffset is the position for a group's partitions without commits.
func (p position) clientOffset() kgo.Offset {
	switch p.kind {
	case atEnd:
		return kgo.NewOffset().AtEnd()
	case atOffset:
		return kgo.NewOffset().At(p.value)
	case beforeEnd:
		return kgo.NewOffset().AtEnd().Relative(-p.value)
	case atTime:
		return kgo.NewOffset().AfterMilli(p.value)
	}
	return kgo.NewOffset().AtStart()
}

// in is the position's offset in a partition's log, never outside of it.
func (p position) in(l logRange) int64 {
	o := l.start
	switch p.kind {
	case atEnd:
		o = l.end
	case atOffset:
		o = p.value
	case beforeEnd:
		o = l.end - p.value
	case atTime:
		o = l.atTime
	}
	return min(max(o, l.start), l.end)
}

// consumePlan says what is to be read.
type consumePlan struct {
	topics     []string
	partitions []int32 // nil: all
	from       position
	until      *position // nil: go on with new records
}

// resolve asks the broker for the offsets that the plan stands for. A committed
// read ends where the first open transaction begins.
func (p consumePlan) resolve(ctx context.Context, adm *kadm.Client, committed bool) (map[topicPartition]offsetRange, error) {
	topics := map[string][]int32{}
	for _, t := range p.topics {
		topics[t] = p.partitions
	}
	logs, err := lookUpLogs(ctx, adm, topics, committed, timeOf(p.from))
	if err != nil {
		return nil, err
	}
	ends := logs
	if p.until != nil && p.until.kind == atTime {
		if ends, err = lookUpLogs(ctx, adm, topics, committed, timeOf(*p.until)); err != nil {
			return nil, err
		}
	}
	ranges := map[topicPartition]offsetRange{}
	for i, l := range logs {
		r := offsetRange{start: p.from.in(l)}
		if p.until != nil {
			r.end = p.until.in(ends[i])
		}
		ranges[topicPartition{l.topic, l.partition}] = r
	}
	return ranges, nil
}

// timeOf is the time of a position that is one.
func timeOf(p position) *time.Time {
	if p.kind != atTime {
		return nil
	}
	t := time.UnixMilli(p.value)
	return &t
}
