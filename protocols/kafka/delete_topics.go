package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/config"
)

func init() { register(20, 1, 6, serveAdmin(answerDeleteTopics)) }

const (
	unknownTopicMessage   = "This server does not host this topic-partition."
	unknownTopicIDMessage = "This server does not host this topic ID."
)

// topicDeletion is one topic of a request, by name, by id (version 6), or
// found under both.
type topicDeletion struct {
	name *string
	id   catalog.TopicID
	err  error
}

// answerDeleteTopics deletes topics, each by itself.
func answerDeleteTopics(a admin, req *kmsg.DeleteTopicsRequest, reply func(response)) {
	deletions := findDeletions(a.Catalog(), req)
	g := newGather(func() { reply(deleteTopicsResponse(req, deletions)) })
	for i := range deletions {
		d := &deletions[i]
		if d.err != nil {
			continue
		}
		byName := d.name != nil
		if t := a.Catalog().TopicByID(d.id); t != nil {
			d.name = &t.Name
		}
		g.begin()
		a.DeleteTopic(d.id, func(err error) {
			if catalog.KindOf(err) == catalog.UnknownTopicID {
				err = unknownDeletion(byName) // deleted by another request meanwhile
			}
			d.err = err
			g.end()
		})
	}
	g.end()
}

func unknownDeletion(byName bool) error {
	if byName {
		return &catalog.Error{Kind: catalog.UnknownTopic, Message: unknownTopicMessage}
	}
	return &catalog.Error{Kind: catalog.UnknownTopicID, Message: unknownTopicIDMessage}
}

// findDeletions lists what is to be deleted, each topic once.
func findDeletions(c *catalog.Catalog, req *kmsg.DeleteTopicsRequest) []topicDeletion {
	asked := req.Topics
	if req.Version < 6 {
		asked = make([]kmsg.DeleteTopicsRequestTopic, len(req.TopicNames))
		for i := range asked {
			asked[i].Topic = &req.TopicNames[i]
		}
	}
	f := deletionFinder{catalog: c, names: make(map[string]int), ids: make(map[catalog.TopicID]int)}
	for _, t := range asked {
		f.add(t.Topic, t.TopicID)
	}
	if !config.DeleteTopicEnabled(c.Layers()) {
		f.refuseAll(req.Version)
	}
	return f.found
}

type deletionFinder struct {
	catalog *catalog.Catalog
	found   []topicDeletion
	names   map[string]int          // index in found
	ids     map[catalog.TopicID]int // index in found
}

func (f *deletionFinder) add(name *string, id catalog.TopicID) {
	switch {
	case name == nil && id.IsZero():
		f.put(nil, id, invalid("Neither topic name nor id were specified."))
	case name != nil && !id.IsZero():
		f.put(name, id, invalid("You may not specify both topic name and topic id."))
	case name != nil:
		f.addName(*name)
	default:
		f.addID(id)
	}
}

func (f *deletionFinder) put(name *string, id catalog.TopicID, err error) int {
	f.found = append(f.found, topicDeletion{name: name, id: id, err: err})
	return len(f.found) - 1
}

func (f *deletionFinder) addName(name string) {
	if i, twice := f.names[name]; twice {
		f.found[i].id, f.found[i].err = catalog.TopicID{}, invalid("Duplicate topic name.")
		return
	}
	t := f.catalog.Topic(name)
	if t == nil {
		f.names[name] = f.put(&name, catalog.TopicID{}, unknownDeletion(true))
		return
	}
	if _, twice := f.ids[t.ID]; twice {
		f.put(&name, t.ID, invalid("The provided topic name maps to an ID that was already supplied."))
		return
	}
	i := f.put(&name, t.ID, nil)
	f.names[name], f.ids[t.ID] = i, i
}

func (f *deletionFinder) addID(id catalog.TopicID) {
	if i, twice := f.ids[id]; twice {
		message := "Duplicate topic id."
		if f.found[i].name != nil {
			message = "The provided topic name maps to an ID that was already supplied."
		}
		f.found[i].err = invalid(message)
		return
	}
	var err error
	if f.catalog.TopicByID(id) == nil {
		err = unknownDeletion(false)
	}
	f.ids[id] = f.put(nil, id, err)
}

// refuseAll is the answer while delete.topic.enable is off; the error for it
// came with version 3.
func (f *deletionFinder) refuseAll(version int16) {
	kind := catalog.TopicDeletionDisabled
	if version < 3 {
		kind = catalog.InvalidRequest
	}
	for i := range f.found {
		f.found[i].err = &catalog.Error{Kind: kind, Message: "Topic deletion is disabled."}
	}
}

func deleteTopicsResponse(req *kmsg.DeleteTopicsRequest, deletions []topicDeletion) response {
	resp := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	resp.Topics = make([]kmsg.DeleteTopicsResponseTopic, len(deletions))
	for i, d := range deletions {
		t := &resp.Topics[i]
		*t = kmsg.NewDeleteTopicsResponseTopic()
		t.Topic, t.TopicID = d.name, d.id
		t.ErrorCode, t.ErrorMessage = adminError(d.err)
	}
	return resp
}
