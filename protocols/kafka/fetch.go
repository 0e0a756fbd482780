package kafka

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/protocols"
)

func init() { registerFrame(keyFetch, 4, 18, serveFetch) }

// fetch is the Fetch request in work on one connection. There is one at most, so
// the session keeps it for the next. Everything runs on the connection's loop
// but wake, tick and coldDone, which only have something run there.
type fetch struct {
	sess   *session
	place  protocols.Reply
	corrID int32
	turn   turn

	req      fetchRequest
	parts    []fetchPart
	readsMu  sync.Mutex  // at the connection's end two may want to free reads
	reads    *fetchReads // what has been read, one result for each of parts
	session  *fetchSession
	opens    bool // may open a session
	minBytes int
	deadline time.Time

	cold     atomic.Int32 // reads from disk that are not done, and read itself
	waiting  bool         // registered as a waiter of all partitions
	slack    bool         // waits for more than it has: see woken
	isWoken  atomic.Bool
	timer    *time.Timer
	timedOut bool

	wokenFunc, tickedFunc, coldFunc, coldDoneFunc func() // methods, bound once
}

// fetchPart is one partition of the request in work.
type fetchPart struct {
	fetchTopic
	index int32
	fetchWish
	partition *engine.Partition
	session   *sessionPart // nil without session
	unknown   int16        // code if partition is nil

	// Of the last read.
	code     int16
	diverged bool
	epoch    int32 // of the divergence, and where it ends here
	end      int64
	answered bool // part of the answer
}

func newFetch(s *session) *fetch {
	f := &fetch{sess: s}
	f.wokenFunc, f.tickedFunc, f.coldFunc, f.coldDoneFunc = f.woken, f.ticked, f.coldDone, f.coldReady
	return f
}

// serveFetch starts a request.
func serveFetch(s *session, fr frame) error {
	if s.fetch == nil {
		s.fetch = newFetch(s)
	}
	f := s.fetch
	if err := f.req.decode(fr.version, fr.body); err != nil {
		s.conn.Free(fr.buf)
		return fmt.Errorf("%w: Fetch version %d", err, fr.version)
	}
	f.place, f.corrID = s.conn.Reserve(), fr.corrID
	f.turn.begin()
	code := f.open()
	f.req.forget()
	s.conn.Free(fr.buf)
	if code != 0 {
		f.answerError(code)
	} else {
		f.begin()
	}
	s.handled(&f.turn)
	return nil
}

// open makes f.parts of the request and its session. code refuses the whole
// request.
func (f *fetch) open() (code int16) {
	q, c := &f.req, f.sess.srv.fetchSessions
	f.parts, f.session, f.opens = f.parts[:0], nil, false
	if q.sessionEpoch == initialEpoch || q.sessionEpoch == finalEpoch {
		if q.sessionID != 0 {
			c.end(q.sessionID)
		}
		f.opens = q.sessionEpoch == initialEpoch
	} else {
		f.session, code = c.use(q, f.addSessionPart)
	}
	if f.session == nil && code == 0 {
		for i := range q.parts {
			f.addEntry(&q.parts[i])
		}
	}
	return code
}

func (f *fetch) addSessionPart(s *sessionPart) {
	part := fetchPart{fetchTopic: s.fetchTopic, index: s.index, fetchWish: s.fetchWish, partition: s.partition, session: s}
	if part.partition == nil {
		f.resolve(&part)
		s.partition = part.partition
	}
	f.parts = append(f.parts, part)
}

func (f *fetch) addEntry(e *fetchEntry) {
	part := fetchPart{fetchTopic: e.fetchTopic, index: e.index, fetchWish: e.fetchWish}
	f.resolve(&part)
	if n := len(f.parts); n > 0 && f.parts[n-1].name == part.name {
		part.name = f.parts[n-1].name
	} else if part.partition != nil && part.name != "" {
		part.name = part.partition.Topic().Name
	} else {
		part.name = strings.Clone(part.name)
	}
	f.parts = append(f.parts, part)
}

// resolve finds a part's partition, or the code that says why there is none.
func (f *fetch) resolve(part *fetchPart) {
	e := f.sess.srv.engine
	part.unknown = 0
	if f.req.version < 13 {
		part.partition = e.Partition(part.name, part.index)
	} else {
		part.partition = e.PartitionByID(part.id, part.index)
	}
	if part.partition != nil && part.partition.Topic().Name == catalog.MetadataTopic {
		part.partition = nil
	}
	if part.partition == nil {
		part.unknown = kerr.UnknownTopicOrPartition.Code
		if f.req.version >= 13 && e.Catalog().TopicByID(part.id) == nil {
			part.unknown = kerr.UnknownTopicID.Code
		}
	}
}

// begin reads what there is.
func (f *fetch) begin() {
	f.req.maxBytes = min(f.req.maxBytes, f.sess.srv.fetchMaxBytes)
	f.minBytes = int(min(f.req.minBytes, max(f.req.maxBytes, 1)))
	f.timedOut = f.req.maxWaitMs <= 0
	f.slack = false
	f.reads = getFetchReads(len(f.parts))
	f.read()
}

// closed ends the request with its connection. Reads from the disk that are not
// done free what has been read themselves.
func (f *fetch) closed() {
	f.unregister()
	if f.cold.Load() == 0 {
		f.dropReads()
	}
}
