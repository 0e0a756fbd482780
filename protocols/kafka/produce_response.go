package kafka

import (
	"errors"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/batch"
)

// Layout of the response body; C as in the request.
//
//	topics              C array
//	  name              C string            up to 12
//	  topic id          16 bytes            from 13
//	  partitions        C array
//	    index           i32
//	    error           i16
//	    base offset     i64                 -1 with an error
//	    log append ms   i64                 -1 with CreateTime
//	    log start       i64                 from 5
//	    record errors   C array             from 8
//	      batch index   i32
//	      message       C string, null
//	      tags                              flexible
//	    error message   C string, null      from 8
//	    tags                                flexible; 0: current leader, not needed by one node
//	  tags                                  flexible
//	throttle ms         i32
//	tags                                    flexible; 0: node endpoints, not needed by one node

// answer encodes and sends the response.
func (p *produce) answer() {
	flexible := p.version >= 9
	w := getWriter(p.sess)
	w.begin(p.corrID, flexible)
	w.array(len(p.topics), flexible)
	i := 0
	for t := range p.topics {
		topic := &p.topics[t]
		if p.version >= 13 {
			w.b = append(w.b, topic.id[:]...)
		} else {
			w.str(text(topic.name), flexible)
		}
		w.array(topic.parts, flexible)
		for end := i + topic.parts; i < end; i++ {
			p.encodePart(w, topic, &p.parts[i])
		}
		w.tags(flexible)
	}
	w.i32(0)
	w.tags(flexible)
	w.send(p.place)
}

func (p *produce) encodePart(w *writer, t *produceTopic, part *producePart) {
	flexible := p.version >= 9
	a := &part.append
	w.i32(part.index)
	if part.code == 0 && a.Err == nil {
		w.i16(0)
		w.i64(a.BaseOffset)
		w.i64(a.LogAppendTime)
		w.logStart(a.LogStart, p.version)
		if p.version >= 8 {
			w.array(0, flexible)
			w.nullStr("", flexible)
		}
		w.tags(flexible)
		return
	}
	p.encodeRefusal(w, part)
	w.tags(flexible)
}

func (w *writer) logStart(offset int64, version int16) {
	if version >= 5 {
		w.i64(offset)
	}
}

func (w *writer) tags(flexible bool) {
	if flexible {
		w.b = append(w.b, 0)
	}
}

func (p *produce) encodeRefusal(w *writer, part *producePart) {
	flexible := p.version >= 9
	code, logStart := part.code, int64(-1)
	var records []batch.RecordError
	var message string
	if code == 0 {
		code, logStart = p.appendCode(part)
		records, message = p.guilty(part)
	}
	w.i16(code)
	w.i64(-1)
	w.i64(-1)
	w.logStart(logStart, p.version)
	if p.version < 8 {
		return
	}
	w.array(len(records), flexible)
	for _, r := range records {
		w.i32(r.Index)
		w.nullStr(r.Message, flexible)
		w.tags(flexible)
	}
	w.nullStr(message, flexible)
}

// guilty are the single records for which a batch was refused, and the message
// that goes with them.
func (p *produce) guilty(part *producePart) ([]batch.RecordError, string) {
	var e *batch.Error
	if !errors.As(part.append.Err, &e) || len(e.Records) == 0 {
		return nil, ""
	}
	if e.Kind == batch.InvalidTimestamp {
		return e.Records, "One or more records have been rejected due to invalid timestamp"
	}
	return e.Records, "One or more records have been rejected due to " + strconv.Itoa(len(e.Records)) + " record errors in total"
}

// appendCode is the error code of a refused append, and the log start offset
// where Kafka tells it.
func (p *produce) appendCode(part *producePart) (code int16, logStart int64) {
	err := part.append.Err
	var e *batch.Error
	if errors.As(err, &e) {
		if e.Kind == batch.InvalidRecord || e.Kind == batch.InvalidTimestamp {
			return batchCodes[e.Kind], part.partition.LogStart()
		}
		return batchCodes[e.Kind], -1
	}
	if c, ok := sequenceCode(err); ok {
		return c, part.partition.LogStart()
	}
	if p.version >= 13 && errors.Is(err, engine.ErrDeleted) {
		return kerr.UnknownTopicID.Code, -1
	}
	return engineCode(err), -1
}
