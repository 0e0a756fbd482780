package batch

import "fmt"

// walk looks at every record of a batch.
type walk struct {
	b          Batch
	o          *Options
	maxTS      int64
	maxTSDelta int32
	gaps       bool // inner offset deltas are not 0, 1, 2, ...
	bad        []RecordError
	badKeys    bool
	badTimes   bool
}

func (w *walk) run(data []byte) error {
	count := w.b.Count()
	base := w.b.BaseTimestamp()
	if w.b.TimestampType() {
		base = w.b.MaxTimestamp()
	}
	lo, hi := w.o.Policy.timestamps(w.o.NowMs)
	compacted := w.o.Policy.Compacted
	var r raw
	pos := 0
	for i := range count {
		if bad := r.parse(data, pos); bad != "" {
			return errf(InvalidRecord, "record %d of %d: %s", i, count, bad)
		}
		pos = r.end
		ts := base
		if !w.b.TimestampType() {
			ts += r.tsDelta
		}
		if ts > w.maxTS {
			w.maxTS, w.maxTSDelta = ts, i
		}
		w.gaps = w.gaps || r.offsetDelta != i
		if compacted && r.key.n < 0 {
			w.refuseKey(i)
		} else if ts < lo || ts > hi {
			w.checkTime(i, ts, lo, hi)
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

func (w *walk) checkTime(i int32, ts, lo, hi int64) {
	if w.o.Policy.LogAppendTime || ts == NoTimestamp {
		return
	}
	w.badTimes = true
	w.refuse(i, fmt.Sprintf("timestamp %d is outside [%d, %d]", ts, lo, hi))
}

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
