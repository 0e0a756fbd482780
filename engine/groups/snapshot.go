package groups

// Snapshot gives the records that are in force in one partition of
// __consumer_offsets, commits on their way included: appended now, they make all
// before them superfluous. append is called in the order of appends of that
// partition, as Log.Append is; ok is false while a group of the partition
// rebalances, whose state is in no record yet.
func (c *Coordinator) Snapshot(partition int32, append func(records []Record, ok bool)) {
	c.do(func(s *step) {
		var r []Record
		ok := true
		for _, g := range c.groups {
			if c.PartitionFor(g.id) != partition {
				continue
			}
			ok = ok && (g.state == Empty || g.state == Stable)
			r = g.snapshot(r, c.commits[g.id])
		}
		s.answer(func() { append(r, ok) })
	})
}

func (g *group) snapshot(r []Record, commits []*commit) []Record {
	offsets := make(map[TopicPartition]Offset, len(g.offsets))
	for tp, o := range g.offsets {
		offsets[tp] = o
	}
	for _, m := range commits {
		for tp, o := range m.offsets {
			offsets[tp] = o
		}
	}
	for tp, o := range offsets {
		r = append(r, offsetRecord(g.id, tp, &o))
	}
	if g.hasMeta {
		r = append(r, g.record())
	}
	return r
}
