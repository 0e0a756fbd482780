package kafka

import (
	"unsafe"

	"github.com/spatemq/spate/engine"
)

// maxProducePartitions bounds what a request of a few bytes for each partition
// makes of memory. It is far above what a client can have partitions for.
const maxProducePartitions = 1 << 16

// produceTopic is one topic of a Produce request.
type produceTopic struct {
	name  []byte   // of the frame; below version 13
	id    [16]byte // from version 13 on
	parts int      // so many follow in produce.parts
}

// producePart is one partition of a Produce request and its outcome.
type producePart struct {
	index     int32
	code      int16
	partition *engine.Partition
	append    engine.AppendRequest
}

// Layout of the request body. C is a compact length (varint of length + 1) in
// flexible versions, from 9 on, and i16 for strings, i32 for the rest before.
//
//	transactional id  C string, null       from 3
//	acks              i16
//	timeout ms        i32
//	topics            C array
//	  name            C string             up to 12
//	  topic id        16 bytes             from 13
//	  partitions      C array
//	    index         i32
//	    records       C bytes, null        a record batch
//	    tags                               flexible
//	  tags                                 flexible
//	tags                                   flexible

// decode reads the body of a request of version 3 or above. Everything refers to
// the frame.
func (p *produce) decode(body []byte) error {
	r := reader{b: body, flexible: p.version >= 9}
	p.transactional = r.nullStr() != nil
	p.acks = r.i16()
	r.i32() // timeout: there are no other replicas to wait for
	for n := r.array(); n > 0 && !r.bad && len(p.topics) <= maxProducePartitions; n-- {
		p.decodeTopic(&r)
	}
	r.tags()
	if r.bad || len(p.parts) > maxProducePartitions || len(p.topics) > maxProducePartitions {
		return errMalformed
	}
	return nil
}

func (p *produce) decodeTopic(r *reader) {
	var t produceTopic
	if p.version >= 13 {
		t.id = r.uuid()
	} else {
		t.name = r.str()
	}
	t.parts = r.array()
	for n := t.parts; n > 0 && !r.bad && len(p.parts) <= maxProducePartitions; n-- {
		p.decodePart(r)
	}
	r.tags()
	p.topics = append(p.topics, t)
}

func (p *produce) decodePart(r *reader) {
	if len(p.parts) < cap(p.parts) {
		p.parts = p.parts[:len(p.parts)+1]
	} else {
		p.parts = append(p.parts, producePart{})
	}
	part := &p.parts[len(p.parts)-1]
	part.index = r.i32()
	part.append.Records = r.nullBytes()
	r.tags()
}

// text is b as a string without a copy, for look-ups that end before b changes.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
