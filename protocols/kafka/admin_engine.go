package kafka

import (
	"github.com/spatemq/spate/engine"
)

// admin is the engine as administrative requests use it.
type admin struct{ *engine.Engine }

// DeleteRecords moves a partition's log start up to before, -1 for the high
// watermark.
func (a admin) DeleteRecords(topic string, partition int32, before int64, done func(logStart int64, err error)) {
	p := a.Partition(topic, partition)
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
		go answer(admin{r.srv.engine}, req, func(resp response) { r.reply(resp) })
	}
}
