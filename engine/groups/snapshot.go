package groups

import "sort"

// Snapshot gives the records that are in force in one partition of
// __consumer_offsets, commits on their way included: appended now, they make all
// before them superfluous. append is called in the order of appends of that
// partition, as Log.Append is, and perhaps after Snapshot has returned. ok is false,
// and there are no records, while a group of the partition rebalances, whose state is
// in no record yet, or while metadata or deletions are on their way, which are
// taken back if they cannot be stored. It is to be tried again later then.
func (c *Coordinator) Snapshot(partition int32, append func(records []Record, ok bool)) {
	c.do(func(s *step) {
		r, ok := c.inForce(partition)
		s.answer(func() { append(r, ok) })
	})
}

func (c *Coordinator) inForce(partition int32) (r []Record, ok bool) {
	if c.inflight[partition] > 0 {
		return nil, false
	}
	var in []*group
	for id, g := range c.groups {
		if c.PartitionFor(id) != partition {
			continue
		}
		if g.state != Empty && g.state != Stable {
			return nil, false
		}
		in = append(in, g)
	}
	sort.Slice(in, func(i, j int) bool { return in[i].id < in[j].id })
	for _, g := range in {
		r = g.snapshot(r, c.commits[g.id])
	}
	return r, true
}

func (g *group) snapshot(r []Record, commits []*commit) []Record {
	if g.hasMeta {
		r = append(r, g.record())
	}
	offsets := make(map[TopicPartition]Offset, len(g.offsets))
	for tp, o := range g.offsets {
		offsets[tp] = o
	}
	for _, m := range commits {
		for tp, o := range m.offsets {
			offsets[tp] = o
		}
	}
	for _, tp := range sorted(offsets) {
		o := offsets[tp]
		r = append(r, offsetRecord(g.id, tp, &o))
	}
	return r
}
