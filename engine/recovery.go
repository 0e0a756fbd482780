package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spatemq/spate/engine/batch"
	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/config"
	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/engine/index"
	"github.com/spatemq/spate/engine/txn"
)

// RecoveryReport says what opening a data directory found and did.
type RecoveryReport struct {
	Log      commitlog.Report
	Duration time.Duration
	Indexes  int // segments whose index file was used
}

const (
	lockName = "spate.lock"
	metaName = "spate.meta"
	// metaText is the content of metaName: it marks a directory as spate's and
	// says which format its files have.
	metaText = "spate data directory, format 1\n"
)

// openVolume locks the directory and makes sure that it is spate's or empty.
func (e *Engine) openVolume(dir disk.Dir) (*volume, error) {
	lock, err := dir.Lock(lockName)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is in use by another spate; stop it or name another with --data", dir.Path())
	} else if err != nil {
		return nil, fmt.Errorf("data directory %s cannot be locked: %w", dir.Path(), err)
	}
	if err := claim(dir); err != nil {
		lock.Close()
		return nil, err
	}
	v := &volume{engine: e, dir: dir, lock: lock, segs: map[uint32]*segment{}, sealed: make(chan uint32, 1024)}
	v.store = index.NewStore(dir, 16<<20)
	t := e.opt.Tuning
	v.log, err = commitlog.Open(commitlog.Options{Dir: dir, SegmentBytes: fitSegment(dir, t.SegmentBytes),
		GroupMaxBytes: t.GroupMaxBytes, GroupsInFlight: t.GroupsInFlight, HotBytes: t.HotBytes, ColdBytes: t.ColdBytes,
		ReadSlotBytes: t.ReadSlotBytes, ReadSlots: t.ReadSlots, SpareSegments: 2, ReserveBytes: e.reserve(dir),
		Logger: e.log, SegmentSealed: v.segmentSealed, Failed: v.fail})
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("data directory %s: %w", dir.Path(), err)
	}
	return v, nil
}

func (v *volume) segmentSealed(id uint32) {
	select {
	case v.sealed <- id:
	default:
		// The indexer is far behind; the segment is scanned at the next start.
		v.engine.log.Warn("segment index is late", "segment", id)
	}
}

func (v *volume) abandon() {
	v.log.Close()
	v.lock.Close()
}

// claim refuses a directory with somebody else's files and marks a new one.
func claim(dir disk.Dir) error {
	text, err := disk.ReadFile(dir, metaName)
	if err == nil {
		if string(text) != metaText {
			return fmt.Errorf("data directory %s has another format (%q); use the spate that wrote it", dir.Path(), strings.TrimSpace(string(text)))
		}
		return nil
	}
	if !errors.Is(err, disk.ErrNotExist) {
		return fmt.Errorf("data directory %s: %w", dir.Path(), err)
	}
	list, err := dir.List("")
	if err != nil {
		return fmt.Errorf("data directory %s: %w", dir.Path(), err)
	}
	for _, f := range list {
		if f.Name != lockName && f.Name != "lost+found" && !strings.HasPrefix(f.Name, metaName) {
			return fmt.Errorf("data directory %s is not spate's: it holds %q; name an empty directory with --data", dir.Path(), f.Name)
		}
	}
	if err := dir.MkdirAll(index.Dir); err != nil {
		return fmt.Errorf("data directory %s: %w", dir.Path(), err)
	}
	if err := dir.SyncDir(""); err != nil {
		return fmt.Errorf("data directory %s: %w", dir.Path(), err)
	}
	if err := disk.WriteFileAtomic(dir, metaName, []byte(metaText)); err != nil {
		return fmt.Errorf("data directory %s: %w", dir.Path(), err)
	}
	return nil
}

