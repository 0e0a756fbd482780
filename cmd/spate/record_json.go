package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// jsonRecord is one record as a JSON line: what consume prints and produce
// reads. Bytes that are valid UTF-8 are strings, null is null, and anything else
// is base64 under a name of its own, so that every record survives a round trip.
type jsonRecord struct {
	Topic       string       `json:"topic,omitempty"`
	Partition   *int32       `json:"partition,omitempty"`
	Offset      *int64       `json:"offset,omitempty"`
	Timestamp   *int64       `json:"timestamp,omitempty"` // ms since 1970
	Key         *string      `json:"key"`
	KeyBase64   *string      `json:"key_base64,omitempty"`
	Headers     []jsonHeader `json:"headers,omitempty"`
	Value       *string      `json:"value"`
	ValueBase64 *string      `json:"value_base64,omitempty"`
}

type jsonHeader struct {
	Key         string  `json:"key"`
	Value       *string `json:"value"`
	ValueBase64 *string `json:"value_base64,omitempty"`
}

// toJSON fits bytes into one of the two forms.
func toJSON(b []byte) (text, encoded *string) {
	if b == nil {
		return nil, nil
	}
	s := string(b)
	if utf8.ValidString(s) {
		return &s, nil
	}
	s = base64.StdEncoding.EncodeToString(b)
	return nil, &s
}

// fromJSON is the inverse of toJSON.
func fromJSON(field string, text, encoded *string) ([]byte, error) {
	switch {
	case text != nil && encoded != nil:
		return nil, fmt.Errorf("%s and %s_base64 are both given", field, field)
	case encoded != nil:
		b, err := base64.StdEncoding.DecodeString(*encoded)
		if err != nil {
			return nil, fmt.Errorf("%s_base64: %w", field, err)
		}
		return b, nil
	case text != nil:
		return []byte(*text), nil
	}
	return nil, nil
}

// jsonWriter appends records as JSON lines to a buffer that it reuses.
type jsonWriter struct {
	buf bytes.Buffer
	enc *json.Encoder
}

func newJSONWriter() *jsonWriter {
	w := &jsonWriter{}
	w.enc = json.NewEncoder(&w.buf)
	w.enc.SetEscapeHTML(false)
	return w
}

// line formats one record; the result is valid until the next call.
func (w *jsonWriter) line(r *kgo.Record) ([]byte, error) {
	ms := r.Timestamp.UnixMilli()
	j := jsonRecord{Topic: r.Topic, Partition: &r.Partition, Offset: &r.Offset, Timestamp: &ms}
	j.Key, j.KeyBase64 = toJSON(r.Key)
	j.Value, j.ValueBase64 = toJSON(r.Value)
	for _, h := range r.Headers {
		jh := jsonHeader{Key: h.Key}
		jh.Value, jh.ValueBase64 = toJSON(h.Value)
		j.Headers = append(j.Headers, jh)
	}
	w.buf.Reset()
	err := w.enc.Encode(j)
	return w.buf.Bytes(), err
}

// parseJSONRecord reads one line. Topic and offset are ignored, so that
// consume's output can be produced to another topic. The partition is -1
// unless keepPartition asks for the line's own, which must then be there.
func parseJSONRecord(line []byte, keepPartition bool) (*kgo.Record, error) {
	var j jsonRecord
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&j); err != nil {
		return nil, fmt.Errorf("not a JSON record: %w", err)
	}
	if dec.More() {
		return nil, errors.New("more than one JSON value on the line")
	}
	r := &kgo.Record{Partition: -1}
	var err error
	if r.Key, err = fromJSON("key", j.Key, j.KeyBase64); err != nil {
		return nil, err
	}
	if r.Value, err = fromJSON("value", j.Value, j.ValueBase64); err != nil {
		return nil, err
	}
	for i, h := range j.Headers {
		v, err := fromJSON("headers["+strconv.Itoa(i)+"].value", h.Value, h.ValueBase64)
		if err != nil {
			return nil, err
		}
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: v})
	}
	if j.Timestamp != nil {
		r.Timestamp = time.UnixMilli(*j.Timestamp)
	}
	if keepPartition {
		if j.Partition == nil || *j.Partition < 0 {
			return nil, errors.New("no partition from 0 is named, which --keep-partitions needs")
		}
		r.Partition = *j.Partition
	}
	return r, nil
}
