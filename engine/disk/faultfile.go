package disk

// faultFile is a file of a Fault.
type faultFile struct {
	File // of the disk below
	dir  *Fault
	mode Mode
	q    fileQueue // only counts: operations may be held above the disk below
}

// ReadAt reads, or as much as a rule allows.
func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	return f.transfer("read", FaultRead, f.File.ReadAt, p, off)
}

// WriteAt writes, or as much as a rule allows.
func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	return f.transfer("write", FaultWrite, f.File.WriteAt, p, off)
}

func (f *faultFile) transfer(op string, kind FaultKind, call func([]byte, int64) (int, error), p []byte, off int64) (int, error) {
	short, err := f.dir.beforeTransfer(op, kind, f.Name())
	if err == nil {
		return call(p, off)
	}
	n := 0
	if short > 0 {
		n, _ = call(p[:min(short, len(p))], off)
	}
	return n, err
}

// Truncate sets the size, unless a rule fails it.
func (f *faultFile) Truncate(size int64) error {
	err := f.dir.before("truncate", FaultTruncate, f.Name())
	return orElse(err, func() error { return f.File.Truncate(size) })
}

// Allocate reserves blocks, unless a rule fails it.
func (f *faultFile) Allocate(size int64) error {
	err := f.dir.before("fallocate", FaultAllocate, f.Name())
	return orElse(err, func() error { return f.File.Allocate(size) })
}

// Sync syncs, unless a rule fails it.
func (f *faultFile) Sync() error {
	return orElse(f.dir.before("fdatasync", FaultSync, f.Name()), f.File.Sync)
}

// Close closes the file below.
func (f *faultFile) Close() error {
	f.q.mustBeIdle(f.Name())
	return f.File.Close()
}

// Submit starts operations, each subject to the rules. One that a rule fails is
// Done before Submit returns.
func (d *Fault) Submit(ops ...*Op) {
	for _, op := range ops {
		f, ok := op.File.(*faultFile)
		if !ok || f.dir != d {
			panic("BUG: disk: op for a file of another directory")
		}
		checkOp(op, f.Name(), f.mode)
		op.Err = nil
		f.start(op)
	}
}

// start runs the first step of op; for OpWriteSync the sync is a second one.
func (f *faultFile) start(op *Op) {
	f.q.beginOp()
	if op.Kind == OpWriteSync {
		f.step(op, OpWrite, f.writtenThenSync)
	} else {
		f.step(op, op.Kind, f.finish)
	}
}

// writtenThenSync follows the write of an OpWriteSync.
func (f *faultFile) writtenThenSync(op *Op, err error) {
	if err != nil {
		f.finish(op, err)
		return
	}
	if op.Written != nil {
		op.Written(op)
	}
	f.step(op, OpSync, f.finish)
}

func (f *faultFile) finish(op *Op, err error) {
	op.Err = err
	f.q.endOp()
	op.Done(op)
}

// faultOfKind is how rules and errors name an op.
var faultOfKind = map[OpKind]struct {
	kind FaultKind
	name string
}{
	OpRead:  {FaultRead, "read"},
	OpWrite: {FaultWrite, "write"},
	OpSync:  {FaultSync, "fdatasync"},
}

// step carries out one read, write or sync as its rule says and goes on with then.
func (f *faultFile) step(op *Op, kind OpKind, then func(*Op, error)) {
	fault := faultOfKind[kind]
	rule := f.dir.pick(fault.kind, f.Name())
	if rule == nil {
		f.below(op, kind, op.Buf, nil, then)
		return
	}
	proceed := func() {
		err := opError(fault.name, f.dir.Path(), f.Name(), rule.err(fault.kind))
		switch {
		case err == nil:
			f.below(op, kind, op.Buf, nil, then)
		case rule.Short > 0 && kind != OpSync:
			f.below(op, kind, op.Buf[:min(rule.Short, len(op.Buf))], err, then)
		default:
			then(op, err)
		}
	}
	if rule.Gate == nil {
		proceed()
		return
	}
	f.dir.held.Add(1)
	rule.Gate.pass(func() {
		proceed()
		f.dir.held.Done()
	})
}

// below runs the step on the disk below; injected, if not nil, is its result
// whatever happens there.
func (f *faultFile) below(op *Op, kind OpKind, buf []byte, injected error, then func(*Op, error)) {
	f.dir.Dir.Submit(&Op{Kind: kind, File: f.File, Buf: buf, Off: op.Off, Done: func(inner *Op) {
		if injected != nil {
			then(op, injected)
			return
		}
		then(op, inner.Err)
	}})
}