// fitSegment makes segments small enough for a small filesystem.
func fitSegment(dir disk.Dir, want int64) int64 {
	const smallest = 4 << 20
	if u, err := dir.Usage(); err == nil {
		want = min(want, max(int64(u.Total/16)&^(1<<20-1), smallest))
	}
	return max(want, 1<<20)
}

// reserve is the space that stays free of segments: what the disk-full
// percentage leaves, at most 1 GiB.
func (e *Engine) reserve(dir disk.Dir) uint64 {
	u, err := dir.Usage()
	if err != nil {
		return 0
	}
	percent := uint64(e.opt.Config.Int("spate.disk.full.percent"))
	return min(u.Total/100*(100-percent), 1<<30)
}

// recovered is one stream as the log shows it.
type recovered struct {
	ix      index.Stream
	prod    *txn.Producers
	touched []uint32 // segments with a log start entry or runs in memory
}

func (r *recovered) into(p *Partition) {
	p.ix = r.ix
	p.next, p.hw = r.ix.End, r.ix.End
	if r.prod != nil {
		r.prod.Truncate(p.next)
		p.prod = r.prod
	}
	for _, seg := range r.touched {
		p.vol.touch(seg, p, false)
	}
	p.vol.mu.Lock()
	for i := range p.ix.Parts {
		p.vol.segs[p.ix.Parts[i].Seg].live++
	}
	p.vol.mu.Unlock()
}

// rebuild collects the streams from index files and scanned blocks.
type rebuild struct {
	v       *volume
	now     int64
	streams map[uint64]*recovered
	files   map[uint32]*index.File
	order   []uint32 // segments whose index file is still to be taken in
	used    int
}

func (b *rebuild) stream(id uint64) *recovered {
	r := b.streams[id]
	if r == nil {
		r = &recovered{}
		r.ix.ID = id
		b.streams[id] = r
	}
	return r
}

// loadFiles reads the index files there are; a bad one is as good as none.
func (b *rebuild) loadFiles() error {
	list, err := b.v.dir.List(index.Dir)
	if errors.Is(err, disk.ErrNotExist) {
		return b.v.dir.MkdirAll(index.Dir)
	}
	if err != nil {
		return err
	}
	have := map[string]uint32{}
	for _, id := range b.v.log.Segments() {
		have[index.FileName(id)] = id
		b.v.segs[id] = &segment{id: id}
	}
	for _, f := range list {
		name := index.Dir + "/" + f.Name
		id, ok := have[name]
		if !ok {
			b.v.dir.Remove(name) // of a segment that is gone
			continue
		}
		text, err := disk.ReadFile(b.v.dir, name)
		if err != nil {
			return err
		}
		file, err := index.Decode(text)
		if err != nil || file.Seg != id {
			b.v.engine.log.Warn("segment index is made again", "file", name, "error", err)
			continue
		}
		b.files[id] = file
	}
	for _, id := range b.v.log.Segments() {
		if b.files[id] != nil {
			b.order = append(b.order, id)
		}
	}
	return nil
}

// takeFiles takes in the index files of segments before id.
func (b *rebuild) takeFiles(id uint32) {
	for len(b.order) > 0 && b.order[0] < id {
		f := b.files[b.order[0]]
		b.order = b.order[1:]
		for i := range f.Streams {
			b.takeStream(f, &f.Streams[i])
		}
		s := b.v.segs[f.Seg]
		s.sealed, s.indexed = true, true
		delete(b.files, f.Seg)
		b.used++
	}
}

func (b *rebuild) takeStream(f *index.File, s *index.FileStream) {
	r := b.stream(s.ID)
	if s.LogStart >= 0 {
		r.ix.LogStartSeg = f.Seg
		r.ix.Trim(s.LogStart)
	}
	if s.Part.Count > 0 {
		if len(r.ix.Parts) == 0 && r.ix.End == 0 {
			r.ix.LogStart = max(r.ix.LogStart, s.Part.Base)
		}
		r.ix.AddPart(s.Part, f.Epochs(&s.Part))
		r.ix.Trim(r.ix.LogStart)
	}
	if len(s.Blob) > 0 {
		if p, err := txn.Decode(s.Blob, txn.DefaultMaxProducers); err == nil {
			r.prod = p
		} else {
			b.v.engine.log.Warn("producer state is damaged; retries that cross the restart may be stored twice", "stream", s.ID, "error", err)
		}
	}
}

