package txn

// Truncate forgets batches at end and above. A snapshot may know of batches
// that were still on their way to the disk when it was made; those that a crash
// has taken must not count as stored, or a retry of theirs would be acknowledged
// and lost.
func (p *Producers) Truncate(end int64) {
	for i := range p.entries {
		e := &p.entries[i]
		for e.batches > 0 && e.newest.baseOffset >= end {
			e.pop()
		}
		if e.txnFirst >= end {
			e.txnFirst = noOffset
			p.open--
		}
	}
	p.remove(func(e *entry) bool { return e.batches == 0 })
}

func (e *entry) pop() {
	e.batches--
	if e.batches == 0 {
		e.forget()
		return
	}
	e.newest = e.older[0]
	copy(e.older[:], e.older[1:])
}
