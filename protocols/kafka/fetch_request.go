package kafka

// maxFetchPartitions bounds the partitions of one request.
const maxFetchPartitions = 1 << 18

// fetchRequest is a decoded Fetch request. Topic names refer to the frame.
type fetchRequest struct {
	version      int16
	maxWaitMs    int32
	minBytes     int32
	maxBytes     int32
	committed    bool // isolation level read_committed
	sessionID    int32
	sessionEpoch int32
	parts        []fetchEntry
	forgotten    []fetchEntry // topic and index only
}

// fetchTopic names a topic: by name below version 13, by id from there on.
type fetchTopic struct {
	name string
	id   [16]byte
}

// fetchEntry is one partition of a request.
type fetchEntry struct {
	fetchTopic
	index int32
	fetchWish
}

// fetchWish is what a client wants of one partition.
type fetchWish struct {
	leaderEpoch int32 // -1: does not know
	offset      int64
	lastEpoch   int32 // leader epoch of the record before offset; -1: not told
	maxBytes    int32
}

// Layout of the request body; C is a compact length (varint of length + 1) in
// flexible versions, from 12 on, and i16 for strings, i32 for arrays before.
//
//	replica id        i32                  up to 14; clients send -1
//	max wait ms       i32
//	min bytes         i32
//	max bytes         i32
//	isolation level   i8                   1: read_committed
//	session id        i32                  from 7
//	session epoch     i32                  from 7
//	topics            C array
//	  name            C string             up to 12
//	  topic id        16 bytes             from 13
//	  partitions      C array
//	    index         i32
//	    leader epoch  i32                  from 9
//	    offset        i64
//	    last epoch    i32                  from 12
//	    log start     i64                  from 5; followers'
//	    max bytes     i32
//	    tags                               flexible; followers'
//	  tags                                 flexible
//	forgotten topics  C array              from 7
//	  name, topic id                       as above
//	  partitions      C array of i32
//	  tags                                 flexible
//	rack              C string             from 11; there is one replica to read
//	tags                                   flexible; followers'

func (q *fetchRequest) decode(version int16, body []byte) error {
	*q = fetchRequest{version: version, sessionEpoch: finalEpoch, parts: q.parts[:0], forgotten: q.forgotten[:0]}
	r := reader{b: body, flexible: version >= 12}
	if version < 15 {
		r.i32()
	}
	q.maxWaitMs, q.minBytes, q.maxBytes = r.i32(), r.i32(), r.i32()
	q.committed = r.i8() == 1
	if version >= 7 {
		q.sessionID, q.sessionEpoch = r.i32(), r.i32()
	}
	for n := r.array(); n > 0 && !r.bad; n-- {
		q.decodeTopic(&r)
	}
	if version >= 7 {
		for n := r.array(); n > 0 && !r.bad; n-- {
			q.decodeForgotten(&r)
		}
	}
	if version >= 11 {
		r.str()
	}
	r.tags()
	if r.bad {
		return errMalformed
	}
	return nil
}

func (q *fetchRequest) topic(r *reader) (t fetchTopic) {
	if q.version >= 13 {
		t.id = r.uuid()
	} else {
		t.name = text(r.str())
	}
	return t
}

func (q *fetchRequest) decodeTopic(r *reader) {
	t := q.topic(r)
	for n := r.array(); n > 0 && !r.bad; n-- {
		e := fetchEntry{fetchTopic: t, index: r.i32()}
		e.leaderEpoch, e.lastEpoch = -1, -1
		if q.version >= 9 {
			e.leaderEpoch = r.i32()
		}
		e.offset = r.i64()
		if q.version >= 12 {
			e.lastEpoch = r.i32()
		}
		if q.version >= 5 {
			r.i64()
		}
		e.maxBytes = r.i32()
		r.tags()
		q.parts = append(q.parts, e)
		q.limit(r)
	}
	r.tags()
}

func (q *fetchRequest) decodeForgotten(r *reader) {
	t := q.topic(r)
	for n := r.array(); n > 0 && !r.bad; n-- {
		q.forgotten = append(q.forgotten, fetchEntry{fetchTopic: t, index: r.i32()})
		q.limit(r)
	}
	r.tags()
}

func (q *fetchRequest) limit(r *reader) {
	if len(q.parts) > maxFetchPartitions || len(q.forgotten) > maxFetchPartitions {
		r.bad = true
	}
}

// forget drops what refers to the frame, and buffers of unusual size.
func (q *fetchRequest) forget() {
	const keep = 1024
	clear(q.parts)
	clear(q.forgotten)
	if cap(q.parts) > keep {
		q.parts = nil
	}
	if cap(q.forgotten) > keep {
		q.forgotten = nil
	}
}