// block takes in one scanned block.
func (b *rebuild) block(blk *commitlog.Block) {
	seg := commitlog.Segment(blk.LSN)
	b.takeFiles(seg)
	for i := range blk.Entries {
		b.entry(seg, blk, i)
	}
}

func (b *rebuild) entry(seg uint32, blk *commitlog.Block, i int) {
	d := &blk.Entries[i]
	r := b.stream(d.Stream)
	note := func() {
		if n := len(r.touched); n == 0 || r.touched[n-1] != seg {
			r.touched = append(r.touched, seg)
		}
	}
	switch d.Kind {
	case commitlog.KindLogStart:
		r.ix.LogStartSeg = seg
		r.ix.Trim(d.BaseOffset)
		note()
	case commitlog.KindBatch:
		run := index.Run{Base: d.BaseOffset, LSN: blk.LSN + uint64(d.Pos), MaxTime: d.MaxTimestamp, Bytes: d.Bytes, Epoch: d.LeaderEpoch}
		bad := blk.Bad != nil && blk.Bad[i]
		if bad {
			run.Bytes = 0
		}
		end := d.BaseOffset + int64(d.Span)
		if end <= r.ix.LogStart && len(r.ix.Parts) == 0 {
			return
		}
		r.ix.Add(seg, run, end)
		note()
		if !bad {
			b.producer(r, batch.Batch(blk.Payload(i)))
		}
	}
}

// producer replays a batch into the producer state.
func (b *rebuild) producer(r *recovered, p batch.Batch) {
	if len(p) < batch.HeaderBytes || p.ProducerID() < 0 {
		return
	}
	if r.prod == nil {
		r.prod = txn.NewProducers(txn.DefaultMaxProducers)
	}
	r.prod.Append(batchMeta(p, p.BaseOffset(), b.now))
}

// recover rebuilds the index and the catalog from the log.
func (e *Engine) recover() error {
	began := time.Now()
	v := e.vol
	b := &rebuild{v: v, now: e.now().UnixMilli(), streams: map[uint64]*recovered{}, files: map[uint32]*index.File{}}
	if err := b.loadFiles(); err != nil {
		return err
	}
	rep, err := v.log.Recover(func(id uint32) bool { return b.files[id] == nil }, b.block)
	if err != nil {
		return err
	}
	b.takeFiles(1<<32 - 1)
	e.report = RecoveryReport{Log: rep, Indexes: b.used}
	for _, d := range rep.Damages {
		e.log.Error("the log is damaged; the offsets in it are isolated", "dir", v.dir.Path(), "damage", d.String())
	}
	if rep.CutFrom != 0 {
		e.log.Warn("torn end of the log was cut; nothing in it was acknowledged", "dir", v.dir.Path(),
			"segment", commitlog.Segment(rep.CutFrom), "position", commitlog.Offset(rep.CutFrom))
	}
	if err := v.log.Start(); err != nil {
		return err
	}
	if err := e.replayCatalog(b.streams); err != nil {
		return err
	}
	e.requeueIndexes()
	e.report.Duration = time.Since(began)
	return nil
}

