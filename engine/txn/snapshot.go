package txn

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

const (
	snapshotMagic   = "spps"
	snapshotVersion = 1
	snapshotTail    = 4 // CRC
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode appends the state's snapshot to dst.
func (p *Producers) Encode(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, snapshotMagic...)
	dst = append(dst, snapshotVersion)
	dst = binary.AppendVarint(dst, int64(len(p.entries)))
	order := make([]*entry, len(p.entries))
	for i := range p.entries {
		order[i] = &p.entries[i]
	}
	slices.SortFunc(order, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	last := int64(0)
	for _, e := range order {
		dst = binary.AppendVarint(dst, e.id-last)
		last = e.id
		dst = e.encode(dst)
	}
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func (e *entry) encode(dst []byte) []byte {
	for _, v := range [...]int64{int64(e.epoch), int64(e.coordinatorEpoch), e.lastUsed, e.txnFirst, int64(e.batches)} {
		dst = binary.AppendVarint(dst, v)
	}
	for i := range int(e.batches) {
		b := &e.newest
		if i > 0 {
			b = &e.older[i-1]
		}
		for _, v := range [...]int64{int64(b.lastSequence), int64(b.count), b.baseOffset, b.timestamp} {
			dst = binary.AppendVarint(dst, v)
		}
	}
	return dst
}

// Decode reads a snapshot into a state for at most maxProducers; the longest
// unused of a larger snapshot are forgotten. Every error is an ErrSnapshot: the
// state must then be rebuilt from the log.
func Decode(src []byte, maxProducers int) (*Producers, error) {
	if len(src) < len(snapshotMagic)+1+snapshotTail || string(src[:len(snapshotMagic)]) != snapshotMagic {
		return nil, fmt.Errorf("%w: it does not start as one", ErrSnapshot)
	}
	if v := src[len(snapshotMagic)]; v != snapshotVersion {
		return nil, fmt.Errorf("%w: version %d is not %d", ErrSnapshot, v, snapshotVersion)
	}
	body := src[:len(src)-snapshotTail]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(src[len(body):]) {
		return nil, fmt.Errorf("%w: wrong CRC", ErrSnapshot)
	}
	d := decoder{b: body[len(snapshotMagic)+1:]}
	p := NewProducers(maxProducers)
	d.producers(p)
	if d.bad || len(d.b) != 0 {
		return nil, fmt.Errorf("%w: malformed", ErrSnapshot)
	}
	for len(p.entries) > p.limit() && len(p.entries) > p.open {
		p.evict()
	}
	return p, nil
}

type decoder struct {
	b   []byte
	bad bool
}

// int reads a value between lo and hi.
func (d *decoder) int(lo, hi int64) int64 {
	v, n := binary.Varint(d.b)
	if d.bad || n <= 0 || v < lo || v > hi {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// minEntryBytes is the least a producer takes; it bounds what a lying count can
// make Decode allocate.
const minEntryBytes = 6

func (d *decoder) producers(p *Producers) {
	count := d.int(0, int64(len(d.b)/minEntryBytes))
	p.entries = make([]entry, 0, count)
	id := int64(-1)
	for i := int64(0); i < count && !d.bad; i++ {
		lo := int64(1)
		if i == 0 {
			id, lo = 0, 0
		}
		id += d.int(lo, math.MaxInt64-id)
		e := d.entry()
		e.id = id
		if e.txnFirst != noOffset {
			p.open++
		}
		p.entries = append(p.entries, e)
	}
	p.reindex()
}

func (d *decoder) entry() (e entry) {
	e.epoch = int16(d.int(-1, math.MaxInt16))
	e.coordinatorEpoch = int32(d.int(math.MinInt32, math.MaxInt32))
	e.lastUsed = d.int(math.MinInt64, math.MaxInt64)
	e.txnFirst = d.int(-1, math.MaxInt64)
	e.batches = uint8(d.int(0, Window))
	for i := range int(e.batches) {
		b := batch{
			lastSequence: int32(d.int(0, math.MaxInt32)),
			count:        int32(d.int(1, math.MaxInt32)),
			baseOffset:   d.int(0, math.MaxInt64),
			timestamp:    d.int(math.MinInt64, math.MaxInt64),
		}
		if i == 0 {
			e.newest = b
			continue
		}
		if e.older == nil {
			e.older = new([Window - 1]batch)
		}
		e.older[i-1] = b
	}
	return e
}
