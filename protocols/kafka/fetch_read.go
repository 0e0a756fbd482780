package kafka

import (
	"errors"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/batch"
)

const (
	// maxFetchBytes bounds the records of one answer, which stay in memory until
	// the client has taken them; more only if the first batch is larger.
	maxFetchBytes = 8 << 20
	// A fetch reads so much from disk at a time, so that the answer to one that
	// lags on many partitions does not take long, and its memory is bounded.
	maxColdParts    = 8
	maxColdBytes    = 1 << 20 // for each partition
	maxColdAllBytes = 4 << 20
)

// fetchReads are the results of one answer's reads. They outlive the request
// until the client has taken the bytes.
type fetchReads struct {
	results []engine.ReadResult
	release func() // r.free, bound once
}

var fetchReadsPool sync.Pool

func getFetchReads(n int) *fetchReads {
	r, _ := fetchReadsPool.Get().(*fetchReads)
	if r == nil {
		r = new(fetchReads)
		r.release = r.free
	}
	if cap(r.results) < n {
		r.results = make([]engine.ReadResult, n)
	}
	r.results = r.results[:n]
	return r
}

// reset gives all bytes back. The results keep their slices for the next read.
func (r *fetchReads) reset() {
	for i := range r.results {
		res := &r.results[i]
		res.Release()
		res.Err, res.Bytes, res.Aborted = nil, 0, nil
	}
}

func (r *fetchReads) free() {
	r.reset()
	if cap(r.results) <= maxPooledParts {
		fetchReadsPool.Put(r)
	}
}

func (f *fetch) dropReads() {
	f.readsMu.Lock()
	defer f.readsMu.Unlock()
	if f.reads != nil {
		f.reads.free()
		f.reads = nil
	}
}

// budget is what an answer may still hold.
type budget struct {
	bytes      int
	atLeastOne bool // nothing has been read: the first batch is given whatever its size
	coldParts  int
	coldBytes  int
}

// read reads all partitions anew, those in memory at once. When all is there,
// decide follows.
func (f *fetch) read() {
	f.reads.reset()
	f.cold.Store(1)
	b := budget{bytes: int(max(f.req.maxBytes, 0)), atLeastOne: true, coldParts: maxColdParts, coldBytes: maxColdAllBytes}
	for i := range f.parts {
		f.readPart(&f.parts[i], &f.reads.results[i], &b)
	}
	if f.cold.Add(-1) == 0 {
		f.decide()
	}
}

func (f *fetch) readPart(part *fetchPart, res *engine.ReadResult, b *budget) {
	part.code, part.diverged = part.unknown, false
	if part.partition == nil || !f.checkEpochs(part, res) {
		return
	}
	q := engine.ReadRequest{Offset: part.offset, MaxBytes: min(int(max(part.maxBytes, 0)), b.bytes),
		AtLeastOne: b.atLeastOne, Committed: f.req.committed}
	if part.partition.Read(q, res) || res.Err != nil {
		b.bytes = max(b.bytes-res.Bytes, 0)
		b.atLeastOne = b.atLeastOne && res.Bytes == 0
		return
	}
	f.readCold(part, res, q, b)
}

// readCold reads from the disk, unless this answer has read enough from there.
// The partition is then answered as empty, and comes first in the next request.
func (f *fetch) readCold(part *fetchPart, res *engine.ReadResult, q engine.ReadRequest, b *budget) {
	if b.coldParts == 0 || b.coldBytes == 0 || (q.MaxBytes == 0 && !q.AtLeastOne) {
		return
	}
	q.MaxBytes = min(q.MaxBytes, maxColdBytes, b.coldBytes)
	b.coldParts--
	b.coldBytes -= q.MaxBytes
	b.bytes -= q.MaxBytes
	b.atLeastOne = false
	f.cold.Add(1)
	part.partition.ReadCold(q, res, f.coldFunc)
}

