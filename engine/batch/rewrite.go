package batch

// rewrite builds b anew with codec target and inner offset deltas 0, 1, 2, ...
// data are b's records, uncompressed and checked.
func rewrite(b Batch, data []byte, target Codec, o Options) (Result, error) {
	w := NewBuilder(BuilderOptions{
		BaseOffset:    b.BaseOffset(),
		LeaderEpoch:   b.LeaderEpoch(),
		Codec:         target,
		Level:         o.Policy.Level,
		ProducerID:    b.ProducerID(),
		ProducerEpoch: b.ProducerEpoch(),
		BaseSequence:  b.BaseSequence(),
		Transactional: b.Transactional(),
		Control:       b.Control(),
	})
	it := Iterator{b: b, data: data, left: b.Count(), fixed: b.TimestampType()}
	res := Result{Rewritten: true, MaxTimestamp: NoTimestamp}
	var r Record
	for it.Next(&r) {
		if r.Timestamp > res.MaxTimestamp {
			res.MaxTimestamp, res.MaxTimestampDelta = r.Timestamp, w.Count()
		}
		w.AppendRecord(w.Count(), &r)
	}
	if it.err != nil {
		panic("BUG: checked records do not parse: " + it.err.Error())
	}
	res.Batch = w.Finish()
	if !o.Internal && len(res.Batch) > o.Policy.MaxBytes {
		return Result{}, errf(TooLarge, "batch of %d bytes becomes %d with compression.type=%v and exceeds max.message.bytes=%d",
			len(b), len(res.Batch), target, o.Policy.MaxBytes)
	}
	stamp(&res, &o)
	return res, nil
}
