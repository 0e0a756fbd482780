package disk

// Worker counts of the psync backend. Two writers let the log and a background
// rewrite run side by side; readers bound the depth of cold reads.
const (
	psyncWriters = 2
	psyncReaders = 8
)

// psyncDir does I/O with pread, pwrite and fdatasync on a few goroutines.
type psyncDir struct {
	*osDir
	pool *pool
}

// OpenPsync opens the directory path, which it makes if it is not there, with
// blocking system calls on a small fixed number of goroutines. Writes and syncs
// of one file run in the order of submission, and one sync serves all the
// OpWriteSync of a file that wait at the same time.
func OpenPsync(path string) (Dir, error) {
	d, err := openOSDir(path)
	if err != nil {
		return nil, err
	}
	return &psyncDir{osDir: d, pool: newPool(psyncWriters, psyncReaders)}, nil
}

func (d *psyncDir) Backend() string                { return "psync" }
func (d *psyncDir) Arena(size int) (*Arena, error) { return newArena(size) }

func (d *psyncDir) Submit(ops ...*Op) {
	for _, op := range ops {
		d.pool.submit(op, d.own(op))
	}
}

// own is the op's file, which must be one of d's.
func (d *osDir) own(op *Op) *osFile {
	f, ok := op.File.(*osFile)
	if !ok || f.dir != d {
		panic("BUG: disk: op for a file of another directory")
	}
	return f
}

func (d *psyncDir) Close() error {
	d.pool.close()
	return nil
}
