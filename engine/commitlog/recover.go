package commitlog

import (
	"fmt"

	"github.com/spatemq/spate/engine/disk"
)

// Block is one block as recovery or verification found it.
type Block struct {
	LSN     uint64
	Bytes   int
	Entries []DirEntry
	// Data is the whole block, valid during the call.
	Data []byte
	// Bad marks entries whose payload is damaged; nil if none is.
	Bad []bool
}

// Payload is the bytes of entry i.
func (b *Block) Payload(i int) []byte {
	d := &b.Entries[i]
	return b.Data[d.Pos : d.Pos+d.Bytes]
}

// Damage is a range of the log that cannot be read although it was durable.
type Damage struct {
	From, To uint64 // positions
	// Named: the block's directory survived, so that the block was reported with
	// its bad entries. Otherwise what stood there is not known.
	Named  bool
	Reason string
}

func (d Damage) String() string {
	return fmt.Sprintf("segment %d bytes %d-%d: %s", Segment(d.From), Offset(d.From), Offset(d.To), d.Reason)
}

// Report says what recovery found and did.
type Report struct {
	Segments  int
	Scanned   int
	Blocks    int
	CutFrom   uint64 // the torn tail began here; 0: there was none
	CutBlocks int    // valid but never acknowledged blocks behind it
	Damages   []Damage
}

// Recover scans the segments for which scan says true, in order, and hands their
// blocks to fn. Always scanned is the last segment that holds blocks. It cuts the torn
// tail, reports damage in the middle, and finds where the next block goes. Errors are
// those of the device; damage is not an error.
func (l *Log) Recover(scan func(id uint32) bool, fn func(*Block)) (Report, error) {
	var rep Report
	ids := l.segs.ids()
	rep.Segments = len(ids)
	firsts := make([]blockHead, len(ids))
	r := &reader{l: l}
	defer r.close()
	for i, id := range ids {
		h, err := r.firstBlock(id)
		if err != nil {
			return rep, err
		}
		firsts[i] = h
	}
	last := len(ids) - 1
	for ; last > 0 && firsts[last].bytes == 0; last-- {
	}
	for i := 0; i <= last; i++ {
		if i != last && !scan(ids[i]) {
			continue
		}
		rep.Scanned++
		var follow blockHead
		for j := i + 1; j <= last && follow.bytes == 0; j++ {
			follow = firsts[j]
		}
		s := &scanner{r: r, seg: ids[i], follow: follow, rep: &rep, fn: fn, prev: l.prev}
		if err := s.run(); err != nil {
			return rep, err
		}
		l.prev = s.prev
		if s.cut != 0 {
			// Nothing behind a torn tail was ever acknowledged.
			last = i
		}
		if i == last {
			l.tail = s.end
		}
	}
	if last < 0 {
		return rep, nil
	}
	return rep, l.resume(ids, last)
}

// resume takes the last segment with blocks as the active one again and frees
// the prepared ones behind it.
func (l *Log) resume(ids []uint32, last int) error {
	for _, id := range ids[last+1:] {
		var err error
		l.segs.recycle(id, l.opt.SpareSegments, func(e error) { err = e })
		if err != nil {
			return err
		}
	}
	g, err := l.segs.use(ids[last])
	if err != nil {
		return err
	}
	// What is trusted from here on must be durable, whoever wrote it.
	if err := g.file.Sync(); err != nil {
		return fmt.Errorf("sync of %s: %w", slotName(g.slot), err)
	}
	l.active = g
	l.complete, l.durable = l.tail, l.tail
	return nil
}

// reader reads segments sequentially through one window of memory.
type reader struct {
	l    *Log
	mem  *disk.Arena
	id   uint32
	file disk.File
	size int64
	from int64 // window start
	n    int   // bytes in the window
}

const windowBytes = 4 << 20

func (r *reader) close() {
	if r.mem != nil {
		r.mem.Free()
	}
	r.closeFile()
}

func (r *reader) closeFile() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

func (r *reader) open(id uint32) error {
	if r.file != nil && r.id == id {
		return nil
	}
	r.closeFile()
	r.l.segs.mu.Lock()
	g := r.l.segs.byID[id]
	r.l.segs.mu.Unlock()
	f, err := r.l.opt.Dir.Open(slotName(g.slot), disk.Direct)
	if err != nil {
		return err
	}
	r.id, r.file, r.size, r.from, r.n = id, f, g.bytes, 0, 0
	return nil
}

