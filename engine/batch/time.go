package batch

// FindTime finds the first record, in offset order, whose timestamp is at
// least ts (ms). ok is false if there is none or the records cannot be read.
func FindTime(b Batch, ts int64) (offset, timestamp int64, ok bool) {
	return FindTimeFrom(b, ts, b.BaseOffset())
}

// FindTimeFrom is FindTime for records at or after offset from, such as the log
// start.
func FindTimeFrom(b Batch, ts, from int64) (offset, timestamp int64, ok bool) {
	if b.MaxTimestamp() < ts {
		return -1, -1, false
	}
	it := Records(b)
	defer it.Close()
	var r Record
	for it.Next(&r) {
		if r.Timestamp >= ts && r.Offset >= from {
			return r.Offset, r.Timestamp, true
		}
	}
	return -1, -1, false
}

// MaxTime finds the first record that has the batch's largest timestamp and
// returns its offset and that timestamp in ms; -1, -1 for a batch without
// records or whose records cannot be read.
func MaxTime(b Batch) (offset, timestamp int64) {
	it := Records(b)
	defer it.Close()
	var r Record
	offset, timestamp = -1, NoTimestamp
	for it.Next(&r) {
		if r.Timestamp > timestamp || offset < 0 {
			offset, timestamp = r.Offset, r.Timestamp
		}
	}
	return offset, timestamp
}
