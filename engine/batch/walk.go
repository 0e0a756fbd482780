package batch

import "fmt"

// walk looks at every record of a batch. It holds values, not the Options, so that
// those need not live on the heap.
type walk struct {
	b          Batch
	compacted  bool
	appendTime bool // the topic's timestamp type is LogAppendTime
	internal   bool
	lo, hi     int64 // bounds of timestamps
	maxTS      int64
	maxTSDelta int32
	gaps       bool // inner offset deltas are not 0, 1, 2, ...
	bad        []RecordError
	badKeys    bool
	badTimes   bool
}

func newWalk(b Batch, o *Options) walk {
	w := walk{b: b, compacted: o.Policy.Compacted, appendTime: o.Policy.LogAppendTime, internal: o.Internal, maxTS: NoTimestamp}
	w.lo, w.hi = o.Policy.timestamps(o.NowMs)
	return w
}

func (w *walk) run(data []byte) error {
	count, base := w.b.Count(), w.b.BaseTimestamp()
	fixed := w.b.TimestampType()
	lo, hi, compacted := w.lo, w.hi, w.compacted
	var r raw
	pos := 0
	for i := range count {
		if bad := r.parse(data, pos); bad != "" {
			return errf(InvalidRecord, "record %d of %d: %s", i, count, bad)
		}
		pos = r.end
		ts := base + r.tsDelta
		if ts > w.maxTS {
			w.maxTS, w.maxTSDelta = ts, i
		}
		w.gaps = w.gaps || r.offsetDelta != i
		if compacted && r.key.n < 0 {
			w.refuseKey(i)
		} else if fixed || ts < lo || ts > hi {
			w.checkTime(i, ts)
		}
	}
	if pos != len(data) {
		return errf(InvalidRecord, "%d bytes remain after the last of %d records", len(data)-pos, count)
	}
	return w.err()
}

func (w *walk) refuseKey(i int32) {
	w.badKeys = true
	w.refuse(i, "record of a compacted topic has no key")
}

// checkTime applies Kafka's rule, under which a CreateTime topic takes batches
// that carry the LogAppendTime bit together with a timestamp in bounds, and a
// LogAppendTime topic does not take the bit at all. Since the bit is cleared in what
// is stored and the records' own timestamps come to light, they must be in bounds
// too, which Kafka does not look at.
func (w *walk) checkTime(i int32, ts int64) {
	fixed := w.b.TimestampType()
	if fixed && (w.appendTime || w.b.MaxTimestamp() == NoTimestamp) {
		if !w.internal {
			w.badTimes = true
			w.refuse(i, "timestamp type LogAppendTime is the broker's to set")
		}
		return
	}
	if w.appendTime {
		return
	}
	if w.inBounds(ts) && fixed {
		ts = w.b.MaxTimestamp()
	}
	if !w.inBounds(ts) {
		w.badTimes = true
		w.refuse(i, fmt.Sprintf("timestamp %d is outside [%d, %d]", ts, w.lo, w.hi))
	}
}

func (w *walk) inBounds(ts int64) bool { return ts == NoTimestamp || ts >= w.lo && ts <= w.hi }

func (w *walk) refuse(i int32, msg string) {
	if len(w.bad) < maxRecordErrors {
		w.bad = append(w.bad, RecordError{i, msg})
	}
}

func (w *walk) err() error {
	switch {
	case w.badTimes:
		return &Error{InvalidTimestamp, "one or more records have an invalid timestamp", w.bad}
	case w.badKeys:
		return &Error{InvalidRecord, "one or more records have no key, which a compacted topic needs", w.bad}
	}
	return nil
}
