package kafka

import (
	"regexp"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func init() { register(keyApiVersions, 0, 4, serveApiVersions) }

// metadataVersion is the level of Kafka 4.3 (4.3-IV0). Tools read the version of
// the cluster from it.
const metadataVersion = 30

// features are what is on in this cluster. Features that Kafka finalises and
// that are missing here are not served: clients take their absence for an
// older cluster and do without.
var features = []struct {
	name          string
	min, max, now int16
}{
	{"metadata.version", 7, metadataVersion, metadataVersion},
}

// softwareName is what a client's name and version must look like (KIP-511).
var softwareName = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`)

// serveApiVersions tells what is served. The answer to a version that is not is
// of version 0 (request.version), whatever was asked.
func serveApiVersions(r *request) {
	req := r.kreq.(*kmsg.ApiVersionsRequest)
	resp := kmsg.NewPtrApiVersionsResponse()
	switch {
	case r.unsupported:
		resp.ErrorCode = kerr.UnsupportedVersion.Code
		resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{advertised(apis[keyApiVersions])}
	case r.version >= 3 && !(softwareName.MatchString(req.ClientSoftwareName) && softwareName.MatchString(req.ClientSoftwareVersion)):
		resp.ErrorCode = kerr.InvalidRequest.Code
	default:
		fillApiVersions(resp, r.version, r.srv.engine.Catalog().Version())
	}
	r.reply(resp)
}

func fillApiVersions(resp *kmsg.ApiVersionsResponse, version int16, epoch uint64) {
	for _, a := range apis {
		if a != nil {
			resp.ApiKeys = append(resp.ApiKeys, advertised(a))
		}
	}
	if version < 3 {
		return
	}
	resp.FinalizedFeaturesEpoch = int64(epoch)
	for _, f := range features {
		s := kmsg.NewApiVersionsResponseSupportedFeature()
		s.Name, s.MinVersion, s.MaxVersion = f.name, f.min, f.max
		resp.SupportedFeatures = append(resp.SupportedFeatures, s)
		z := kmsg.NewApiVersionsResponseFinalizedFeature()
		z.Name, z.MinVersionLevel, z.MaxVersionLevel = f.name, f.now, f.now
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, z)
	}
}

func advertised(a *api) kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = a.key, a.min, a.max
	return k
}
