package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

type consumeOptions struct {
	from        string
	until       string
	exit        bool
	partitions  []string
	count       int64
	idle        time.Duration
	group       string
	instance    string
	format      string
	uncommitted bool
}

func newConsumeCommand(a *app) *cobra.Command {
	var o consumeOptions
	cmd := &cobra.Command{
		Use:   "consume TOPIC...",
		Short: "Read records of topics",
		Long: `Read records of topics and print them, by default each value on a line of its
own. It goes on with new records as they come until it is interrupted, unless
--exit, --until, --count or --idle says when to end.

` + formatHelp,
		Example: `  spate consume orders --exit
  spate consume orders --from @2026-11-30T00:00:00Z --format '%p:%o %T %k=%s\n'
  spate consume orders --from -10 --until end --json
  spate consume orders --group billing`,
		Args:              atLeastOne("topic names"),
		ValidArgsFunction: a.completeTopics,
		RunE:              func(cmd *cobra.Command, topics []string) error { return a.consume(cmd, o, topics) },
	}
	a.conn.addFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.from, "from", "o", "beginning", "where to start: beginning, end, an `OFFSET`, -N (N records before the end) or @TIME; with --group where there is no committed offset")
	f.StringVar(&o.until, "until", "", "where to end: end (as it is at the start), an `OFFSET` (excluded) or @TIME (excluded)")
	f.BoolVarP(&o.exit, "exit", "e", false, "same as --until end")
	f.StringSliceVarP(&o.partitions, "partitions", "p", nil, "only these partitions, `N[,N]`")
	f.Int64VarP(&o.count, "count", "c", 0, "end after this many records (0: no limit)")
	f.DurationVar(&o.idle, "idle", 0, "end when no record has come for this long (0: never)")
	f.StringVarP(&o.group, "group", "g", "", "read as a member of this consumer group and commit offsets")
	f.StringVar(&o.instance, "instance", "", "static member id in the group (KIP-345)")
	f.StringVarP(&o.format, "format", "f", `%s\n`, "how to print a record; see above")
	f.BoolVar(&o.uncommitted, "uncommitted", false, "include records of transactions that are open or were aborted")
	f.BoolVar(&a.json, "json", false, "print records as JSON lines")
	return cmd
}

// check refuses combinations of flags that make no sense.
func (o *consumeOptions) check(cmd *cobra.Command, json bool) error {
	if o.exit && o.until != "" && o.until != "end" {
		return usageError("--exit and --until exclude each other")
	}
	if o.exit {
		o.until = "end"
	}
	if o.count < 0 {
		return usageError("--count %d: expected a number from 0", o.count)
	}
	if o.idle < 0 {
		return usageError("--idle %s: must not be negative", o.idle)
	}
	if o.group != "" && (o.until != "" || len(o.partitions) > 0) {
		return usageError("--group excludes --until, --exit and --partitions, as the group decides who reads what; use --count or --idle to end")
	}
	if o.instance != "" && o.group == "" {
		return usageError("--instance needs --group")
	}
	if json && cmd.Flags().Changed("format") {
		return usageError("--format and --json exclude each other")
	}
	return nil
}

func (a *app) consume(cmd *cobra.Command, o consumeOptions, topics []string) error {
	ctx := cmd.Context()
	if err := o.check(cmd, a.json); err != nil {
		return err
	}
	from, err := parsePosition("from", o.from)
	if err != nil {
		return err
	}
	var until *position
	if o.until != "" {
		p, err := parsePosition("until", o.until)
		if err != nil {
			return err
		}
		if p.kind == atBeginning || p.kind == beforeEnd {
			return usageError("--until %s: expected end, an offset or @TIME", quote(o.until))
		}
		until = &p
	}
	partitions, err := parsePartitions(o.partitions)
	if err != nil {
		return usageError("--partitions: %v", err)
	}
	format, err := a.recordWriter(o.format)
	if err != nil {
		return err
	}
	return a.consumeFrom(ctx, o, consumePlan{topics, partitions, from, until}, format)
}

// recordWriter is how a record is printed: appended to a buffer.
func (a *app) recordWriter(format string) (func([]byte, *kgo.Record) ([]byte, error), error) {
	if a.json {
		w := newJSONWriter()
		return func(b []byte, r *kgo.Record) ([]byte, error) {
			line, err := w.line(r)
			return append(b, line...), err
		}, nil
	}
	f, err := parseFormat(format)
	if err != nil {
		return nil, usageError("--format %s: %v", quote(format), err)
	}
	return func(b []byte, r *kgo.Record) ([]byte, error) { return f.appendTo(b, r), nil }, nil
}

func (a *app) consumeFrom(ctx context.Context, o consumeOptions, plan consumePlan, format func([]byte, *kgo.Record) ([]byte, error)) error {
	var ranges map[topicPartition]offsetRange
	err := a.conn.admin(ctx, func(ctx context.Context, adm *kadm.Client) error {
		if o.group != "" {
			_, err := requireTopics(ctx, adm, plan.topics)
			return err
		}
		var err error
		ranges, err = plan.resolve(ctx, adm, !o.uncommitted)
		return err
	})
	if err != nil {
		return err
	}
	c := &consuming{
		out: bufio.NewWriterSize(a.out, 256<<10), format: format, count: o.count, idle: o.idle,
		ranges: ranges, bounded: plan.until != nil,
		progress: startProgress("consumed", a.errOut, isTerminal(a.errOut) && !isTerminal(a.out)),
	}
	defer c.progress.finish()
	if c.atEnd() {
		return nil
	}
	cl, err := a.conn.client(ctx, consumerOptions(o, plan, ranges)...)
	if err != nil {
		return err
	}
	if o.group != "" {
		c.group = cl
	}
	err = c.run(ctx, cl)
	if leaveErr := c.leave(ctx, cl, a.conn.timeout); err == nil {
		err = leaveErr
	}
	return err
}

