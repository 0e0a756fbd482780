package index

import (
	"container/list"
	"sync"

	"github.com/spatemq/spate/engine/disk"
)

// Store reads segment index files on demand and keeps the recently used ones,
// at most maxBytes of them.
type Store struct {
	dir      disk.Dir
	maxBytes int

	mu    sync.Mutex
	files map[uint32]*list.Element // of *File
	lru   list.List
	bytes int
}

// NewStore makes an empty Store.
func NewStore(dir disk.Dir, maxBytes int) *Store {
	return &Store{dir: dir, maxBytes: maxBytes, files: map[uint32]*list.Element{}}
}

// Runs returns the runs of a part. It may read a file, so it must not be called
// on an event loop.
func (s *Store) Runs(p *Part) ([]Run, error) {
	if p.Runs != nil {
		return p.Runs, nil
	}
	f, err := s.file(p.Seg)
	if err != nil {
		return nil, err
	}
	return f.Runs(p.First, p.Count), nil
}

func (s *Store) file(seg uint32) (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files[seg]; e != nil {
		s.lru.MoveToBack(e)
		return e.Value.(*File), nil
	}
	b, err := disk.ReadFile(s.dir, FileName(seg))
	if err != nil {
		return nil, err
	}
	f, err := Decode(b)
	if err != nil {
		return nil, err
	}
	s.files[seg] = s.lru.PushBack(f)
	s.bytes += f.Bytes()
	for s.bytes > s.maxBytes && s.lru.Len() > 1 {
		s.dropLocked(s.lru.Front())
	}
	return f, nil
}

func (s *Store) dropLocked(e *list.Element) {
	f := e.Value.(*File)
	s.lru.Remove(e)
	delete(s.files, f.Seg)
	s.bytes -= f.Bytes()
}

// Forget drops a segment from the cache.
func (s *Store) Forget(seg uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files[seg]; e != nil {
		s.dropLocked(e)
	}
}
