package disk

import (
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
)

// dirOp is a change of the namespace that is not durable before its directory
// is synced.
type dirOp struct {
	kind dirOpKind
	name string
	old  string   // of a rename
	node *memNode // of a link or rename
}

type dirOpKind uint8

const (
	dirMake dirOpKind = iota
	dirLink
	dirUnlink
	dirRename
)

// in tells whether syncing directory dir makes the op durable. A rename between
// directories is one journal entry: either side brings it.
func (op dirOp) in(dir string) bool {
	return parentName(op.name) == dir || op.kind == dirRename && parentName(op.old) == dir
}

// applyTo changes ns.
func (op dirOp) applyTo(ns namespace) {
	switch op.kind {
	case dirMake:
		ns.dirs[op.name] = true
	case dirLink:
		ns.files[op.name] = op.node
	case dirUnlink:
		delete(ns.files, op.name)
	case dirRename:
		delete(ns.files, op.old)
		ns.files[op.name] = op.node
	}
}

// apply changes the live namespace and keeps the op pending; m.mu is held.
func (m *Mem) apply(op dirOp) {
	replaced := m.now.files[op.name]
	if op.kind == dirLink {
		op.node.hold()
	}
	op.applyTo(m.now)
	if replaced != nil {
		replaced.release()
	}
	m.pending = append(m.pending, op)
}

// reserve takes bytes of the capacity if there are so many.
func (m *Mem) reserve(bytes int64) bool {
	if m.used.Add(bytes) <= m.limit.Load() {
		return true
	}
	m.used.Add(-bytes)
	return bytes == 0
}

// SyncDir makes creations, removals and renames in directory name durable.
func (m *Mem) SyncDir(name string) error {
	if err := checkName(name, true); err != nil {
		return m.fail("sync directory", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.now.hasDir(name) {
		return m.fail("sync directory", name, syscall.ENOENT)
	}
	m.pending = slices.DeleteFunc(m.pending, func(op dirOp) bool {
		if op.in(name) {
			op.applyTo(m.durable)
			return true
		}
		return false
	})
	return nil
}

// CrashOptions says how much of what was not synced a crash leaves on the disk.
// The zero value loses all of it.
type CrashOptions struct {
	// UnsyncedBlocks is the probability, 0 to 1, that a block written since the
	// last sync holds one of its newer contents, and that a changed size is
	// there. Between 0 and 1 writes are torn at any block boundary.
	UnsyncedBlocks float64
	// UnsyncedDirOps is the probability, 0 to 1, that a creation, removal or
	// rename since the last SyncDir is there. What builds on a lost one is lost
	// with it; else they are kept or lost independently, in any order.
	UnsyncedDirOps float64
}

// CrashClone returns the disk as it might be found if the power went out now:
// what was synced, and a random part of what was not. m itself goes on. rng nil
// means the generator seeded by NewMem. The clone has the same capacity, no
// locks, and all of its content is durable.
func (m *Mem) CrashClone(rng *rand.Rand, opts CrashOptions) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	if rng == nil {
		rng = m.rng
	}
	clone := NewMem(rng.Uint64())
	clone.limit.Store(m.limit.Load())
	found := m.crashNamespace(rng, opts.UnsyncedDirOps)
	clone.now.dirs, clone.durable.dirs = found.dirs, maps.Clone(found.dirs)
	// In the order of names, so that one seed gives one disk.
	for _, name := range slices.Sorted(maps.Keys(found.files)) {
		if !found.hasDir(parentName(name)) {
			continue // its directory was never made durable
		}
		node := found.files[name].crash(rng, opts.UnsyncedBlocks, clone)
		clone.now.files[name], clone.durable.files[name] = node, node
	}
	return clone
}

// crashNamespace applies a random part of the pending ops to the durable names.
func (m *Mem) crashNamespace(rng *rand.Rand, keep float64) namespace {
	ns := namespace{dirs: maps.Clone(m.durable.dirs), files: maps.Clone(m.durable.files)}
	lost := map[string]bool{}
	for _, op := range m.pending {
		dependsOnLost := lost[op.name] || op.old != "" && lost[op.old] || !ns.hasDir(parentName(op.name))
		if rng.Float64() >= keep || dependsOnLost {
			lost[op.name] = true
			if op.old != "" {
				lost[op.old] = true
			}
			continue
		}
		op.applyTo(ns)
	}
	return ns
}

// crash copies the node as a crash might leave it.
func (n *memNode) crash(rng *rand.Rand, keep float64, mem *Mem) *memNode {
	n.mu.RLock()
	defer n.mu.RUnlock()
	c := newMemNode(mem)
	c.refs = 1
	c.size = n.durable.size
	if n.size != n.durable.size && rng.Float64() < keep {
		c.size = n.size
	}
	c.grow(int((c.size + BlockSize - 1) / BlockSize))
	copy(c.blocks, n.durable.blocks)
	for _, i := range slices.Sorted(maps.Keys(n.unsynced)) {
		versions := n.unsynced[i]
		if pick := versions[rng.IntN(len(versions))]; rng.Float64() < keep && i < len(c.blocks) {
			c.blocks[i] = pick
		}
	}
	c.zeroTail()
	c.durable.size, c.durable.blocks = c.size, slices.Clone(c.blocks)
	mem.used.Add(c.allocated())
	return c
}

// zeroTail clears what lies behind the size in the last block.
func (n *memNode) zeroTail() {
	tail := n.size % BlockSize
	if tail == 0 {
		return
	}
	if last := n.blocks[len(n.blocks)-1]; last != nil {
		b := *last
		clear(b[tail:])
		n.blocks[len(n.blocks)-1] = &b
	}
}
