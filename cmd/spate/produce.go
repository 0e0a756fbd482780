package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
)

type produceOptions struct {
	file         string
	delimiter    string
	keyDelimiter string
	key          string
	headers      []string
	partition    int32
	timestamp    string
	jsonInput    bool
	keepPart     bool
	nullEmpty    bool

	acks        string
	compression string
	idempotence bool
	linger      time.Duration
	maxBytes    int32
	noCreate    bool
}

func newProduceCommand(a *app) *cobra.Command {
	var o produceOptions
	cmd := &cobra.Command{
		Use:   "produce TOPIC [VALUE...]",
		Short: "Write records to a topic",
		Long: `Write records to a topic: the values named on the command line or, without
any, one record for each line of standard input.

With --json each acknowledged record is printed as a JSON line.`,
		Example: `  spate produce greetings hello world
  printf 'alice:1\nbob:2\n' | spate produce scores --key-delimiter :
  spate consume scores --exit --json | spate produce copy --json-input`,
		ValidArgsFunction: a.completeTopics,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return usageError("expected a topic name")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.produce(cmd, o, args[0], args[1:]) },
	}
	a.conn.addFlags(cmd)
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&a.json, "json", false, "print each acknowledged record as a JSON line")
	return cmd
}

func (o *produceOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "-", "read records from this `FILE` (-: standard input)")
	f.StringVarP(&o.delimiter, "delimiter", "D", `\n`, "what ends a record in the input; escapes as in --format of consume")
	f.StringVarP(&o.keyDelimiter, "key-delimiter", "K", "", "what divides key and value in a record (default: records have no key)")
	f.StringVarP(&o.key, "key", "k", "", "key of all records")
	f.StringArrayVarP(&o.headers, "header", "H", nil, "header `KEY=VALUE` of all records; may be given more than once")
	f.Int32VarP(&o.partition, "partition", "p", -1, "partition to write to (-1: by key, or spread)")
	f.StringVar(&o.timestamp, "timestamp", "", "`TIME` of all records, RFC 3339 or milliseconds since 1970 (default: now)")
	f.BoolVar(&o.jsonInput, "json-input", false, "each line is a JSON record, as 'spate consume --json' prints them")
	f.BoolVar(&o.keepPart, "keep-partitions", false, "with --json-input: write each record to the partition that it names")
	f.BoolVarP(&o.nullEmpty, "null-empty", "Z", false, "make empty keys and values null")
	f.StringVar(&o.acks, "acks", "all", "whose acknowledgement to wait for: all, 1 (leader) or 0 (none)")
	f.StringVarP(&o.compression, "compression", "z", "none", "none, gzip, snappy, lz4 or zstd")
	f.BoolVar(&o.idempotence, "idempotence", true, "let the broker drop duplicates of retries (needs --acks all)")
	f.DurationVar(&o.linger, "linger", 5*time.Millisecond, "how long to wait for more records for a batch")
	f.Int32Var(&o.maxBytes, "max-message-bytes", 1000000, "largest batch to send, in bytes; longer records are refused")
	f.BoolVar(&o.noCreate, "no-create", false, "do not let the broker create a missing topic")
}

