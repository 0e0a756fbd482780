package kafka

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/config"
)

func init() { register(19, 2, 7, serveAdmin(answerCreateTopics)) }

// maxTopicsPerRequest bounds the answer of a request that creates topics.
const maxTopicsPerRequest = 10_000

// answerCreateTopics creates topics, each by itself: one's error does not keep
// the others from being created. A name that is asked for twice is not created.
func answerCreateTopics(a admin, req *kmsg.CreateTopicsRequest, reply func(response)) {
	specs, errs := topicSpecs(req)
	made := make([]*catalog.Topic, len(specs))
	g := newGather(func() {
		// Not on the engine's goroutine: the settings of many topics take time.
		go func() { reply(createTopicsResponse(a.Catalog(), req, specs, made, errs)) }()
	})
	for i := range specs {
		switch {
		case errs[i] != nil:
		case req.ValidateOnly:
			made[i], _, errs[i] = a.Catalog().PlanCreateTopic(specs[i])
		default:
			g.begin()
			a.CreateTopic(specs[i], func(t *catalog.Topic, err error) {
				if made[i], errs[i] = t, err; t == nil && err == nil {
					errs[i] = engine.ErrDeleted // by another request meanwhile
				}
				g.end()
			})
		}
	}
	g.end()
}

// topicSpecs turns a request into one spec for each name.
func topicSpecs(req *kmsg.CreateTopicsRequest) ([]catalog.TopicSpec, []error) {
	specs := make([]catalog.TopicSpec, 0, len(req.Topics))
	errs := make([]error, 0, len(req.Topics))
	at := make(map[string]int, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		if j, twice := at[t.Topic]; twice {
			errs[j] = invalid("Duplicate topic name.")
			continue
		}
		at[t.Topic] = len(specs)
		spec, err := topicSpec(t)
		if len(req.Topics) > maxTopicsPerRequest {
			err = &catalog.Error{Kind: catalog.PolicyViolation, Message: "Excessively large number of topics per request."}
		}
		specs, errs = append(specs, spec), append(errs, err)
	}
	return specs, errs
}

func topicSpec(t *kmsg.CreateTopicsRequestTopic) (catalog.TopicSpec, error) {
	spec := catalog.TopicSpec{Name: t.Topic, Partitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor}
	if len(t.Configs) > 0 {
		spec.Configs = make(map[string]*string, len(t.Configs))
	}
	for _, c := range t.Configs {
		spec.Configs[c.Name] = c.Value
	}
	if len(t.ReplicaAssignment) > 0 {
		spec.Assignments = make(map[int32][]int32, len(t.ReplicaAssignment))
	}
	for _, p := range t.ReplicaAssignment {
		if _, twice := spec.Assignments[p.Partition]; twice {
			return spec, &catalog.Error{Kind: catalog.InvalidReplicaAssignment,
				Message: "Found multiple manual partition assignments for partition " + strconv.Itoa(int(p.Partition))}
		}
		spec.Assignments[p.Partition] = p.Replicas
	}
	return spec, nil
}

func createTopicsResponse(c *catalog.Catalog, req *kmsg.CreateTopicsRequest, specs []catalog.TopicSpec, made []*catalog.Topic, errs []error) response {
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	resp.Topics = make([]kmsg.CreateTopicsResponseTopic, len(specs))
	layers := c.Layers()
	for i := range specs {
		t := &resp.Topics[i]
		*t = kmsg.NewCreateTopicsResponseTopic()
		t.Topic = specs[i].Name
		t.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
		t.ErrorCode, t.ErrorMessage = adminError(errs[i])
		if errs[i] != nil {
			t.NumPartitions, t.ReplicationFactor = -1, -1
			continue
		}
		t.TopicID = made[i].ID
		t.NumPartitions, t.ReplicationFactor = made[i].Partitions(), 1
		if req.Version >= 5 {
			t.Configs = createdConfigs(made[i], config.DescribeTopic(made[i].Config, layers, nil))
		}
	}
	return resp
}

func createdConfigs(t *catalog.Topic, entries []config.Entry) []kmsg.CreateTopicsResponseTopicConfig {
	configs := make([]kmsg.CreateTopicsResponseTopicConfig, len(entries))
	for i, e := range entries {
		configs[i] = kmsg.NewCreateTopicsResponseTopicConfig()
		configs[i].Name, configs[i].Value = e.Name, e.Value
		if own, ok := t.Config[e.Name]; ok && e.Source == config.FromTopic {
			configs[i].Value = &own // as the client wrote it
		}
		configs[i].Source, configs[i].ReadOnly, configs[i].IsSensitive = int8(e.Source), e.ReadOnly, e.Sensitive
	}
	return configs
}
