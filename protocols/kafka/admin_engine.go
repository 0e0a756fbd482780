package kafka

import (
	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/catalog"
)

// admin is the part of the engine that administrative requests use.
type admin interface {
	Catalog() *catalog.Catalog
	CreateTopic(spec catalog.TopicSpec, done func(*catalog.Topic, error))
	DeleteTopic(id catalog.TopicID, done func(error))
	AddPartitions(id catalog.TopicID, total int32, done func(error))
	// AlterConfigs sets overrides; a nil value deletes one.
	AlterConfigs(r catalog.Resource, set map[string]*string, done func(error))
	// DeleteRecords moves a partition's log start up to before, -1 for the high
	// watermark.
	DeleteRecords(topic string, partition int32, before int64, done func(logStart int64, err error))
	LogDirs() []engine.LogDir
}

// engineAdmin is the engine itself as admin.
type engineAdmin struct{ *engine.Engine }

func (e engineAdmin) DeleteRecords(topic string, partition int32, before int64, done func(int64, error)) {
	p := e.Partition(topic, partition)
	if p == nil {
		done(-1, engine.ErrDeleted)
		return
	}
	p.DeleteRecords(before, done)
}

// serveAdmin makes a handler of an answering function. The work is done off the
// connection's loop, since an answer may be large.
func serveAdmin[Q any](answer func(a admin, req Q, reply func(response))) handlerFunc {
	return func(r *request) {
		req := any(r.kreq).(Q)
		go answer(engineAdmin{r.srv.engine}, req, func(resp response) { r.reply(resp) })
	}
}
