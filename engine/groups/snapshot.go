package groups

import "sort"

// Snapshot gives add the records that alone say all of a partition of
// __consumer_offsets, so that older ones can go. add is called in order with
// Log.Append: what it appends is behind all that the records cover, and before all
// that comes later. It runs without lock, only if Snapshot returns true, and
// perhaps after that on another goroutine.
//
// Snapshot returns false, and is to be tried again later, while records of the
// partition are on their way or a group in it rebalances: what such a group is to be
// after a restart is in its last stored metadata alone.
//
// The caller may move the start of the log to the first record of the snapshot once
// the last one is durable.
func (c *Coordinator) Snapshot(partition int32, add func([]Record)) (ok bool) {
	c.do(func(s *step) {
		if c.inflight[partition] > 0 {
			return
		}
		var in []*group
		for id, g := range c.groups {
			if c.PartitionFor(id) != partition {
				continue
			}
			if g.state != Stable && g.state != Empty {
				return
			}
			in = append(in, g)
		}
		sort.Slice(in, func(i, j int) bool { return in[i].id < in[j].id })
		var r []Record
		for _, g := range in {
			if g.hasMeta {
				r = append(r, g.record())
			}
			for _, tp := range c.partitions(g) {
				o := g.offsets[tp]
				r = append(r, offsetRecord(g.id, tp, &o))
			}
		}
		ok = true
		s.answer(func() { add(r) })
	})
	return ok
}