// coldDone is called when a read from the disk is done, on any goroutine.
func (f *fetch) coldDone() {
	if f.cold.Add(-1) == 0 && !f.sess.conn.Execute(f.coldDoneFunc) {
		f.dropReads()
	}
}

// coldReady goes on when all reads from the disk are done.
func (f *fetch) coldReady() {
	if f.sess.ended.Load() {
		f.dropReads()
		return
	}
	f.decide()
}

// checkEpochs compares the client's view of the log's history with the true one;
// false if the answer is already clear.
func (f *fetch) checkEpochs(part *fetchPart, res *engine.ReadResult) bool {
	p := part.partition
	if part.code = epochCode(part.leaderEpoch, p.LeaderEpoch()); part.code != 0 {
		return false
	}
	if part.lastEpoch < 0 {
		return true
	}
	epoch, end := p.EpochEnd(part.lastEpoch)
	if epoch < 0 || end < 0 || part.offset < p.LogStart() {
		part.code = kerr.OffsetOutOfRange.Code
		return false
	}
	if epoch < part.lastEpoch || end < part.offset {
		part.diverged, part.epoch, part.end = true, epoch, end
		res.HighWatermark, res.LastStable, res.LogStart = p.HighWatermark(), p.LastStable(), p.LogStart()
		return false
	}
	return true
}

// epochCode compares the leader epoch a client knows (-1: none) with the
// partition's.
func epochCode(client, current int32) int16 {
	switch {
	case client < 0 || client == current:
		return 0
	case client < current:
		return kerr.FencedLeaderEpoch.Code
	}
	return kerr.UnknownLeaderEpoch.Code
}

// settle turns read errors into codes; it tells the bytes read and whether the
// answer cannot wait: an error, a divergence, or a limit reached.
func (f *fetch) settle() (total int, urgent bool) {
	for i := range f.parts {
		part, res := &f.parts[i], &f.reads.results[i]
		if res.Err != nil {
			f.readFailed(part, res.Err)
		}
		if f.req.version < 10 && res.Bytes > 0 {
			part.hideZstd(res)
		}
		urgent = urgent || part.code != 0 || part.diverged
		total += res.Bytes
	}
	return total, urgent
}

func (f *fetch) readFailed(part *fetchPart, err error) {
	part.code = engineCode(err)
	if !errors.Is(err, engine.ErrDeleted) {
		return
	}
	if f.req.version >= 13 {
		part.code = kerr.UnknownTopicID.Code
	}
	if part.session != nil && f.session != nil {
		f.session.mu.Lock()
		part.session.partition = nil // another of the same name may come
		f.session.mu.Unlock()
	}
}

// hideZstd cuts a result off before its first batch with a codec that clients
// below version 10 do not know.
func (part *fetchPart) hideZstd(res *engine.ReadResult) {
	kept := 0
	for i, buf := range res.Bufs {
		for at := 0; at < len(buf); {
			b, _, err := batch.Next(buf[at:])
			if err == nil && b.Codec() != batch.Zstd {
				at += len(b)
				kept += len(b)
				continue
			}
			res.Bufs[i] = buf[:at]
			clear(res.Bufs[i+1:])
			res.Bufs = res.Bufs[:i+1]
			if res.Bytes = kept; kept == 0 {
				part.code = kerr.UnsupportedCompressionType.Code
			}
			return
		}
	}
}

// limited tells whether any partition has more than what was read of it, so that
// waiting would bring nothing.
func (f *fetch) limited() bool {
	for i := range f.reads.results {
		res := &f.reads.results[i]
		if res.Bytes == 0 {
			continue
		}
		end := res.HighWatermark
		if f.req.committed {
			end = res.LastStable
		}
		if nextOffset(res.Bufs) < end {
			return true
		}
	}
	return false
}

// nextOffset is the offset after the last of whole batches.
func nextOffset(bufs [][]byte) (next int64) {
	for _, buf := range bufs {
		for len(buf) > 0 {
			b, rest, err := batch.Next(buf)
			if err != nil {
				return next
			}
			next, buf = b.LastOffset()+1, rest
		}
	}
	return next
}
