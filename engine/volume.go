package engine

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/engine/index"
)

// volume is one data directory with its commit log.
type volume struct {
	engine *Engine
	dir    disk.Dir
	lock   io.Closer
	log    *commitlog.Log
	store  *index.Store
	failed atomic.Pointer[error]

	mu     sync.Mutex
	segs   map[uint32]*segment
	sealed chan uint32 // segments whose index is to be written
}

// segment is what the engine knows of one segment of the log.
type segment struct {
	id uint32
	// parts are the partitions with something in it, while their runs are in
	// memory; a partition may stand there twice.
	parts []*Partition
	// live is the number of streams that can still be read in it.
	live    int
	sealed  bool
	indexed bool // its index file is durable
	dying   bool
}

// touch notes that p has something in a segment; alive if records.
func (v *volume) touch(id uint32, p *Partition, alive bool) {
	v.mu.Lock()
	s := v.segs[id]
	if s == nil {
		s = &segment{id: id}
		v.segs[id] = s
	}
	s.parts = append(s.parts, p)
	if alive {
		s.live++
	}
	v.mu.Unlock()
}

// dropped notes that a stream's parts in these segments are dead.
func (v *volume) dropped(ids []uint32) {
	if len(ids) == 0 {
		return
	}
	v.mu.Lock()
	for _, id := range ids {
		if s := v.segs[id]; s != nil {
			s.live--
		}
	}
	v.mu.Unlock()
	v.engine.janitor.poke()
}

// fail takes the volume out of service and wakes everybody who waits on it.
func (v *volume) fail(err error) {
	v.failed.CompareAndSwap(nil, &err)
	for _, p := range v.engine.allPartitions() {
		if p.vol == v {
			p.wakeAll()
		}
	}
}

// indexer writes the index file of each sealed segment and then lets go of the
// runs in memory.
func (v *volume) indexer(stop <-chan struct{}) {
	for {
		select {
		case id := <-v.sealed:
			if err := v.writeIndex(id); err != nil {
				// The segment is scanned at the next start instead.
				v.engine.log.Error("segment index cannot be written", "dir", v.dir.Path(), "segment", id, "error", err)
			}
			v.engine.janitor.poke()
		case <-stop:
			return
		}
	}
}

func (v *volume) writeIndex(id uint32) error {
	v.mu.Lock()
	s := v.segs[id]
	if s == nil {
		s = &segment{id: id}
		v.segs[id] = s
	}
	s.sealed = true
	parts := s.parts
	v.mu.Unlock()
	entries, owners := collectParts(id, parts)
	if err := disk.WriteFileAtomic(v.dir, index.FileName(id), index.Encode(id, entries)); err != nil {
		return err
	}
	for i := range entries {
		owners[entries[i].ID].unloadRuns(&entries[i].Part)
	}
	v.mu.Lock()
	s.parts, s.indexed = nil, true
	v.mu.Unlock()
	return nil
}

func collectParts(id uint32, parts []*Partition) ([]index.FileStream, map[uint64]*Partition) {
	owners := make(map[uint64]*Partition, len(parts))
	var entries []index.FileStream
	for _, p := range parts {
		if owners[p.stream] != nil {
			continue
		}
		owners[p.stream] = p
		entries = append(entries, p.fileEntry(id))
	}
	return entries, owners
}

// fileEntry is the partition's entry in a segment's index file.
func (p *Partition) fileEntry(id uint32) index.FileStream {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := index.FileStream{ID: p.stream, LogStart: -1, Part: index.Part{Seg: id, Base: p.next, End: p.next}}
	for i := range p.ix.Parts {
		if p.ix.Parts[i].Seg == id {
			e.Part = p.ix.Parts[i]
		}
	}
	if p.ix.LogStartSeg == id {
		e.LogStart = p.ix.LogStart
	}
	if p.prod != nil {
		e.Blob = p.prod.Encode(nil)
	}
	return e
}

func (p *Partition) unloadRuns(part *index.Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.ix.Parts {
		if q := &p.ix.Parts[i]; q.Seg == part.Seg {
			q.First, q.Count, q.Runs = part.First, part.Count, nil
		}
	}
}

// indexLocked adds a sealed entry to the partition's index; with p.mu.
func (p *Partition) indexLocked(seg uint32, e *commitlog.Entry) {
	newPart := p.ix.Add(seg, index.Run{Base: e.BaseOffset, LSN: e.LSN, MaxTime: e.MaxTimestamp,
		Bytes: uint32(len(e.Payload)), Epoch: e.LeaderEpoch}, e.BaseOffset+int64(e.Span))
	if newPart {
		p.vol.touch(seg, p, true)
	}
}