// replayCatalog reads the metadata stream and makes the partitions.
func (e *Engine) replayCatalog(streams map[uint64]*recovered) error {
	var planned *catalog.Catalog
	e.catalog, planned = newCatalogs(e.opt.Config)
	p := &Partition{vol: e.vol, stream: catalog.MetadataStream}
	p.ix.ID = p.stream
	if r := streams[p.stream]; r != nil {
		r.into(p)
	}
	p.topic.Store(newTopicState(&catalog.Topic{Name: catalog.MetadataTopic, Internal: true, Settings: config.NewTopic(nil, config.Layers{})}))
	e.metaPart = p
	err := readAll(p, func(r *batch.Record) error {
		ev, err := catalog.Decode(r.Key, r.Value)
		if err != nil {
			return fmt.Errorf("metadata record %d: %w", r.Offset, err)
		}
		if err := e.catalog.Apply(ev); err != nil {
			return fmt.Errorf("metadata record %d: %w", r.Offset, err)
		}
		return planned.Apply(ev)
	})
	if err != nil {
		return err
	}
	e.meta = &metadata{e: e, part: p, planned: planned}
	for _, t := range e.catalog.Topics() {
		e.install(t, streams)
	}
	return nil
}

// readAll hands every record of a partition to fn, waiting for the disk.
func readAll(p *Partition, fn func(*batch.Record) error) error {
	for at := p.LogStart(); at < p.HighWatermark(); {
		var res ReadResult
		q := ReadRequest{Offset: at, MaxBytes: 1 << 20, AtLeastOne: true}
		if !p.Read(q, &res) {
			res = ReadResult{}
			p.readCold(q, &res)
		}
		if res.Err != nil {
			return res.Err
		}
		next, err := eachRecord(&res, at, fn)
		res.Release()
		if err != nil {
			return err
		}
		if next <= at {
			return fmt.Errorf("%w at offset %d", ErrCorrupt, at)
		}
		at = next
	}
	return nil
}

func eachRecord(res *ReadResult, from int64, fn func(*batch.Record) error) (next int64, err error) {
	next = from
	for _, buf := range res.Bufs {
		for len(buf) > 0 {
			b, rest, err := batch.Next(buf)
			if err != nil {
				return next, err
			}
			buf = rest
			if err := eachOfBatch(b, from, fn); err != nil {
				return next, err
			}
			next = b.LastOffset() + 1
		}
	}
	return next, nil
}

func eachOfBatch(b batch.Batch, from int64, fn func(*batch.Record) error) error {
	if b.Control() {
		return nil
	}
	it := batch.Records(b)
	defer it.Close()
	var r batch.Record
	for it.Next(&r) {
		if r.Offset < from {
			continue
		}
		if err := fn(&r); err != nil {
			return err
		}
	}
	return it.Err()
}

// requeueIndexes asks for the index files of sealed segments that have none.
func (e *Engine) requeueIndexes() {
	active := e.vol.log.ActiveSegment()
	for _, id := range e.vol.log.Segments() {
		e.vol.mu.Lock()
		s := e.vol.segs[id]
		missing := id < active && (s == nil || !s.indexed)
		e.vol.mu.Unlock()
		if missing {
			e.vol.segmentSealed(id)
		}
	}
}

// settle writes what a new or crashed cluster needs before it serves.
func (e *Engine) settle() error {
	wait := make(chan error, 1)
	done := func(err error) { wait <- err }
	if e.catalog.ClusterID() == "" {
		e.meta.change(func(c *catalog.Catalog) ([]catalog.Event, error) {
			return c.PlanCreateCluster(e.opt.Config.String("spate.cluster.id"), e.opt.Config.NodeID)
		}, done)
		return <-wait
	}
	if id := e.catalog.NodeID(); id != e.opt.Config.NodeID {
		return fmt.Errorf("belongs to node.id=%d, not %d; set node.id=%d or name another directory", id, e.opt.Config.NodeID, id)
	}
	if e.report.Log.CutFrom != 0 || len(e.report.Log.Damages) > 0 {
		// Consumers may have seen what is now gone, in modes weaker than fsync.
		e.meta.change(func(c *catalog.Catalog) ([]catalog.Event, error) { return c.PlanRaiseLeaderEpoch(), nil }, done)
		return <-wait
	}
	return nil
}
