package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/twmb/franz-go/pkg/kgo"
)

// recordReader yields one piece of input at a time, which the caller owns;
// io.EOF at the end.
type recordReader func(ctx context.Context) ([]byte, error)

func valueReader(values []string) recordReader {
	return func(context.Context) ([]byte, error) {
		if len(values) == 0 {
			return nil, io.EOF
		}
		v := values[0]
		values = values[1:]
		return []byte(v), nil
	}
}

// delimitedReader cuts in at the delimiter; a last piece without one counts if
// it is not empty. Pieces longer than limit bytes are an error. A read that
// blocks is given up when ctx ends, so that Ctrl-C works at a terminal; the
// reader must not be used again after that.
func delimitedReader(in io.Reader, delimiter []byte, limit int) recordReader {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 0, min(64<<10, limit)), limit+len(delimiter))
	s.Split(splitAt(delimiter))
	type piece struct {
		data []byte
		err  error
	}
	pieces := make(chan piece, 16)
	started := false
	read := func(ctx context.Context) {
		for s.Scan() {
			select {
			case pieces <- piece{data: bytes.Clone(s.Bytes())}:
			case <-ctx.Done():
				return
			}
		}
		end := piece{err: io.EOF}
		if errors.Is(s.Err(), bufio.ErrTooLong) {
			end.err = fmt.Errorf("longer than %d bytes; raise --max-message-bytes", limit)
		} else if s.Err() != nil {
			end.err = fmt.Errorf("read input: %w", s.Err())
		}
		select {
		case pieces <- end:
		case <-ctx.Done():
		}
	}
	return func(ctx context.Context) ([]byte, error) {
		if !started {
			started = true
			go read(ctx)
		}
		select {
		case p := <-pieces:
			return p.data, p.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func splitAt(delimiter []byte) bufio.SplitFunc {
	return func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.Index(data, delimiter); i >= 0 {
			return i + len(delimiter), data[:i:i], nil
		}
		if atEOF && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	}
}

// parseOne makes a record of one piece of input.
func (o *produceOptions) parseOne(raw, keyDelimiter []byte) (*kgo.Record, error) {
	if o.jsonInput {
		return parseJSONRecord(raw, o.keepPart)
	}
	r := &kgo.Record{Value: raw, Partition: -1}
	if len(keyDelimiter) > 0 {
		key, value, ok := bytes.Cut(raw, keyDelimiter)
		if !ok {
			return nil, fmt.Errorf("key delimiter %s not found", quote(string(keyDelimiter)))
		}
		r.Key, r.Value = key, value
	}
	return r, nil
}
