package disk

import "io"

// Create makes a new file, unless a rule fails it.
func (d *Fault) Create(name string, mode Mode) (File, error) {
	if err := d.before("create", FaultCreate, name); err != nil {
		return nil, err
	}
	f, err := d.Dir.Create(name, mode)
	return d.wrap(f, mode, err)
}

// Open opens a file, unless a rule fails it.
func (d *Fault) Open(name string, mode Mode) (File, error) {
	if err := d.before("open", FaultOpen, name); err != nil {
		return nil, err
	}
	f, err := d.Dir.Open(name, mode)
	return d.wrap(f, mode, err)
}

func (d *Fault) wrap(f File, mode Mode, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &faultFile{File: f, dir: d, mode: mode}, nil
}

// MkdirAll makes directories, unless a rule fails it.
func (d *Fault) MkdirAll(name string) error {
	err := d.before("mkdir", FaultMkdir, name)
	return orElse(err, func() error { return d.Dir.MkdirAll(name) })
}

// Remove deletes a file, unless a rule fails it.
func (d *Fault) Remove(name string) error {
	err := d.before("remove", FaultRemove, name)
	return orElse(err, func() error { return d.Dir.Remove(name) })
}

// Rename renames a file, unless a rule fails it.
func (d *Fault) Rename(oldName, newName string) error {
	err := d.before("rename to "+newName, FaultRename, oldName, newName)
	return orElse(err, func() error { return d.Dir.Rename(oldName, newName) })
}

// List lists a directory, unless a rule fails it.
func (d *Fault) List(name string) ([]Entry, error) {
	if err := d.before("list", FaultList, name); err != nil {
		return nil, err
	}
	return d.Dir.List(name)
}

// SyncDir syncs a directory, unless a rule fails it.
func (d *Fault) SyncDir(name string) error {
	err := d.before("sync directory", FaultSyncDir, name)
	return orElse(err, func() error { return d.Dir.SyncDir(name) })
}

// Lock takes the lock, unless a rule fails it.
func (d *Fault) Lock(name string) (io.Closer, error) {
	if err := d.before("lock", FaultLock, name); err != nil {
		return nil, err
	}
	return d.Dir.Lock(name)
}

// Usage reports the space, unless a rule fails it.
func (d *Fault) Usage() (Usage, error) {
	if err := d.before("statfs", FaultUsage, ""); err != nil {
		return Usage{}, err
	}
	return d.Dir.Usage()
}

// Close waits for the operations held at gates, which somebody must open, and
// closes the disk below.
func (d *Fault) Close() error {
	d.held.Wait()
	return d.Dir.Close()
}

// orElse makes the call unless a rule failed it.
func orElse(err error, call func() error) error {
	if err != nil {
		return err
	}
	return call()
}
