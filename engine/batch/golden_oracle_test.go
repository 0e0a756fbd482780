//go:build oracle

package batch

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestOracleGolden fetches the batches that clients have produced to the topics
// golden-CLIENT-CODEC of the Kafka at SPATE_ORACLE and writes them to
// testdata/golden. franz-go is run from here; produce with the others first: ten
// lines "key-N:value-N spatespate..." (40 times) by kafka-console-producer (java) and
// kcat with header origin=kcat (librdkafka), for each codec.
func TestOracleGolden(t *testing.T) {
	o := dialOracle(t)
	if err := os.MkdirAll("testdata/golden", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range allCodecs {
		produceFranz(t, c)
		for _, client := range []string{"java", "librdkafka", "franz"} {
			topic := fmt.Sprintf("golden-%s-%v", client, c)
			b := o.fetch(topic, 0)
			if b.Count() != goldenRecords || b.Codec() != c {
				t.Fatalf("%s: %d records with %v", topic, b.Count(), b.Codec())
			}
			if err := os.WriteFile(fmt.Sprintf("testdata/golden/%s-%v.bin", client, c), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func produceFranz(t *testing.T, c Codec) {
	codec := map[Codec]kgo.CompressionCodec{None: kgo.NoCompression(), Gzip: kgo.GzipCompression(),
		Snappy: kgo.SnappyCompression(), LZ4: kgo.Lz4Compression(), Zstd: kgo.ZstdCompression()}[c]
	cl, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv("SPATE_ORACLE")), kgo.AllowAutoTopicCreation(),
		kgo.DefaultProduceTopic(fmt.Sprintf("golden-franz-%v", c)), kgo.ProducerBatchCompression(codec),
		kgo.ProducerLinger(500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var rs []*kgo.Record
	for i := range goldenRecords {
		k, v := goldenRecord(i)
		rs = append(rs, &kgo.Record{Key: []byte(k), Value: []byte(v)})
	}
	if err := cl.ProduceSync(ctx, rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}
