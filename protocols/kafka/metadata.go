package kafka

import (
	"errors"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

func init() { register(3, 0, 13, serveMetadata) }

// serveMetadata tells where the topics are that the client asks for: all, some
// by name, which may come into being by that, or some by id.
func serveMetadata(r *request) {
	req := r.kreq.(*kmsg.MetadataRequest)
	switch {
	case req.Topics == nil || r.version == 0 && len(req.Topics) == 0:
		r.srv.metadata.serveAll(r, req)
	case !validMetadata(req):
		refuseMetadata(r, req)
	case byID(req):
		resp := newMetadata(r, req)
		for i := range req.Topics {
			if id := catalog.TopicID(req.Topics[i].TopicID); !id.IsZero() {
				resp.Topics = append(resp.Topics, metadataByID(r.srv, req, id))
			}
		}
		r.reply(resp)
	default:
		serveMetadataByName(r, req)
	}
}

// validMetadata tells whether a request says of each topic what it is, in the
// way of its version.
func validMetadata(req *kmsg.MetadataRequest) bool {
	if req.Version < 10 {
		return true
	}
	for i := range req.Topics {
		named, id := req.Topics[i].Topic != nil, req.Topics[i].TopicID
		switch {
		case req.Version < 12 && (!named || id != [16]byte{}):
			return false
		case !named && id == [16]byte{}:
			return false
		}
	}
	return true
}

func refuseMetadata(r *request, req *kmsg.MetadataRequest) {
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	for _, t := range req.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		resp.Topics = append(resp.Topics, metadataError(req, &name, t.TopicID, kerr.InvalidRequest.Code, false))
	}
	r.reply(resp)
}

// byID tells whether a request asks by id. Names in it do not count then.
func byID(req *kmsg.MetadataRequest) bool {
	for i := range req.Topics {
		if req.Topics[i].TopicID != [16]byte{} {
			return true
		}
	}
	return false
}

// newMetadata is an answer about no topics.
func newMetadata(r *request, req *kmsg.MetadataRequest) *kmsg.MetadataResponse {
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	e := r.srv.endpoint(r.conn)
	b := kmsg.NewMetadataResponseBroker()
	b.NodeID, b.Host, b.Port, b.Rack = e.node, e.host, e.port, e.rackPtr()
	resp.Brokers = append(resp.Brokers, b)
	resp.ClusterID = kmsg.StringPtr(r.srv.engine.Catalog().ClusterID())
	resp.ControllerID = e.node
	if req.IncludeClusterAuthorizedOperations {
		resp.AuthorizedOperations = clusterOperations
	}
	return resp
}

func metadataByID(s *Server, req *kmsg.MetadataRequest, id catalog.TopicID) kmsg.MetadataResponseTopic {
	t := s.engine.Catalog().TopicByID(id)
	if t == nil || t.Name == catalog.MetadataTopic {
		return metadataError(req, nil, id, kerr.UnknownTopicID.Code, false)
	}
	return s.topicMetadata(req, t)
}

// topicMetadata describes a topic, all of whose partitions are here.
func (s *Server) topicMetadata(req *kmsg.MetadataRequest, t *catalog.Topic) kmsg.MetadataResponseTopic {
	m := metadataError(req, &t.Name, t.ID, 0, req.IncludeTopicAuthorizedOperations)
	m.IsInternal = t.Internal
	m.Partitions = make([]kmsg.MetadataResponseTopicPartition, t.Partitions())
	epoch := s.engine.Catalog().LeaderEpoch()
	for i := range m.Partitions {
		p := &m.Partitions[i]
		*p = kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader, p.LeaderEpoch = int32(i), s.config.NodeID, epoch
		p.Replicas, p.ISR = s.self, s.self
	}
	return m
}

func metadataError(req *kmsg.MetadataRequest, name *string, id [16]byte, code int16, operations bool) kmsg.MetadataResponseTopic {
	m := kmsg.NewMetadataResponseTopic()
	m.Topic, m.TopicID, m.ErrorCode = name, id, code
	if operations {
		m.AuthorizedOperations = topicOperations
	}
	return m
}

// serveMetadataByName answers when the topics that are to be created have been.
func serveMetadataByName(r *request, req *kmsg.MetadataRequest) {
	names := make([]string, 0, len(req.Topics))
	seen := make(map[string]bool, len(req.Topics))
	for _, t := range req.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	codes := make([]int16, len(names))
	var left atomic.Int64
	left.Store(1)
	done := func() {
		if left.Add(-1) == 0 {
			r.reply(metadataByName(r, req, names, codes))
		}
	}
	for i, name := range names {
		if r.srv.engine.Catalog().Topic(name) == nil && mayCreate(r, req, name) {
			left.Add(1)
			spec := catalog.TopicSpec{Name: name, Partitions: -1, ReplicationFactor: -1}
			r.srv.engine.CreateTopic(spec, func(_ *catalog.Topic, err error) {
				codes[i] = creationCode(err)
				done()
			})
		}
	}
	done()
}

// mayCreate tells whether asking for a topic brings it into being.
func mayCreate(r *request, req *kmsg.MetadataRequest, name string) bool {
	return (req.Version < 4 || req.AllowAutoTopicCreation) && r.srv.config.Bool("auto.create.topics.enable") &&
		catalog.ValidateTopicName(name) == nil && !internalName(name)
}

// internalName tells whether a name is one that the broker keeps for itself.
func internalName(name string) bool {
	return name == catalog.OffsetsTopic || name == catalog.TxnTopic || name == catalog.MetadataTopic
}

// creationCode is the code for a topic that could not be created on demand.
func creationCode(err error) int16 {
	switch catalog.KindOf(err) {
	case catalog.TopicExists: // by another request, in the same moment
		return 0
	case catalog.InvalidTopicName:
		return kerr.InvalidTopicException.Code
	case catalog.TooManyPartitions:
		return kerr.PolicyViolation.Code
	}
	var refused *catalog.Error
	if errors.As(err, &refused) {
		return kerr.InvalidRequest.Code
	}
	return engineCode(err)
}

func metadataByName(r *request, req *kmsg.MetadataRequest, names []string, codes []int16) kmsg.Response {
	resp := newMetadata(r, req)
	resp.Topics = make([]kmsg.MetadataResponseTopic, 0, len(names))
	for i, name := range names {
		t := r.srv.engine.Catalog().Topic(name)
		if t != nil && name != catalog.MetadataTopic {
			resp.Topics = append(resp.Topics, r.srv.topicMetadata(req, t))
			continue
		}
		code := codes[i]
		if code == 0 {
			code = kerr.UnknownTopicOrPartition.Code
		}
		if catalog.ValidateTopicName(name) != nil {
			code = kerr.InvalidTopicException.Code
		}
		m := metadataError(req, &name, [16]byte{}, code, req.IncludeTopicAuthorizedOperations)
		m.IsInternal = name == catalog.OffsetsTopic || name == catalog.TxnTopic
		resp.Topics = append(resp.Topics, m)
	}
	return resp
}
