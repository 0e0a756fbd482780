package oracle

import (
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestParseScenario(t *testing.T) {
	src := `# comment
topic @t partitions=2
for v Fetch 4..6
  a: Fetch v$v time=0s..1s {Topics: [
    {Topic: @t}]}  # more
    -> x = SessionID
end
close
`
	got, err := parseScenario(src)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[1].verb != "for" || len(got[1].block) != 1 || got[2].verb != "close" {
		t.Fatalf("statements: %+v", got)
	}
	fetch := got[1].block[0]
	if fetch.conn != "a" || fetch.line != 4 || len(fetch.captures) != 1 || fetch.captures[0] != (capture{"x", "SessionID"}) {
		t.Errorf("fetch: %+v", fetch)
	}
}

func TestParseScenarioRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"end":                 "end without for",
		"for v Fetch":         "for without end",
		"Fetch v4 {Topics: [": "expected",
		"Fetch v4 {Topics}":   "name: expected",
		"Fetch v4\n  -> x":    "name = path expected",
		`Fetch v4 {A: "b}`:    "quote not closed",
	} {
		if _, err := parseScenario(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
}

func testScope() *scope {
	return &scope{prefix: "p.", vars: map[string]string{"n": "7"}, base: 1000, start: 5000}
}

func TestFill(t *testing.T) {
	v, err := parseValue(`{Group: @g$n, InstanceID: i, SessionTimeoutMillis: 10, Protocols: [{Name: "a b", Metadata: hex{of: 00ff}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrJoinGroupRequest()
	if err := testScope().fill(reflect.ValueOf(req).Elem(), v); err != nil {
		t.Fatal(err)
	}
	if req.Group != "p.g7" || *req.InstanceID != "i" || req.SessionTimeoutMillis != 10 || string(req.Protocols[0].Metadata) != "\x00\xff" {
		t.Errorf("%+v", req)
	}
	for _, bad := range []string{`{Nothing: 1}`, `{SessionTimeoutMillis: abc}`, `{SessionTimeoutMillis: 99999999999}`, `{Group: $unset}`, `{Protocols: 5}`} {
		v, err := parseValue(bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := testScope().fill(reflect.ValueOf(req).Elem(), v); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestBatch(t *testing.T) {
	build := func(src string) []byte {
		v, err := parseValue(src)
		if err != nil {
			t.Fatal(err)
		}
		b, err := testScope().bytes(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd", "xerial"} {
		b := build("batch{codec: " + codec + ", ts: 5, records: [{k: a, v: b, ts: 9}, {v: null}]}")
		if got := int(binary.BigEndian.Uint32(b[8:])); got != len(b)-12 {
			t.Errorf("%s: length %d of %d bytes", codec, got, len(b))
		}
		if crc32.Checksum(b[batchAttributesAt:], castagnoli) != binary.BigEndian.Uint32(b[batchCRCAt:]) {
			t.Errorf("%s: wrong CRC", codec)
		}
		d := dumper{norm: newNormaliser(testScope())}
		d.batches("r", b, false)
		if len(d.lines) != 3 || d.lines[1].Value != "+0 ts t0+9 key a value b" || d.lines[2].Value != "+1 ts t0+5 key null value null" {
			t.Errorf("%s: %v", codec, d.lines)
		}
	}
	if b := build("batch{damage: crc, records: [a]}"); crc32.Checksum(b[batchAttributesAt:], castagnoli) == binary.BigEndian.Uint32(b[batchCRCAt:]) {
		t.Error("damage: crc left the CRC right")
	}
}

func TestTranscript(t *testing.T) {
	block := []Line{{"ErrorCode", "0"}, {"Topics[a].X", "1"}, {"Topics[b].X", "2"}}
	in := Transcript{{"main Fetch v4", 3, block}, {"main Fetch v5", 3, block}, {"a raw", 9, []Line{{"connection", "closed"}}}}
	text := in.String()
	if strings.Count(text, sameLine) != 1 {
		t.Errorf("text:\n%s", text)
	}
	out, err := ParseTranscript(text)
	if err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%v\n%v\n%v", err, in, out)
	}
}

func TestCompare(t *testing.T) {
	want := Transcript{{"main X v1", 1, []Line{{"T[a].ErrorCode", "0"}, {"T[a].P", "1"}, {"T[b].ErrorCode", "0"}, {"T[b].Q", "2"}, {"N", "5"}}}}
	got := Transcript{{"main X v1", 1, []Line{{"T[a].ErrorCode", "3 UNKNOWN"}, {"T[c].ErrorCode", "0"}, {"N", "6"}}}}
	diffs := Compare("s", want, got)
	var paths []string
	for _, d := range diffs {
		paths = append(paths, d.Path)
	}
	if strings.Join(paths, " ") != "T[a].ErrorCode T[b] N T[c]" {
		t.Errorf("differences at %v", paths)
	}
	allowed := &Allowed{}
	allowed.scenario, allowed.title, allowed.path = glob("{s,t}"), glob("* X *"), glob("T[*]*")
	allowed.kafka, allowed.spate = glob("*"), glob("*")
	if rest := Unexplained(diffs, []*Allowed{allowed}); len(rest) != 1 || rest[0].Path != "N" || allowed.Used != 3 {
		t.Errorf("unexplained: %v, used %d", rest, allowed.Used)
	}
}
