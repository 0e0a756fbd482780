package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestRecordFormat(t *testing.T) {
	r := &kgo.Record{
		Topic: "t", Partition: 3, Offset: 42, Timestamp: time.UnixMilli(1700000000123),
		Key: []byte("key"), Value: []byte("value"),
		Headers: []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "b"}},
	}
	for format, want := range map[string]string{
		"":                        "",
		"plain":                   "plain",
		`%t/%p/%o %T`:             "t/3/42 1700000000123",
		`%k:%K %s:%S`:             "key:3 value:5",
		`%h`:                      "a=1,b=",
		`%R%s`:                    "\x00\x00\x00\x05value",
		`100%%\n\r\t\\\x41\x0a\0`: "100%\n\r\t\\A\n\x00",
	} {
		f, err := parseFormat(format)
		if err != nil {
			t.Fatalf("%q: %v", format, err)
		}
		equal(t, format, string(f.appendTo(nil, r)), want)
	}
	for _, bad := range []string{`%`, `%q`, `\`, `\q`, `\x`, `\x4`, `\xgg`} {
		if _, err := parseFormat(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestFormatAllocatesNothing(t *testing.T) {
	f, err := parseFormat(`%t %p %o %T %k %s %h\n`)
	if err != nil {
		t.Fatal(err)
	}
	r := &kgo.Record{Topic: "t", Key: []byte("k"), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "h"}}, Timestamp: time.UnixMilli(1)}
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { buf = f.appendTo(buf[:0], r) }); n != 0 {
		t.Fatalf("%v allocations for a record", n)
	}
}

func readAll(next recordReader) (pieces []string, err error) {
	for {
		b, err := next(context.Background())
		if errors.Is(err, io.EOF) {
			return pieces, nil
		}
		if err != nil {
			return pieces, err
		}
		pieces = append(pieces, string(b))
	}
}

func TestDelimitedReader(t *testing.T) {
	for _, x := range []struct{ input, delimiter, want string }{
		{"", "\n", ""},
		{"\n", "\n", "[]"},
		{"a\nb\n", "\n", "[a][b]"},
		{"a\n\nb", "\n", "[a][][b]"},
		{"a||b|c||", "||", "[a][b|c]"},
		{"a\x00b", "\x00", "[a][b]"},
	} {
		// One byte at a time, so that delimiters are split between reads.
		pieces, err := readAll(delimitedReader(iotest.OneByteReader(strings.NewReader(x.input)), []byte(x.delimiter), 1024))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range pieces {
			got += "[" + p + "]"
		}
		equal(t, x.input, got, x.want)
	}
}

func TestDelimitedReaderErrors(t *testing.T) {
	pieces, err := readAll(delimitedReader(strings.NewReader("ok\n"+strings.Repeat("x", 2000)), []byte("\n"), 1024))
	if len(pieces) != 1 || err == nil || !strings.Contains(err.Error(), "longer than 1024 bytes") {
		t.Fatalf("%v, %v", pieces, err)
	}
	broken := errors.New("broken")
	if _, err := readAll(delimitedReader(iotest.ErrReader(broken), []byte("\n"), 1024)); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	// A read that never ends is given up with the context.
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	next := delimitedReader(r, []byte("\n"), 1024)
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestParseTime(t *testing.T) {
	for s, want := range map[string]int64{
		"0":                           0,
		"1700000000123":               1700000000123,
		"2023-11-14T22:13:20Z":        1700000000000,
		"2023-11-14T23:13:20.5+01:00": 1700000000500,
	} {
		got, err := parseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, s, got.UnixMilli(), want)
	}
	local, err := parseTime("2023-11-14 22:13:20")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "local", local, time.Date(2023, 11, 14, 22, 13, 20, 0, time.Local))
}

// Whatever a format accepts it can apply.
func FuzzRecordFormat(f *testing.F) {
	f.Add(`%t %p %o %T %k %K %s %S %h %R %%\n\x41`)
	f.Add(`%`)
	f.Add(`\x4`)
	r := &kgo.Record{Headers: []kgo.RecordHeader{{}}}
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := parseFormat(s); err == nil {
			p.appendTo(nil, r)
		}
	})
}

// A record that was read from JSON prints to JSON that reads the same.
func FuzzJSONRecord(f *testing.F) {
	f.Add([]byte(`{"key":"k","value":null,"partition":1,"timestamp":5,"headers":[{"key":"a","value":"b"}]}`))
	f.Add([]byte(`{"key_base64":"/w==","value_base64":"gIE="}`))
	f.Add([]byte(`{"key":"a","key_base64":"YQ=="}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		first, err := parseJSONRecord(line, false)
		if err != nil {
			return
		}
		printed, err := newJSONWriter().line(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := parseJSONRecord(printed, false)
		if err != nil {
			t.Fatalf("%v in %s", err, printed)
		}
		if !sameBytes(first.Key, second.Key) || !sameBytes(first.Value, second.Value) || len(first.Headers) != len(second.Headers) {
			t.Fatalf("%s became %s", line, printed)
		}
		for i := range first.Headers {
			if first.Headers[i].Key != second.Headers[i].Key || !sameBytes(first.Headers[i].Value, second.Headers[i].Value) {
				t.Fatalf("%s became %s", line, printed)
			}
		}
	})
}

// sameBytes tells null from empty.
func sameBytes(x, y []byte) bool { return bytes.Equal(x, y) && (x == nil) == (y == nil) }
