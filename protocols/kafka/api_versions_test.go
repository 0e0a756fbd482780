package kafka

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func askVersions(t *testing.T, b *broker, req *kmsg.ApiVersionsRequest, version int16) *kmsg.ApiVersionsResponse {
	t.Helper()
	c := b.connect()
	c.receive(encode(req, version, 5))
	_, body := c.next()
	resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
	if err := resp.ReadFrom(body); err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestApiVersionsAreWhatIsRegistered(t *testing.T) {
	b := newBroker(t)
	for v := int16(0); v <= 4; v++ {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "apache-kafka-java", "4.3.1"
		resp := askVersions(t, b, req, v)
		if resp.ErrorCode != 0 {
			t.Fatalf("version %d: error %d", v, resp.ErrorCode)
		}
		n := 0
		for _, a := range apis {
			if a == nil {
				continue
			}
			if k := resp.ApiKeys[n]; k.ApiKey != a.key || k.MinVersion != a.min || k.MaxVersion != a.max {
				t.Errorf("version %d advertises %v, registered is %d: %d to %d", v, k, a.key, a.min, a.max)
			}
			n++
		}
		if n != len(resp.ApiKeys) {
			t.Errorf("version %d advertises %d keys, %d are registered", v, len(resp.ApiKeys), n)
		}
		if v >= 3 && (resp.FinalizedFeaturesEpoch < 0 || len(resp.FinalizedFeatures) != 1) {
			t.Errorf("version %d: finalized features %v of epoch %d", v, resp.FinalizedFeatures, resp.FinalizedFeaturesEpoch)
		}
	}
}

// Kafka's own answer to a version that it does not know, byte for byte.
func TestApiVersionsOfUnknownVersion(t *testing.T) {
	for _, frame := range [][]byte{
		{0, 0, 0, 11, 0, 18, 0, 77, 0, 0, 0, 9, 0xff, 0xff, 0},
		{0, 0, 0, 14, 0, 18, 0, 5, 0, 0, 0, 9, 0xff, 0xff, 0, 1, 2, 3},
		{0, 0, 0, 10, 0, 18, 0xff, 0xff, 0, 0, 0, 9, 0xff, 0xff},
	} {
		c := newMemConn(t, bareServer(t))
		c.receive(frame)
		corrID, body := c.next()
		if corrID != 9 || !bytes.Equal(body, []byte{0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 4}) {
			t.Errorf("% x answered with % x", frame, body)
		}
	}
}

func TestApiVersionsNamesOfClients(t *testing.T) {
	b := newBroker(t)
	for name, ok := range map[string]bool{"kgo": true, "a": true, "apache-kafka-java": true, "x.y-z1": true,
		"": false, "-a": false, "a-": false, "a b": false, "ä": false, "a\n": false} {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = name, "1"
		resp := askVersions(t, b, req, 3)
		if want := kerr.InvalidRequest.Code; ok != (resp.ErrorCode == 0) || !ok && (resp.ErrorCode != want || len(resp.ApiKeys) > 0) {
			t.Errorf("client name %q: error %d and %d keys", name, resp.ErrorCode, len(resp.ApiKeys))
		}
	}
}
