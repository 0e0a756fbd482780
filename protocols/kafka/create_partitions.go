package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

func init() { register(37, 0, 3, serveAdmin(answerCreatePartitions)) }

// answerCreatePartitions grows topics, each by itself.
func answerCreatePartitions(a admin, req *kmsg.CreatePartitionsRequest, reply func(response)) {
	topics, errs := onceEach(req.Topics)
	g := newGather(func() { reply(createPartitionsResponse(req, topics, errs)) })
	for i, t := range topics {
		if errs[i] != nil {
			continue
		}
		id, err := planPartitions(a.Catalog(), t)
		if err != nil || req.ValidateOnly {
			errs[i] = err
			continue
		}
		g.begin()
		a.AddPartitions(id, t.Count, func(err error) {
			errs[i] = err
			g.end()
		})
	}
	g.end()
}

// onceEach lists the topics by name; one that is named twice is refused.
func onceEach(asked []kmsg.CreatePartitionsRequestTopic) ([]*kmsg.CreatePartitionsRequestTopic, []error) {
	topics := make([]*kmsg.CreatePartitionsRequestTopic, 0, len(asked))
	errs := make([]error, 0, len(asked))
	at := make(map[string]int, len(asked))
	for i := range asked {
		t := &asked[i]
		if j, twice := at[t.Topic]; twice {
			errs[j] = invalid("Duplicate topic name.")
			continue
		}
		at[t.Topic] = len(topics)
		topics, errs = append(topics, t), append(errs, nil)
	}
	return topics, errs
}

func planPartitions(c *catalog.Catalog, t *kmsg.CreatePartitionsRequestTopic) (catalog.TopicID, error) {
	topic := c.Topic(t.Topic)
	if topic == nil {
		return catalog.TopicID{}, &catalog.Error{Kind: catalog.UnknownTopic}
	}
	var assignments [][]int32
	if t.Assignment != nil {
		assignments = make([][]int32, len(t.Assignment))
		for i := range t.Assignment {
			assignments[i] = t.Assignment[i].Replicas
		}
	}
	_, err := c.PlanAddPartitions(topic.ID, t.Count, assignments)
	return topic.ID, err
}

func createPartitionsResponse(req *kmsg.CreatePartitionsRequest, topics []*kmsg.CreatePartitionsRequestTopic, errs []error) response {
	resp := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
	resp.Topics = make([]kmsg.CreatePartitionsResponseTopic, len(topics))
	for i, t := range topics {
		resp.Topics[i] = kmsg.NewCreatePartitionsResponseTopic()
		resp.Topics[i].Topic = t.Topic
		resp.Topics[i].ErrorCode, resp.Topics[i].ErrorMessage = adminError(errs[i])
	}
	return resp
}
