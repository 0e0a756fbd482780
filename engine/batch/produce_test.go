package batch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// kafkaCode is Kafka's error code for a kind, as protocols map it.
var kafkaCode = map[Kind]string{Corrupt: "2", InvalidRecord: "87", InvalidTimestamp: "32", TooLarge: "10",
	UnsupportedCompression: "76", UnsupportedFormat: "87"}

// differs are the cases where spate deliberately answers or stores something else
// than Kafka, as "code | record errors | stored".
var differs = map[string]struct{ want, why string }{
	"length field 20 and nothing more": {"2 | - | -", "Kafka fails inside (-1)"},
	"length field huge":                {"87 | - | -", "Kafka overflows (-1); it is a batch cut off"},
	"transactional without producer":   {"87 | - | -", "Kafka refuses it a layer above for lack of a transactional id (53)"},
	"codec 5":                          {"76 | - | -", "Kafka fails inside (-1)"},
	"codec 7":                          {"76 | - | -", "Kafka fails inside (-1)"},
	"inner offsets 0 2 1":              {"0 | - | none epoch=0 count=3 last=2 max=now+2 offsets=0,1,2", denseOffsets},
	"inner offsets all 0":              {"0 | - | none epoch=0 count=3 last=2 max=now+2 offsets=0,1,2", denseOffsets},
	"inner offsets 5 6 7":              {"0 | - | none epoch=0 count=3 last=2 max=now+2 offsets=0,1,2", denseOffsets},
	"inner offsets all 0 gzip":         {"0 | - | gzip epoch=0 count=3 last=2 max=now+2 offsets=0,1,2", denseOffsets},
	"inner offsets 5 6 7 zstd":         {"0 | - | zstd epoch=0 count=3 last=2 max=now+2 offsets=0,1,2", denseOffsets},

	"record length one too few gzip":       {"87 | - | -", "Kafka stores what no consumer can read"},
	"last record length one too many gzip": {"87 | - | -", "Kafka stores what no consumer can read"},
	"record length varint of 6 bytes":      {"87 | - | -", "Kafka fails inside (-1)"},
	"gzip garbage":                         {"87 | - | -", badData},
	"snappy garbage":                       {"87 | - | -", badData},
	"lz4 garbage":                          {"87 | - | -", badData},
	"zstd garbage":                         {"87 | - | -", badData},
	"gzip cut off":                         {"87 | - | -", badData},
	"snappy cut off":                       {"87 | - | -", badData},
	"lz4 cut off":                          {"87 | - | -", badData},
	"zstd cut off":                         {"87 | - | -", badData},
	"gzip empty payload":                   {"87 | - | -", badData},
	"snappy empty payload":                 {"87 | - | -", badData},
	"lz4 empty payload":                    {"87 | - | -", badData},
	"gzip without its last byte":           {"87 | - | -", badData},
	"lz4 without end mark":                 {"87 | - | -", badData},
	"gzip trailing bytes":                  {"87 | - | -", "Kafka stores it, but only Java consumers can read it"},
	"snappy trailing bytes":                {"87 | - | -", "Kafka stores it, but only Java consumers can read it"},
	"zstd trailing bytes":                  {"87 | - | -", badData},
	"lz4 header checksum wrong":            {"87 | - | -", badData},
	"lz4 linked blocks":                    {"87 | - | -", badData},
	"lz4 content checksum missing":         {"87 | - | -", badData},
	"snappy lying length":                  {"87 | - | -", badData},
	"bomb of 200 MiB":                      {"10 | - | -", "Kafka has no cap on the decompressed size"},
}

const (
	badData      = "Kafka fails inside (-1); 87 tells the client that its data are at fault"
	denseOffsets = "Kafka stores broken offsets or fails inside (-1); spate renumbers"
)

func TestProduceCases(t *testing.T) {
	kafka := kafkaAnswers(t)
	for _, c := range produceCases {
		want, ok := kafka[c.name]
		if !ok {
			t.Errorf("%s: Kafka was not asked; run TestOracle", c.name)
		}
		if d, ok := differs[c.name]; ok {
			if d.want == want {
				t.Errorf("%s: listed as different, but Kafka says the same", c.name)
			}
			want = d.want
		}
		if got := ours(c, testNow); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

// ours is spate's answer to a case in the form of kafka-answers.txt.
func ours(c produceCase, now int64) string {
	p := DefaultPolicy()
	casePolicies[c.topic].policy(&p)
	b, err := Only(c.records(now))
	var res Result
	if err == nil {
		res, err = Validate(b, Options{Policy: &p, NowMs: now, RefuseZstd: c.version > 0 && c.version < 7})
	}
	if err == nil {
		res.Batch.SetLeaderEpoch(0)
		if res.Batch.CRC() != res.Batch.ComputeCRC() {
			return "stored with a wrong CRC"
		}
		if o, ts := MaxTime(res.Batch); ts != res.MaxTimestamp && ts >= NoTimestamp || o != int64(res.MaxTimestampDelta) {
			return fmt.Sprintf("result says max timestamp %d at %d, batch has %d at %d", res.MaxTimestamp, res.MaxTimestampDelta, ts, o)
		}
		return "0 | - | " + describe(res.Batch, now)
	}
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	indices := "-"
	if len(e.Records) > 0 {
		s := fmt.Sprint(recordIndices(e))
		indices = s[1 : len(s)-1]
	}
	return kafkaCode[e.Kind] + " | " + indices + " | -"
}

func recordIndices(e *Error) (out []int32) {
	for _, r := range e.Records {
		out = append(out, r.Index)
	}
	return out
}

func kafkaAnswers(t *testing.T) map[string]string {
	f, err := os.Open("testdata/kafka-answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if p := strings.SplitN(s.Text(), " | ", 5); len(p) == 5 {
			out[p[0]] = strings.Join(p[1:4], " | ")
		}
	}
	return out
}
