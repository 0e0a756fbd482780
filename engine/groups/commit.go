package groups

import "unicode/utf16"

// commit is a commit on its way to the log. Deletions that come meanwhile are
// behind it in the log and take their partitions out of it.
type commit struct {
	group   string
	offsets map[TopicPartition]Offset
	reply   func(error)
}

// Commit stores offsets. Each refused one gets its Err in q before reply is called;
// reply's error is that of all the others.
func (c *Coordinator) Commit(q *CommitRequest, reply func(error)) {
	c.do(func(s *step) {
		g := c.groups[q.Group]
		err := s.mayCommit(g, q)
		if g == nil && err == nil && len(c.groups) >= c.opt.MaxGroups {
			err = ErrTooManyGroups
		}
		if err != nil {
			s.answer(func() { reply(err) })
			return
		}
		m := &commit{q.Group, make(map[TopicPartition]Offset, len(q.Offsets)), reply}
		var r []Record
		for i := range q.Offsets {
			o := &q.Offsets[i]
			if o.Err == nil {
				o.Err = c.refusal(o)
			}
			if o.Err == nil {
				v := o.stored(s.now)
				m.offsets[o.TopicPartition] = v
				r = append(r, offsetRecord(q.Group, o.TopicPartition, &v))
			}
		}
		if len(r) == 0 {
			s.answer(func() { reply(nil) })
			return
		}
		c.groupFor(q.Group, s.now)
		c.commits[q.Group] = append(c.commits[q.Group], m)
		p := c.PartitionFor(q.Group)
		s.append(p, r, func(err error) { c.committed(m, err) })
	})
}

func (c *Coordinator) refusal(o *Commit) error {
	// The limit counts as Java does; no string has more such units than bytes.
	if most := c.opt.MaxMetadataBytes; len(o.Metadata) > most && len(utf16.Encode([]rune(o.Metadata))) > most {
		return ErrMetadataTooLarge
	}
	if c.opt.Exists != nil && !c.opt.Exists(o.Topic, o.Partition) {
		return ErrUnknownPartition
	}
	return nil
}

// stored is the offset as it is kept.
func (o *Commit) stored(now int64) Offset {
	v := Offset{Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, CommitMs: now, ExpireMs: -1}
	// A retention beyond all time leaves the sum negative, which is the broker's.
	if o.RetentionMs >= 0 {
		v.ExpireMs = max(now+o.RetentionMs, -1)
	}
	return v
}

// committed makes durable offsets visible.
func (c *Coordinator) committed(m *commit, err error) {
	c.do(func(s *step) {
		c.landed(m)
		if err != nil {
			c.opt.Logger.Error("offsets cannot be stored", "group", m.group, "error", err)
			s.answer(func() { m.reply(ErrNotDurable) })
			return
		}
		if len(m.offsets) > 0 {
			g := c.groupFor(m.group, s.now)
			for tp, o := range m.offsets {
				g.offsets[tp] = o
			}
		}
		s.answer(func() { m.reply(nil) })
	})
}

// landed takes a commit out of those on their way.
func (c *Coordinator) landed(m *commit) {
	list := c.commits[m.group]
	for i := range list {
		if list[i] == m {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if c.commits[m.group] = list; len(list) == 0 {
		delete(c.commits, m.group)
	}
}