func consumerOptions(o consumeOptions, plan consumePlan, ranges map[topicPartition]offsetRange) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.FetchMaxWait(500 * time.Millisecond),
		// Control records are never printed, but they move a partition's position
		// past the end of a transaction.
		kgo.KeepControlRecords(),
	}
	if !o.uncommitted {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if o.group == "" {
		starts := map[string]map[int32]kgo.Offset{}
		for tp, r := range ranges {
			if starts[tp.topic] == nil {
				starts[tp.topic] = map[int32]kgo.Offset{}
			}
			starts[tp.topic][tp.partition] = kgo.NewOffset().At(r.start)
		}
		return append(opts, kgo.ConsumePartitions(starts))
	}
	opts = append(opts,
		kgo.ConsumerGroup(o.group), kgo.ConsumeTopics(plan.topics...),
		kgo.ConsumeStartOffset(plan.from.clientOffset()),
		kgo.AutoCommitMarks(), kgo.BlockRebalanceOnPoll(),
	)
	if o.instance != "" {
		opts = append(opts, kgo.InstanceID(o.instance))
	}
	return opts
}

// consuming is one run of the consume command.
type consuming struct {
	out      *bufio.Writer
	buf      []byte
	format   func([]byte, *kgo.Record) ([]byte, error)
	progress *progress
	group    *kgo.Client // nil: no group

	count   int64 // 0: no limit
	idle    time.Duration
	bounded bool
	ranges  map[topicPartition]offsetRange // what is still to be read; without a group
}

// atEnd tells whether every partition has reached its bound.
func (c *consuming) atEnd() bool {
	if !c.bounded {
		return false
	}
	for _, r := range c.ranges {
		if r.start < r.end {
			return false
		}
	}
	return true
}

// run polls and prints until there is a reason to end.
func (c *consuming) run(ctx context.Context, cl *kgo.Client) error {
	for {
		fetches, err := c.poll(ctx, cl)
		if ctx.Err() != nil {
			return c.interrupted(ctx)
		}
		if errors.Is(err, errIdle) {
			return nil
		}
		if err != nil {
			return err
		}
		done, err := c.print(fetches)
		if err != nil || done {
			return err
		}
		if c.group != nil {
			cl.AllowRebalance()
		}
	}
}

// interrupted is an ordinary end where no other was asked for.
func (c *consuming) interrupted(ctx context.Context) error {
	if c.bounded || c.count > 0 {
		return ctx.Err()
	}
	return nil
}

var errIdle = errors.New("no record has come for as long as --idle allows")

func (c *consuming) poll(ctx context.Context, cl *kgo.Client) (kgo.Fetches, error) {
	pollCtx, cancel := ctx, context.CancelFunc(func() {})
	if c.idle > 0 {
		pollCtx, cancel = context.WithTimeout(ctx, c.idle)
	}
	defer cancel()
	fetches := cl.PollRecords(pollCtx, 10000)
	if pollCtx.Err() != nil && fetches.Empty() {
		return nil, errIdle
	}
	for _, e := range fetches.Errors() {
		if e.Err == context.Canceled || e.Err == context.DeadlineExceeded {
			continue
		}
		if e.Topic == "" {
			return nil, e.Err
		}
		return nil, fmt.Errorf("topic %s partition %d: %w", quote(e.Topic), e.Partition, e.Err)
	}
	return fetches, nil
}

// print writes the records that are wanted and tells whether it is time to end.
// Records count as read (for the group's commits) once the output has taken them.
func (c *consuming) print(fetches kgo.Fetches) (done bool, err error) {
	var last []*kgo.Record
	for it := fetches.RecordIter(); !it.Done() && !done; {
		r := it.Next()
		wanted := c.advance(r)
		if wanted {
			if err := c.write(r); err != nil {
				return true, err
			}
			done = c.count > 0 && c.progress.records.Load() >= c.count
		}
		last = append(last, r)
	}
	if err := c.out.Flush(); err != nil {
		return true, fmt.Errorf("write: %w", err)
	}
	if c.group != nil {
		c.group.MarkCommitRecords(last...)
	}
	return done || c.atEnd(), nil
}

func (c *consuming) write(r *kgo.Record) (err error) {
	if c.buf, err = c.format(c.buf[:0], r); err != nil {
		return err
	}
	if _, err := c.out.Write(c.buf); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	c.progress.add(1, int64(len(r.Key)+len(r.Value)))
	return nil
}

// advance moves the partition's position past r and tells whether r is to be
// printed.
func (c *consuming) advance(r *kgo.Record) bool {
	if c.group != nil || !c.bounded {
		return !r.Attrs.IsControl()
	}
	tp := topicPartition{r.Topic, r.Partition}
	bound := c.ranges[tp]
	bound.start = r.Offset + 1
	c.ranges[tp] = bound
	return !r.Attrs.IsControl() && r.Offset < bound.end
}

// leave commits what has been printed and leaves the group, also after an
// interrupt.
func (c *consuming) leave(ctx context.Context, cl *kgo.Client, timeout time.Duration) error {
	defer cl.Close()
	if c.group == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	defer cl.AllowRebalance()
	if err := cl.CommitMarkedOffsets(ctx); err != nil {
		return fmt.Errorf("commit offsets: %w", err)
	}
	return nil
}