// clientOptions checks the producer's settings.
func (o *produceOptions) clientOptions(cmd *cobra.Command, topic string) ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.DefaultProduceTopic(topic),
		kgo.ProducerLinger(o.linger),
		kgo.ProducerBatchMaxBytes(o.maxBytes),
		kgo.RecordPartitioner(o.partitioner()),
	}
	if o.maxBytes < 1024 || o.maxBytes > 1<<30 {
		return nil, usageError("--max-message-bytes %d: expected 1024 to %d", o.maxBytes, 1<<30)
	}
	if o.maxBytes > 100<<20-1024 {
		opts = append(opts, kgo.BrokerMaxWriteBytes(o.maxBytes+1024))
	}
	if !o.noCreate {
		opts = append(opts, kgo.AllowAutoTopicCreation())
	}
	switch o.acks {
	case "all", "-1":
		opts = append(opts, kgo.RequiredAcks(kgo.AllISRAcks()))
	case "1":
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()))
	case "0":
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()))
	default:
		return nil, usageError("--acks %s: expected all, 1 or 0", quote(o.acks))
	}
	if all := o.acks == "all" || o.acks == "-1"; !all || !o.idempotence {
		if o.idempotence && cmd.Flags().Changed("idempotence") {
			return nil, usageError("--idempotence needs --acks all, not --acks %s", o.acks)
		}
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	codec, ok := codecs[o.compression]
	if !ok {
		return nil, usageError("--compression %s: expected none, gzip, snappy, lz4 or zstd", quote(o.compression))
	}
	return append(opts, kgo.ProducerBatchCompression(codec)), nil
}

// partitioner is Kafka's own unless the records name their partitions.
func (o *produceOptions) partitioner() kgo.Partitioner {
	if o.partition >= 0 || o.keepPart {
		return kgo.ManualPartitioner()
	}
	return kgo.UniformBytesPartitioner(64<<10, true, true, nil)
}

func (a *app) produce(cmd *cobra.Command, o produceOptions, topic string, values []string) error {
	ctx := cmd.Context()
	opts, err := o.clientOptions(cmd, topic)
	if err != nil {
		return err
	}
	parse, err := o.parser(cmd)
	if err != nil {
		return err
	}
	next, closeInput, err := a.recordSource(o, values)
	if err != nil {
		return err
	}
	defer closeInput()
	cl, err := a.conn.client(ctx, opts...)
	if err != nil {
		return err
	}
	defer cl.Close()

	show := len(values) == 0 && isTerminal(a.errOut) && !isTerminal(a.in) && !(a.json && isTerminal(a.out))
	p := &producing{app: a, topic: topic, progress: startProgress("produced", a.errOut, show)}
	defer p.progress.finish()
	reading, giveUp := context.WithCancel(ctx)
	p.giveUp = giveUp
	defer giveUp()
	p.watchdog(cl, a.conn.timeout)
	defer p.stalled.Stop()
	return p.run(reading, cl, next, parse)
}

// producing is one run of the produce command.
type producing struct {
	app      *app
	topic    string
	progress *progress
	stalled  *time.Timer // reset by each acknowledgement
	timeout  time.Duration

	giveUp context.CancelFunc // ends the reading of input

	mu  sync.Mutex
	err error // the first one
}

// watchdog gives up when records wait and none has been acknowledged for a
// whole timeout. The client's own delivery timeout counts from a record's
// timestamp, which may lie in the past, so it is of no use here; and a record
// of an idempotent producer that may have been stored can only be given up by
// closing the client.
func (p *producing) watchdog(cl *kgo.Client, timeout time.Duration) {
	p.timeout = timeout
	p.stalled = time.AfterFunc(timeout, func() {
		if cl.BufferedProduceRecords() == 0 {
			p.stalled.Reset(timeout)
			return
		}
		p.fail(failure("the records may or may not have been stored; check that the broker is up, or raise --timeout",
			"topic %s: no acknowledgement for %s", quote(p.topic), timeout))
		cl.Close()
	})
}

func (p *producing) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	p.giveUp()
}

func (p *producing) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// run sends what next yields, waits for all acknowledgements and returns the
// first error. When it is interrupted it still delivers what it has read.
func (p *producing) run(ctx context.Context, cl *kgo.Client, next recordReader, parse recordParser) error {
	sendCtx := context.WithoutCancel(ctx)
	for n := 1; ctx.Err() == nil; n++ {
		raw, err := next(ctx)
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			break
		}
		var r *kgo.Record
		if err == nil {
			r, err = parse(raw)
		}
		if err != nil {
			p.fail(fmt.Errorf("record %d: %w", n, err))
			break
		}
		// Produce blocks while the client's buffer is full, which bounds memory.
		cl.Produce(sendCtx, r, p.acknowledged)
	}
	if err := cl.Flush(sendCtx); err != nil {
		p.fail(fmt.Errorf("flush: %w", err))
	}
	if err := p.failed(); err != nil {
		return err
	}
	return ctx.Err()
}