// at returns at least want bytes (fewer only at the end of the segment) from
// off on; off is aligned. An unreadable piece is reported as an error.
func (r *reader) at(off int64, want int) ([]byte, error) {
	want = int(min(int64(roundUp(want)), r.size-off))
	if off >= r.from && off+int64(want) <= r.from+int64(r.n) {
		return r.mem.Buf[off-r.from : r.n], nil
	}
	if r.mem == nil || len(r.mem.Buf) < want {
		if r.mem != nil {
			r.mem.Free()
		}
		m, err := r.l.opt.Dir.Arena(max(roundUp(want), windowBytes))
		if err != nil {
			r.mem = nil
			return nil, err
		}
		r.mem = m
	}
	n := int(min(int64(len(r.mem.Buf)), r.size-off))
	r.n = 0
	if _, err := r.file.ReadAt(r.mem.Buf[:n], off); err != nil {
		return nil, fmt.Errorf("read of segment %d at %d: %w", r.id, off, err)
	}
	r.from, r.n = off, n
	return r.mem.Buf[:n], nil
}

// firstBlock reads the header of a segment's first block; zero if there is none.
func (r *reader) firstBlock(id uint32) (blockHead, error) {
	if err := r.open(id); err != nil {
		return blockHead{}, err
	}
	if r.size <= segHeadBytes {
		return blockHead{}, nil
	}
	b, err := r.at(segHeadBytes, align)
	if err != nil {
		return blockHead{}, err
	}
	lsn := LSN(id, segHeadBytes)
	h, _, err := parseHead(b, lsn, r.l.segs.nonce)
	if err == errTornBlock && h.bytes > 0 && int64(h.bytes) <= r.size {
		if b, err = r.at(segHeadBytes, int(h.bytes)); err == nil {
			h, _, err = parseHead(b, lsn, r.l.segs.nonce)
		}
	}
	if err != nil {
		return blockHead{}, nil
	}
	return h, nil
}

// scanner walks one segment's blocks.
type scanner struct {
	r      *reader
	seg    uint32
	follow blockHead // first block of the segments behind, zero if there is none
	rep    *Report
	fn     func(*Block)
	look   bool   // change nothing
	prev   uint64 // LSN of the last good block
	end    uint64 // where the next block goes
	cut    uint64
}

func (s *scanner) run() error {
	if err := s.r.open(s.seg); err != nil {
		return err
	}
	off := int64(segHeadBytes)
	for off < s.r.size {
		next, err := s.block(off)
		if err != nil {
			return err
		}
		if next > 0 {
			off = next
			continue
		}
		if next, err = s.trouble(off); err != nil {
			return err
		}
		if next == 0 {
			break
		}
		off = next
	}
	s.end = LSN(s.seg, 0) + uint64(off)
	return nil
}

// block reports the block at off if it is whole, and returns where the next one
// begins; 0 if it is not.
func (s *scanner) block(off int64) (int64, error) {
	b, h, dir, err := s.load(off)
	if err != nil || b == nil {
		return 0, err
	}
	blk := &Block{LSN: h.lsn, Bytes: len(b), Entries: decodeDir(dir), Data: b}
	for i := range blk.Entries {
		if !payloadOK(b, &blk.Entries[i]) {
			return 0, nil
		}
	}
	s.emit(blk)
	return off + int64(len(b)), nil
}

// load returns the whole block at off, or nil if its header is not good.
func (s *scanner) load(off int64) ([]byte, blockHead, []byte, error) {
	lsn := LSN(s.seg, uint32(off))
	nonce := s.r.l.segs.nonce
	b, err := s.r.at(off, align)
	if err != nil {
		return nil, blockHead{}, nil, err
	}
	h, _, perr := parseHead(b, lsn, nonce)
	if perr == errNotABlock || int64(h.bytes) > s.r.size-off {
		return nil, h, nil, nil
	}
	if b, err = s.r.at(off, int(h.bytes)); err != nil {
		return nil, h, nil, err
	}
	h, dir, perr := parseHead(b, lsn, nonce)
	if perr != nil || int(h.bytes) > len(b) {
		return nil, h, nil, nil
	}
	return b[:h.bytes], h, dir, nil
}

func (s *scanner) emit(b *Block) {
	s.rep.Blocks++
	s.prev = b.LSN
	s.fn(b)
}

