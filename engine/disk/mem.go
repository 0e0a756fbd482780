package disk

import (
	"errors"
	"io"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// Mem is a disk in memory that can crash. It knows which blocks, sizes and
// directory entries are durable and which a power cut might lose: CrashClone
// gives the disk as it could be found after one. Direct is always in effect, and
// async operations run on goroutines as with psync.
//
// It is stricter than most filesystems: a new file exists after a crash only if
// its directory was synced, however often the file itself was.
type Mem struct {
	pool  *pool
	used  atomic.Int64 // bytes in allocated blocks
	limit atomic.Int64 // capacity in bytes

	mu      sync.Mutex
	rng     *rand.Rand
	now     namespace // what the running process sees
	durable namespace // what is certain to survive
	pending []dirOp   // the way from durable to now, in order
	locks   map[string]bool
}

// namespace is the tree of names: every directory but the root, and every file.
type namespace struct {
	dirs  map[string]bool
	files map[string]*memNode
}

func newNamespace() namespace {
	return namespace{dirs: map[string]bool{}, files: map[string]*memNode{}}
}

// hasDir tells whether name is a directory; "" is the root.
func (ns namespace) hasDir(name string) bool { return name == "" || ns.dirs[name] }

// defaultMemCapacity bounds a Mem whose test sets no limit.
const defaultMemCapacity = 1 << 34

// NewMem makes an empty disk. seed drives CrashClone when that is given no
// generator of its own; print it when a test fails.
func NewMem(seed uint64) *Mem {
	m := &Mem{
		pool:    newPool(psyncWriters, psyncReaders),
		rng:     rand.New(rand.NewPCG(seed, 0)),
		now:     newNamespace(),
		durable: newNamespace(),
		locks:   map[string]bool{},
	}
	m.limit.Store(defaultMemCapacity)
	return m
}

// SetCapacity limits the blocks of all files to bytes; writes beyond it fail with
// ErrNoSpace after what still fits has been written. It may be below what is in
// use: then nothing can be added.
func (m *Mem) SetCapacity(bytes int64) { m.limit.Store(bytes) }

func (m *Mem) Path() string    { return "mem" }
func (m *Mem) Backend() string { return "mem" }
func (m *Mem) Direct() bool    { return true }

func (m *Mem) fail(op, name string, err error) error { return opError(op, "mem", name, err) }

// Create makes a new file.
func (m *Mem) Create(name string, mode Mode) (File, error) {
	if mode&ReadOnly != 0 {
		panic("BUG: disk: create of a read-only file " + name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkTarget(name); err != nil {
		return nil, m.fail("create", name, err)
	}
	if m.now.files[name] != nil {
		return nil, m.fail("create", name, syscall.EEXIST)
	}
	node := newMemNode(m)
	m.apply(dirOp{kind: dirLink, name: name, node: node})
	return m.open(name, node, mode), nil
}

// checkTarget tells whether name could be a file's name: valid, in a directory
// that exists, and not a directory itself.
func (m *Mem) checkTarget(name string) error {
	switch {
	case checkName(name, false) != nil:
		return syscall.EINVAL
	case m.now.dirs[name]:
		return syscall.EISDIR
	case !m.now.hasDir(parentName(name)):
		return syscall.ENOENT
	}
	return nil
}

// Open opens an existing file.
func (m *Mem) Open(name string, mode Mode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkTarget(name); err != nil {
		return nil, m.fail("open", name, err)
	}
	node := m.now.files[name]
	if node == nil {
		return nil, m.fail("open", name, syscall.ENOENT)
	}
	return m.open(name, node, mode), nil
}

func (m *Mem) open(name string, node *memNode, mode Mode) *memFile {
	node.hold()
	return &memFile{mem: m, name: name, mode: mode, node: node}
}

// MkdirAll makes a directory and its parents.
func (m *Mem) MkdirAll(name string) error {
	if err := checkName(name, true); err != nil {
		return m.fail("mkdir", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		part := name[:i]
		if m.now.files[part] != nil {
			return m.fail("mkdir", name, syscall.ENOTDIR)
		}
		if !m.now.hasDir(part) {
			m.apply(dirOp{kind: dirMake, name: part})
		}
	}
	return nil
}

// Remove deletes a file.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkTarget(name); err != nil {
		return m.fail("remove", name, err)
	}
	if m.now.files[name] == nil {
		return m.fail("remove", name, syscall.ENOENT)
	}
	m.apply(dirOp{kind: dirUnlink, name: name})
	return nil
}

// Rename replaces newName by oldName.
func (m *Mem) Rename(oldName, newName string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := errors.Join(m.checkTarget(oldName), m.checkTarget(newName))
	node := m.now.files[oldName]
	if err == nil && node == nil {
		err = syscall.ENOENT
	}
	if err != nil {
		return m.fail("rename to "+newName, oldName, err)
	}
	if oldName != newName {
		m.apply(dirOp{kind: dirRename, name: newName, old: oldName, node: node})
	}
	return nil
}

// List lists the directory name, sorted by name.
func (m *Mem) List(name string) ([]Entry, error) {
	if err := checkName(name, true); err != nil {
		return nil, m.fail("list", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.now.hasDir(name) {
		return nil, m.fail("list", name, syscall.ENOENT)
	}
	var entries []Entry
	for dir := range m.now.dirs {
		if parentName(dir) == name {
			entries = append(entries, Entry{Name: baseName(dir), Dir: true})
		}
	}
	for file, node := range m.now.files {
		if parentName(file) == name {
			entries = append(entries, Entry{Name: baseName(file), Size: node.length()})
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	return entries, nil
}

func baseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// Lock takes an exclusive lock on the file name, which it makes, until it is closed.
func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkTarget(name); err != nil {
		return nil, m.fail("lock", name, err)
	}
	if m.locks[name] {
		return nil, m.fail("lock", name, ErrLocked)
	}
	m.locks[name] = true
	if m.now.files[name] == nil {
		m.apply(dirOp{kind: dirLink, name: name, node: newMemNode(m)})
	}
	return &memLock{mem: m, name: name}, nil
}

type memLock struct {
	mem  *Mem
	name string
}

func (l *memLock) Close() error {
	l.mem.mu.Lock()
	defer l.mem.mu.Unlock()
	delete(l.mem.locks, l.name)
	return nil
}

// Usage reports the capacity and what is left of it.
func (m *Mem) Usage() (Usage, error) {
	limit := m.limit.Load()
	return Usage{Total: uint64(limit), Free: uint64(max(0, limit-m.used.Load()))}, nil
}

// Arena allocates aligned memory.
func (m *Mem) Arena(size int) (*Arena, error) { return newArena(size) }

// Submit starts operations, as with psync.
func (m *Mem) Submit(ops ...*Op) {
	for _, op := range ops {
		f, ok := op.File.(*memFile)
		if !ok || f.mem != m {
			panic("BUG: disk: op for a file of another directory")
		}
		m.pool.submit(op, f)
	}
}

// Close waits for operations in flight. The content stays: CrashClone still works.
func (m *Mem) Close() error {
	m.pool.close()
	return nil
}
