package batch

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

const goldenRecords = 10

func goldenRecord(i int) (key, value string) {
	return fmt.Sprintf("key-%d", i), fmt.Sprintf("value-%d %s", i, strings.Repeat("spate", 40))
}

// TestGolden reads batches that real clients made with every codec.
func TestGolden(t *testing.T) {
	for _, client := range []string{"java", "librdkafka", "franz"} {
		for _, c := range allCodecs {
			name := fmt.Sprintf("%s-%v", client, c)
			data, err := os.ReadFile("testdata/golden/" + name + ".bin")
			if err != nil {
				t.Fatal(err)
			}
			b, err := Only(data)
			if err != nil || b.Codec() != c {
				t.Fatalf("%s: %v %v", name, b.Codec(), err)
			}
			checkGolden(t, name, b)
			checkRecompressed(t, name, b)
		}
	}
}

func checkGolden(t *testing.T, name string, b Batch) {
	t.Helper()
	it := Records(b)
	defer it.Close()
	var r Record
	i := 0
	for ; it.Next(&r); i++ {
		k, v := goldenRecord(i)
		if string(r.Key) != k || string(r.Value) != v || int(r.OffsetDelta) != i {
			t.Fatalf("%s: record %d is %q %q", name, i, r.Key, r.Value)
		}
		if h, ok := r.Header("origin"); strings.HasPrefix(name, "librdkafka") != ok || ok && string(h) != "kcat" {
			t.Fatalf("%s: header is %q", name, h)
		}
	}
	if it.Err() != nil || i != goldenRecords {
		t.Fatalf("%s: %d records, %v", name, i, it.Err())
	}
}

// checkRecompressed: every codec's rewrite keeps records and header fields, and a
// batch that has the topic's codec is left as it is.
func checkRecompressed(t *testing.T, name string, b Batch) {
	for _, target := range allCodecs {
		p := DefaultPolicy()
		p.Codec = target
		p.Level = DefaultLevel
		in := bytes.Clone(b)
		res, err := Validate(in, Options{Policy: &p, NowMs: b.MaxTimestamp()})
		if err != nil {
			t.Fatalf("%s to %v: %v", name, target, err)
		}
		got := res.Batch
		if got.Codec() != target || got.CRC() != got.ComputeCRC() || got.LengthBytes() != len(got) {
			t.Fatalf("%s to %v: bad header", name, target)
		}
		if (target == b.Codec()) == res.Rewritten {
			t.Fatalf("%s to %v: rewritten=%v", name, target, res.Rewritten)
		}
		if got.ProducerID() != b.ProducerID() || got.BaseSequence() != b.BaseSequence() ||
			got.MaxTimestamp() != b.MaxTimestamp() || got.LastOffset() != b.LastOffset() {
			t.Fatalf("%s to %v: header fields lost", name, target)
		}
		checkGolden(t, name, got)
	}
}
