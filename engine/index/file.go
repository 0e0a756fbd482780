package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path"
	"sort"
)

// FileVersion is the version of segment index files that this package writes.
const FileVersion = 1

const (
	fileMagic  = "SPTEIDX1"
	headBytes  = 32
	tableBytes = 72
	runBytes   = 32
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	// ErrDamaged: the file cannot be used and must be made again.
	ErrDamaged = errors.New("segment index is damaged")
)

// Dir is the directory of segment index files.
const Dir = "index"

// FileName is the name of a segment's index file.
func FileName(seg uint32) string { return path.Join(Dir, fmt.Sprintf("%08x.idx", seg)) }

// FileStream is one stream's entry of a segment index file.
type FileStream struct {
	ID       uint64
	Part     Part
	LogStart int64 // -1: none
	Blob     []byte
}

// Encode makes a segment index file. It sorts the entries, whose parts must have
// their runs, and sets where in the file those stand.
func Encode(seg uint32, streams []FileStream) []byte {
	sort.Slice(streams, func(i, j int) bool { return streams[i].ID < streams[j].ID })
	runs, blob := 0, 0
	for i := range streams {
		runs += len(streams[i].Part.Runs)
		blob += len(streams[i].Blob)
	}
	b := make([]byte, headBytes+len(streams)*tableBytes+runs*runBytes+blob)
	copy(b, fileMagic)
	le.PutUint32(b[8:], FileVersion)
	le.PutUint32(b[16:], seg)
	le.PutUint32(b[20:], uint32(len(streams)))
	le.PutUint32(b[24:], uint32(runs))
	le.PutUint32(b[28:], uint32(blob))
	t := b[headBytes:]
	r := t[len(streams)*tableBytes:]
	x := r[runs*runBytes:]
	run, at := 0, 0
	for i := range streams {
		s := &streams[i]
		s.Part.First, s.Part.Count = uint32(run), uint32(len(s.Part.Runs))
		putTable(t[i*tableBytes:], s, run, at)
		for _, u := range s.Part.Runs {
			putRun(r[run*runBytes:], u)
			run++
		}
		at += copy(x[at:], s.Blob)
	}
	le.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
	return b
}

func putTable(t []byte, s *FileStream, run, at int) {
	le.PutUint64(t[0:], s.ID)
	le.PutUint64(t[8:], uint64(s.Part.Base))
	le.PutUint64(t[16:], uint64(s.Part.End))
	le.PutUint64(t[24:], uint64(s.Part.MaxTime))
	le.PutUint64(t[32:], uint64(s.Part.Bytes))
	le.PutUint64(t[40:], uint64(s.LogStart))
	le.PutUint32(t[48:], uint32(run))
	le.PutUint32(t[52:], uint32(len(s.Part.Runs)))
	le.PutUint32(t[56:], uint32(at))
	le.PutUint32(t[60:], uint32(len(s.Blob)))
}

func putRun(b []byte, r Run) {
	le.PutUint64(b[0:], uint64(r.Base))
	le.PutUint64(b[8:], r.LSN)
	le.PutUint64(b[16:], uint64(r.MaxTime))
	le.PutUint32(b[24:], r.Bytes)
	le.PutUint32(b[28:], uint32(r.Epoch))
}

func getRun(b []byte) Run {
	return Run{Base: int64(le.Uint64(b[0:])), LSN: le.Uint64(b[8:]), MaxTime: int64(le.Uint64(b[16:])),
		Bytes: le.Uint32(b[24:]), Epoch: int32(le.Uint32(b[28:]))}
}

// File is a decoded segment index file.
type File struct {
	Seg     uint32
	Streams []FileStream // parts without runs
	runs    []byte
}

// Decode checks and decodes a segment index file. The result refers to b.
func Decode(b []byte) (*File, error) {
	if len(b) < headBytes || string(b[:8]) != fileMagic {
		return nil, fmt.Errorf("%w: not one", ErrDamaged)
	}
	if v := le.Uint32(b[8:]); v > FileVersion {
		return nil, fmt.Errorf("%w: version %d is newer than this spate's %d", ErrDamaged, v, FileVersion)
	}
	if le.Uint32(b[12:]) != crc32.Checksum(b[16:], castagnoli) {
		return nil, fmt.Errorf("%w: checksum does not match", ErrDamaged)
	}
	n, runs, blob := uint64(le.Uint32(b[20:])), uint64(le.Uint32(b[24:])), uint64(le.Uint32(b[28:]))
	if uint64(len(b)) != headBytes+n*tableBytes+runs*runBytes+blob {
		return nil, fmt.Errorf("%w: length does not match", ErrDamaged)
	}
	f := &File{Seg: le.Uint32(b[16:]), Streams: make([]FileStream, n)}
	rest := b[headBytes+n*tableBytes:]
	f.runs, rest = rest[:runs*runBytes], rest[runs*runBytes:]
	for i := range f.Streams {
		t := b[headBytes+i*tableBytes:]
		s := &f.Streams[i]
		s.ID = le.Uint64(t[0:])
		s.Part = Part{Seg: f.Seg, Base: int64(le.Uint64(t[8:])), End: int64(le.Uint64(t[16:])),
			MaxTime: int64(le.Uint64(t[24:])), Bytes: int64(le.Uint64(t[32:])),
			First: le.Uint32(t[48:]), Count: le.Uint32(t[52:])}
		s.LogStart = int64(le.Uint64(t[40:]))
		at, size := uint64(le.Uint32(t[56:])), uint64(le.Uint32(t[60:]))
		if at+size > blob || uint64(s.Part.First)+uint64(s.Part.Count) > runs {
			return nil, fmt.Errorf("%w: entry %d points outside", ErrDamaged, i)
		}
		s.Blob = rest[at : at+size : at+size]
	}
	return f, nil
}

// Runs decodes count runs from first on.
func (f *File) Runs(first, count uint32) []Run {
	out := make([]Run, count)
	for i := range out {
		out[i] = getRun(f.runs[(int(first)+i)*runBytes:])
	}
	return out
}

// Epochs lists where epochs begin among a part's runs.
func (f *File) Epochs(p *Part) []EpochStart {
	var out []EpochStart
	for i := range int(p.Count) {
		b := f.runs[(int(p.First)+i)*runBytes:]
		e := int32(le.Uint32(b[28:]))
		if len(out) == 0 || out[len(out)-1].Epoch < e {
			out = append(out, EpochStart{e, int64(le.Uint64(b[0:]))})
		}
	}
	return out
}

// Bytes is what the file takes in memory.
func (f *File) Bytes() int { return len(f.runs) + len(f.Streams)*128 }