// acknowledged is the client's callback for each record.
func (p *producing) acknowledged(r *kgo.Record, err error) {
	if err != nil {
		p.fail(fmt.Errorf("topic %s: %w", quote(p.topic), err))
		return
	}
	p.stalled.Reset(p.timeout)
	p.progress.add(1, int64(len(r.Key)+len(r.Value)))
	if !p.app.json {
		return
	}
	if _, err := fmt.Fprintf(p.app.out, `{"topic":%q,"partition":%d,"offset":%d,"timestamp":%d}`+"\n",
		r.Topic, r.Partition, r.Offset, r.Timestamp.UnixMilli()); err != nil {
		p.fail(fmt.Errorf("write: %w", err))
	}
}

// recordParser makes a record of one piece of input.
type recordParser func(raw []byte) (*kgo.Record, error)

func (o *produceOptions) parser(cmd *cobra.Command) (recordParser, error) {
	if o.partition < -1 {
		return nil, usageError("--partition %d: expected a number from 0, or -1", o.partition)
	}
	fixedKey := cmd.Flags().Changed("key")
	if fixedKey && o.keyDelimiter != "" {
		return nil, usageError("--key and --key-delimiter exclude each other")
	}
	if o.keepPart && !o.jsonInput {
		return nil, usageError("--keep-partitions needs --json-input")
	}
	var keyDelimiter []byte
	if o.keyDelimiter != "" {
		var err error
		if keyDelimiter, err = parseDelimiter("key-delimiter", o.keyDelimiter); err != nil {
			return nil, err
		}
	}
	var headers []kgo.RecordHeader
	for _, s := range o.headers {
		k, v, ok := strings.Cut(s, "=")
		if !ok {
			return nil, usageError("--header %s: expected KEY=VALUE", quote(s))
		}
		headers = append(headers, kgo.RecordHeader{Key: k, Value: []byte(v)})
	}
	var at time.Time
	if o.timestamp != "" {
		var err error
		if at, err = parseTime(o.timestamp); err != nil {
			return nil, usageError("--timestamp %s: %v", quote(o.timestamp), err)
		}
	}
	return func(raw []byte) (*kgo.Record, error) {
		r, err := o.parseOne(raw, keyDelimiter)
		if err != nil {
			return nil, err
		}
		if fixedKey {
			r.Key = []byte(o.key)
		}
		if o.partition >= 0 {
			r.Partition = o.partition
		}
		if !at.IsZero() {
			r.Timestamp = at
		}
		r.Headers = append(r.Headers, headers...)
		if o.nullEmpty {
			r.Key, r.Value = nullIfEmpty(r.Key), nullIfEmpty(r.Value)
		}
		return r, nil
	}, nil
}

func nullIfEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// recordSource is the values of the command line, or the input cut at the
// delimiter.
func (a *app) recordSource(o produceOptions, values []string) (next recordReader, closeInput func(), err error) {
	closeInput = func() {}
	if len(values) > 0 {
		return valueReader(values), closeInput, nil
	}
	delimiter, err := parseDelimiter("delimiter", o.delimiter)
	if err != nil {
		return nil, nil, err
	}
	in := a.in
	if o.file != "-" {
		f, err := os.Open(o.file)
		if err != nil {
			return nil, nil, usageError("--file: %v", err)
		}
		in, closeInput = f, func() { f.Close() }
	} else if isTerminal(a.in) {
		fmt.Fprintln(a.errOut, "type records, one for each line; end with Ctrl-D")
	}
	return delimitedReader(in, delimiter, int(o.maxBytes)), closeInput, nil
}
