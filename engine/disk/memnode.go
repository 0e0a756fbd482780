package disk

import (
	"io"
	"sync"
	"syscall"
)

type memBlock [BlockSize]byte

// zeroBlock is an allocated block that was never written. It is shared and never
// written to.
var zeroBlock memBlock

// maxVersions bounds the unsynced contents kept for one block.
const maxVersions = 4

// memNode is the content of a file: what readers see, what is certain to survive
// a crash, and for each block that differs what a crash might leave there.
type memNode struct {
	mem *Mem

	mu      sync.RWMutex
	size    int64
	blocks  []*memBlock // nil is a hole
	durable struct {
		size   int64
		blocks []*memBlock
	}
	// unsynced has the contents a block was given since the last sync, newest last.
	unsynced map[int][]*memBlock
	// refs counts names and open files; blocks of a node without either are free.
	refs int
}

func newMemNode(m *Mem) *memNode {
	return &memNode{mem: m, unsynced: map[int][]*memBlock{}}
}

// hold counts a name or an open file.
func (n *memNode) hold() {
	n.mu.Lock()
	n.refs++
	n.mu.Unlock()
}

// release is the counterpart of hold. The content stays for crash clones, which
// may bring a removed name back.
func (n *memNode) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refs--; n.refs == 0 {
		n.mem.used.Add(-n.allocated())
	}
}

// allocated is the number of bytes in blocks that are not holes.
func (n *memNode) allocated() int64 {
	var bytes int64
	for _, b := range n.blocks {
		if b != nil {
			bytes += BlockSize
		}
	}
	return bytes
}

func (n *memNode) length() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.size
}

func (n *memNode) read(p []byte, off int64) (int, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	end := min(off+int64(len(p)), n.size)
	done := 0
	for pos := off; pos < end; {
		b, from := n.blocks[pos/BlockSize], int(pos%BlockSize)
		if b == nil {
			b = &zeroBlock
		}
		c := copy(p[done:done+int(end-pos)], b[from:])
		done, pos = done+c, pos+int64(c)
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

func (n *memNode) write(p []byte, off int64) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	done := 0
	for done < len(p) {
		pos := off + int64(done)
		b, err := n.writable(int(pos / BlockSize))
		if err != nil {
			return done, err
		}
		done += copy(b[pos%BlockSize:], p[done:])
		n.size = max(n.size, off+int64(done))
	}
	return done, nil
}

// writable gives block i a new content to write into, a copy of the present one.
// Contents are never changed in place: crash clones share them.
func (n *memNode) writable(i int) (*memBlock, error) {
	n.grow(i + 1)
	old := n.blocks[i]
	if old == nil && !n.mem.reserve(BlockSize) {
		return nil, syscall.ENOSPC
	}
	b := new(memBlock)
	if old != nil {
		*b = *old
	}
	n.set(i, b)
	return b, nil
}

// set makes b the content of block i until the next sync.
func (n *memNode) set(i int, b *memBlock) {
	n.blocks[i] = b
	versions := n.unsynced[i]
	if len(versions) == maxVersions {
		versions[maxVersions-1] = b
		return
	}
	n.unsynced[i] = append(versions, b)
}

// grow makes room for count blocks.
func (n *memNode) grow(count int) {
	if more := count - len(n.blocks); more > 0 {
		n.blocks = append(n.blocks, make([]*memBlock, more)...)
	}
}

func (n *memNode) truncate(size int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := int((size + BlockSize - 1) / BlockSize)
	n.grow(count)
	for i := count; i < len(n.blocks); i++ {
		if n.blocks[i] != nil {
			n.mem.used.Add(-BlockSize)
			n.set(i, nil)
		}
	}
	n.blocks = n.blocks[:count]
	if tail := size % BlockSize; tail != 0 && size < n.size && n.blocks[count-1] != nil {
		b, _ := n.writable(count - 1) // allocated already: cannot fail
		clear(b[tail:])
	}
	n.size = size
}

// allocate gives the holes below size a block each, all or none of them.
func (n *memNode) allocate(size int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := int((size + BlockSize - 1) / BlockSize)
	n.grow(count)
	holes := 0
	for _, b := range n.blocks[:count] {
		if b == nil {
			holes++
		}
	}
	if !n.mem.reserve(int64(holes) * BlockSize) {
		return syscall.ENOSPC
	}
	for i, b := range n.blocks[:count] {
		if b == nil {
			// Not a change of content: it reads as zeros either way.
			n.blocks[i] = &zeroBlock
		}
	}
	n.size = max(n.size, size)
	return nil
}

// sync makes the present content and size durable.
func (n *memNode) sync() {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := &n.durable
	if len(d.blocks) < len(n.blocks) {
		// Blocks that were only allocated are not among unsynced.
		d.blocks = append(d.blocks, n.blocks[len(d.blocks):]...)
	}
	for i := range n.unsynced {
		if i < len(n.blocks) {
			d.blocks[i] = n.blocks[i]
		}
	}
	d.blocks = d.blocks[:len(n.blocks)]
	d.size = n.size
	clear(n.unsynced)
}
