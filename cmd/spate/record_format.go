package main

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// recordFormat prints records after a format string whose tokens are kcat's:
//
//	%s value        %S its length in bytes, -1 if null
//	%k key          %K its length in bytes, -1 if null
//	%R value's length as a big-endian 32-bit number, -1 if null
//	%h headers, key=value joined by commas
//	%t topic        %p partition        %o offset
//	%T timestamp in milliseconds since 1970
//	%% \n \r \t \\ \xNN
type recordFormat struct {
	parts []func(b []byte, r *kgo.Record) []byte
}

const formatHelp = `Format: %s value, %k key, %S and %K their lengths (-1: null), %R the value's
length as a big-endian 32-bit number, %h headers, %t topic, %p partition,
%o offset, %T timestamp in ms, %% \n \r \t \\ \xNN.`

// appendTo formats one record onto b.
func (f *recordFormat) appendTo(b []byte, r *kgo.Record) []byte {
	for _, p := range f.parts {
		b = p(b, r)
	}
	return b
}

func parseFormat(s string) (*recordFormat, error) {
	f := &recordFormat{}
	var text []byte
	flush := func() {
		if len(text) > 0 {
			fixed := text
			text = nil
			f.parts = append(f.parts, func(b []byte, _ *kgo.Record) []byte { return append(b, fixed...) })
		}
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			c, n, err := unescape(s[i:])
			if err != nil {
				return nil, err
			}
			text = append(text, c)
			i += n - 1
		case '%':
			i++
			if i == len(s) {
				return nil, fmt.Errorf("it ends in a lone %%; write %%%% for a percent sign")
			}
			if s[i] == '%' {
				text = append(text, '%')
				continue
			}
			part, ok := formatTokens[s[i]]
			if !ok {
				return nil, fmt.Errorf("%%%c is not a token; there are %%s %%S %%R %%k %%K %%h %%t %%p %%o %%T %%%%", s[i])
			}
			flush()
			f.parts = append(f.parts, part)
		default:
			text = append(text, s[i])
		}
	}
	flush()
	return f, nil
}

var formatTokens = map[byte]func([]byte, *kgo.Record) []byte{
	's': func(b []byte, r *kgo.Record) []byte { return append(b, r.Value...) },
	'S': func(b []byte, r *kgo.Record) []byte { return strconv.AppendInt(b, lengthOf(r.Value), 10) },
	'R': func(b []byte, r *kgo.Record) []byte {
		return binary.BigEndian.AppendUint32(b, uint32(lengthOf(r.Value)))
	},
	'k': func(b []byte, r *kgo.Record) []byte { return append(b, r.Key...) },
	'K': func(b []byte, r *kgo.Record) []byte { return strconv.AppendInt(b, lengthOf(r.Key), 10) },
	'h': appendHeaders,
	't': func(b []byte, r *kgo.Record) []byte { return append(b, r.Topic...) },
	'p': func(b []byte, r *kgo.Record) []byte { return strconv.AppendInt(b, int64(r.Partition), 10) },
	'o': func(b []byte, r *kgo.Record) []byte { return strconv.AppendInt(b, r.Offset, 10) },
	'T': func(b []byte, r *kgo.Record) []byte { return strconv.AppendInt(b, r.Timestamp.UnixMilli(), 10) },
}

// lengthOf is the length of a key or value, -1 for null.
func lengthOf(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

func appendHeaders(b []byte, r *kgo.Record) []byte {
	for i, h := range r.Headers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, h.Key...), '='), h.Value...)
	}
	return b
}

// unescape reads the escape at the start of s and tells its length.
func unescape(s string) (c byte, n int, err error) {
	if len(s) < 2 {
		return 0, 0, fmt.Errorf(`it ends in a lone backslash; write \\ for a backslash`)
	}
	switch s[1] {
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case '\\':
		return '\\', 2, nil
	case '0':
		return 0, 2, nil
	case 'x':
		if len(s) >= 4 {
			if v, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
				return byte(v), 4, nil
			}
		}
		return 0, 0, fmt.Errorf(`\x needs two hexadecimal digits`)
	}
	return 0, 0, fmt.Errorf(`\%c is not an escape; there are \n \r \t \0 \\ \xNN`, s[1])
}

// parseDelimiter reads a delimiter that may contain escapes.
func parseDelimiter(flag, s string) ([]byte, error) {
	var out []byte
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			out = append(out, s[i])
			i++
			continue
		}
		c, n, err := unescape(s[i:])
		if err != nil {
			return nil, usageError("--%s %s: %v", flag, quote(s), err)
		}
		out = append(out, c)
		i += n
	}
	if len(out) == 0 {
		return nil, usageError("--%s: must not be empty", flag)
	}
	return out, nil
}