// trouble decides what the bad bytes at off are: the end, a torn tail, or
// damage with more log behind it. It returns where to go on, 0 for the end.
func (s *scanner) trouble(off int64) (int64, error) {
	lsn := LSN(s.seg, uint32(off))
	next, head, err := s.search(off + align)
	if err != nil {
		return 0, err
	}
	if next == 0 && s.follow.bytes > 0 && s.follow.prev == s.prev {
		return 0, nil // the rest was too small for the next block
	}
	proven, err := s.wasDurable(lsn, next, head)
	if err != nil {
		return 0, err
	}
	if !proven {
		return 0, s.tear(off, next)
	}
	if next == 0 {
		return 0, s.damaged(off, s.r.size)
	}
	return next, s.damaged(off, next)
}

// wasDurable tells whether some later block says that what stood at lsn had been
// synced. The very next one need not know: it may have been sealed before.
func (s *scanner) wasDurable(lsn uint64, next int64, head blockHead) (bool, error) {
	if s.follow.bytes > 0 && s.follow.durable > lsn {
		return true, nil
	}
	for next > 0 {
		if head.durable > lsn {
			return true, nil
		}
		var err error
		if next, head, err = s.search(next + int64(head.bytes)); err != nil {
			return false, err
		}
	}
	return false, nil
}

// search finds the next whole header at or after off.
func (s *scanner) search(off int64) (int64, blockHead, error) {
	for ; off < s.r.size; off += align {
		b, err := s.r.at(off, align)
		if err != nil {
			return 0, blockHead{}, err
		}
		if le.Uint32(b) != magicHead {
			continue
		}
		if b, h, _, err := s.load(off); err != nil {
			return 0, h, err
		} else if b != nil {
			return off, h, nil
		}
	}
	return 0, blockHead{}, nil
}

// damaged reports the range from off to end. If one of the block's two
// directories survived, the block itself is reported with what is bad in it.
func (s *scanner) damaged(off, end int64) error {
	lsn := LSN(s.seg, uint32(off))
	d := Damage{From: lsn, To: LSN(s.seg, 0) + uint64(end), Reason: "header damaged"}
	b, _, dir, err := s.load(off)
	if err != nil {
		return err
	}
	if b == nil {
		if b, err = s.r.at(off, int(end-off)); err != nil {
			return err
		}
		b = b[:min(int64(len(b)), end-off)]
		var h blockHead
		if h, dir, err = parseTrail(b, LSN(s.seg, 0)+uint64(end), s.r.l.segs.nonce); err != nil || h.lsn != lsn {
			s.rep.Damages = append(s.rep.Damages, d)
			return nil
		}
	}
	blk := &Block{LSN: lsn, Bytes: len(b), Entries: decodeDir(dir), Data: b, Bad: make([]bool, len(dir)/entryBytes)}
	bad := 0
	for i := range blk.Entries {
		if blk.Bad[i] = !payloadOK(b, &blk.Entries[i]); blk.Bad[i] {
			bad++
		}
	}
	d.Named = true
	d.Reason = fmt.Sprintf("%d of %d entries damaged", bad, len(blk.Entries))
	s.rep.Damages = append(s.rep.Damages, d)
	s.emit(blk)
	return nil
}

// tear ends the log at off. Whole blocks behind it were written but never
// acknowledged, since a group before them is missing; their headers are wiped,
// so that they cannot come back when the log has grown up to them.
func (s *scanner) tear(off, next int64) error {
	torn := next > 0
	if b, err := s.r.at(off, align); err == nil && le.Uint32(b) == magicHead && le.Uint64(b[8:]) == LSN(s.seg, uint32(off)) {
		torn = true
	}
	if !torn && s.follow.bytes == 0 {
		return nil
	}
	s.cut = LSN(s.seg, uint32(off))
	s.rep.CutFrom = s.cut
	if s.look {
		return nil
	}
	for next > 0 {
		s.rep.CutBlocks++
		if err := s.wipe(next); err != nil {
			return err
		}
		var err error
		if next, _, err = s.search(next + align); err != nil {
			return err
		}
	}
	return s.wipe(off)
}

func (s *scanner) wipe(off int64) error {
	mem, err := s.r.l.opt.Dir.Arena(align)
	if err != nil {
		return err
	}
	defer mem.Free()
	if _, err := s.r.file.WriteAt(mem.Buf[:align], off); err != nil {
		return err
	}
	s.r.n = 0 // the window is stale
	return s.r.file.Sync()
}
