package groups

import "sort"

// deletion is what a deletion took out, to be put back if it cannot be stored.
type deletion struct {
	g       *group
	offsets map[TopicPartition]Offset
	died    bool
	hadMeta bool
}

// drop deletes offsets of a group durably, those still on their way to the log too,
// and, if dies, the group when nothing is left.
func (c *Coordinator) drop(s *step, g *group, gone []TopicPartition, dies bool, done func(error)) {
	d := &deletion{g: g, offsets: map[TopicPartition]Offset{}, hadMeta: g.hasMeta}
	var r []Record
	for _, tp := range gone {
		if o, ok := g.offsets[tp]; ok {
			d.offsets[tp] = o
			delete(g.offsets, tp)
		}
		for _, m := range c.commits[g.id] {
			delete(m.offsets, tp)
		}
		r = append(r, offsetRecord(g.id, tp, nil))
	}
	if dies && g.idle() {
		d.died = true
		delete(c.groups, g.id)
		c.unschedule(g)
		g.state = Dead
		if g.hasMeta {
			r = append(r, groupTombstone(g.id))
		}
	}
	if done == nil {
		done = func(error) {}
	}
	if len(r) == 0 {
		s.answer(func() { done(nil) })
		return
	}
	p := c.PartitionFor(g.id)
	s.append(p, r, func(err error) { c.dropped(d, err, done) })
}

// dropped ends a deletion, or takes it back if it could not be stored.
func (c *Coordinator) dropped(d *deletion, err error, done func(error)) {
	if err == nil {
		done(nil)
		return
	}
	c.do(func(s *step) {
		c.opt.Logger.Error("deletion cannot be stored", "group", d.g.id, "error", err)
		g := c.groups[d.g.id]
		if g == nil {
			g = d.g
			if d.died {
				g.state, g.hasMeta = Empty, d.hadMeta
			}
			c.groups[g.id] = g
		}
		for tp, o := range d.offsets {
			if _, newer := g.offsets[tp]; !newer {
				g.offsets[tp] = o
			}
		}
		s.answer(func() { done(ErrNotDurable) })
	})
}

// partitions are those of which a group has offsets, stored or on their way.
func (c *Coordinator) partitions(g *group) []TopicPartition {
	set := map[TopicPartition]bool{}
	for tp := range g.offsets {
		set[tp] = true
	}
	for _, m := range c.commits[g.id] {
		for tp := range m.offsets {
			set[tp] = true
		}
	}
	out := make([]TopicPartition, 0, len(set))
	for tp := range set {
		out = append(out, tp)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].less(out[j]) })
	return out
}

// Delete deletes an empty group with its offsets.
func (c *Coordinator) Delete(group string, reply func(error)) {
	c.do(func(s *step) {
		g := c.groups[group]
		var err error
		switch {
		case g == nil:
			err = ErrGroupNotFound
		case g.state != Empty:
			err = ErrGroupNotEmpty
		}
		if err != nil {
			s.answer(func() { reply(err) })
			return
		}
		clear(g.pending)
		c.drop(s, g, c.partitions(g), true, reply)
	})
}

// DeleteOffsets deletes committed offsets of topics that the group does not
// subscribe to. reply gets one error for each partition.
func (c *Coordinator) DeleteOffsets(group string, parts []TopicPartition, reply func([]error, error)) {
	c.do(func(s *step) {
		g := c.groups[group]
		var err error
		switch {
		case group == "":
			err = ErrInvalidGroup
		case g == nil:
			err = ErrGroupNotFound
		case g.state != Empty && g.protoType != "consumer":
			err = ErrGroupNotEmpty
		}
		if err != nil {
			s.answer(func() { reply(nil, err) })
			return
		}
		topics, known := g.subscribed()
		has := map[TopicPartition]bool{}
		for _, tp := range c.partitions(g) {
			has[tp] = true
		}
		errs := make([]error, len(parts))
		var gone []TopicPartition
		for i, tp := range parts {
			if len(g.members) > 0 && (!known || topics[tp.Topic]) {
				errs[i] = ErrSubscribed
			} else if has[tp] {
				gone = append(gone, tp)
			}
		}
		c.drop(s, g, gone, false, func(err error) { reply(errs, err) })
	})
}

// TopicDeleted forgets the offsets of a topic that is gone.
func (c *Coordinator) TopicDeleted(topic string) {
	c.do(func(s *step) {
		for _, g := range c.groups {
			var gone []TopicPartition
			for _, tp := range c.partitions(g) {
				if tp.Topic == topic {
					gone = append(gone, tp)
				}
			}
			if len(gone) > 0 {
				c.drop(s, g, gone, len(c.commits[g.id]) == 0, nil)
			}
		}
	})
}
