package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine"
)

// Layout of the response body; C as in the request.
//
//	throttle ms        i32
//	error              i16                 from 7
//	session id         i32                 from 7; 0: no session
//	topics             C array
//	  name             C string            up to 12
//	  topic id         16 bytes            from 13
//	  partitions       C array
//	    index          i32
//	    error          i16
//	    high watermark i64                 -1 with an error, like the next two
//	    last stable    i64
//	    log start      i64                 from 5
//	    aborted        C array, null       null with read_uncommitted
//	      producer id  i64
//	      first offset i64
//	      tags                             flexible
//	    read replica   i32                 from 11; -1: this one
//	    records        C bytes             whole batches; never null, which librdkafka refuses
//	    tags                               flexible; 0: divergence, 1: current leader
//	  tags                                 flexible
//	tags                                   flexible; 0: node endpoints, from 16

// answerError answers with an error for the whole request.
func (f *fetch) answerError(code int16) {
	id := int32(0)
	if f.session != nil {
		id = f.session.id
	}
	w := f.beginAnswer(code, id)
	flexible := f.req.version >= 12
	w.array(0, flexible)
	w.tags(flexible)
	f.send(w)
}

func (f *fetch) beginAnswer(code int16, session int32) *writer {
	w := getWriter(f.sess)
	w.begin(f.corrID, f.req.version >= 12)
	w.i32(0)
	if f.req.version >= 7 {
		w.i16(code)
		w.i32(session)
	}
	return w
}

// send sends the answer and ends the request.
func (f *fetch) send(w *writer) {
	f.session = nil
	clear(f.parts)
	if f.parts = f.parts[:0]; cap(f.parts) > maxPooledParts {
		f.parts = nil
	}
	w.send(f.place)
	f.turn.end(f.sess)
}

// answer answers with what has been read.
func (f *fetch) answer() {
	id, ok := f.updateSession()
	if !ok {
		f.dropReads()
		f.answerError(kerr.InvalidFetchSessionEpoch.Code)
		return
	}
	flexible := f.req.version >= 12
	w := f.beginAnswer(0, id)
	w.array(f.groups(), flexible)
	for i := 0; i < len(f.parts); {
		i = f.encodeTopic(w, i)
	}
	f.encodeEndpoints(w)
	w.after, f.reads = f.reads.release, nil
	f.send(w)
}

// updateSession notes in the session what the client will know, and marks the
// parts that belong into the answer. False: another request has used the session
// meanwhile.
func (f *fetch) updateSession() (id int32, ok bool) {
	s := f.session
	if s == nil {
		for i := range f.parts {
			f.parts[i].answered = true
		}
		if f.opens {
			return f.openSession(), true
		}
		return 0, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch != nextEpoch(f.req.sessionEpoch) {
		return 0, false
	}
	gave := 0
	for i := range f.parts {
		part, res := &f.parts[i], &f.reads.results[i]
		part.answered = part.session.note(part, res)
		if part.session.gaveRecords {
			gave++
		}
	}
	s.rotate(gave)
	return s.id, true
}

// note takes over what the answer tells of a partition; false if the answer need
// not mention it.
func (p *sessionPart) note(part *fetchPart, res *engine.ReadResult) bool {
	p.gaveRecords = res.Bytes > 0
	if part.code != 0 {
		p.highWatermark = -1
		return true
	}
	news := p.gaveRecords || part.diverged || p.highWatermark != res.HighWatermark || p.logStart != res.LogStart
	p.highWatermark, p.logStart = res.HighWatermark, res.LogStart
	return news
}

// openSession opens a session for the partitions of a full fetch; 0 if there is
// none.
func (f *fetch) openSession() int32 {
	if f.sess.srv.fetchSessions.slots == 0 {
		return 0
	}
	parts := make([]*sessionPart, 0, len(f.parts))
	for i := range f.parts {
		part, res := &f.parts[i], &f.reads.results[i]
		p := &sessionPart{fetchKey: fetchKey{part.fetchTopic, part.index}, fetchWish: part.fetchWish, partition: part.partition}
		p.note(part, res)
		parts = append(parts, p)
	}
	if s := f.sess.srv.fetchSessions.open(parts, f.req.version >= 13); s != nil {
		return s.id
	}
	return 0
}

// groups counts the topics of the answer: parts that follow each other and are
// of one topic.
func (f *fetch) groups() (n int) {
	var last *fetchPart
	for i := range f.parts {
		part := &f.parts[i]
		if !part.answered {
			continue
		}
		if last == nil || last.fetchTopic != part.fetchTopic {
			n++
		}
		last = part
	}
	return n
}

// encodeTopic writes the answered parts from i on that are of one topic, and
// returns where they end.
func (f *fetch) encodeTopic(w *writer, i int) int {
	for i < len(f.parts) && !f.parts[i].answered {
		i++
	}
	if i == len(f.parts) {
		return i
	}
	topic, n, end := f.parts[i].fetchTopic, 0, i
	for ; end < len(f.parts) && (!f.parts[end].answered || f.parts[end].fetchTopic == topic); end++ {
		if f.parts[end].answered {
			n++
		}
	}
	flexible := f.req.version >= 12
	if f.req.version >= 13 {
		w.b = append(w.b, topic.id[:]...)
	} else {
		w.str(topic.name, flexible)
	}
	w.array(n, flexible)
	for ; i < end; i++ {
		if f.parts[i].answered {
			f.encodePart(w, &f.parts[i], &f.reads.results[i])
		}
	}
	w.tags(flexible)
	return end
}

func (f *fetch) encodePart(w *writer, part *fetchPart, res *engine.ReadResult) {
	flexible := f.req.version >= 12
	w.i32(part.index)
	w.i16(part.code)
	hw, stable, start := res.HighWatermark, res.LastStable, res.LogStart
	if part.code != 0 {
		hw, stable, start = -1, -1, -1
	}
	w.i64(hw)
	w.i64(stable)
	w.logStart(start, f.req.version)
	f.encodeAborted(w, part, res)
	if f.req.version >= 11 {
		w.i32(-1)
	}
	if flexible {
		w.uvarint(uint64(res.Bytes) + 1)
	} else {
		w.i32(int32(res.Bytes))
	}
	if res.Bytes > 0 {
		w.reference(res.Bufs)
	}
	if flexible {
		f.encodePartTags(w, part)
	}
}

func (f *fetch) encodeAborted(w *writer, part *fetchPart, res *engine.ReadResult) {
	flexible := f.req.version >= 12
	if part.code != 0 || !f.req.committed {
		w.array(-1, flexible)
		return
	}
	w.array(len(res.Aborted), flexible)
	for _, a := range res.Aborted {
		w.i64(a.ProducerID)
		w.i64(a.FirstOffset)
		w.tags(flexible)
	}
}

// tellsLeader tells whether the answer for a part names the current leader
// (KIP-951).
func (f *fetch) tellsLeader(part *fetchPart) bool {
	return f.req.version >= 16 && part.partition != nil &&
		(part.code == kerr.FencedLeaderEpoch.Code || part.code == kerr.NotLeaderForPartition.Code)
}

func (f *fetch) encodePartTags(w *writer, part *fetchPart) {
	switch {
	case part.diverged:
		w.b = append(w.b, 1, 0, 13)
		w.i32(part.epoch)
		w.i64(part.end)
		w.b = append(w.b, 0)
	case f.tellsLeader(part):
		w.b = append(w.b, 1, 1, 9)
		w.i32(f.sess.srv.config.NodeID)
		w.i32(part.partition.LeaderEpoch())
		w.b = append(w.b, 0)
	default:
		w.b = append(w.b, 0)
	}
}

// encodeEndpoints ends the answer, with the address of the node if it is named
// as a leader.
func (f *fetch) encodeEndpoints(w *writer) {
	if f.req.version < 12 {
		return
	}
	for i := range f.parts {
		if f.parts[i].answered && f.tellsLeader(&f.parts[i]) {
			w.endpoints(f.sess.srv.endpoint(f.sess.conn))
			return
		}
	}
	w.b = append(w.b, 0)
}
