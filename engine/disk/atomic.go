package disk

import (
	"errors"
	"io"
)

// tmpSuffix marks a file that WriteFileAtomic has not put in place yet. One that
// a crash left behind is overwritten by the next attempt.
const tmpSuffix = ".tmp"

// WriteFileAtomic makes data the durable content of the file name: afterwards, or
// after a crash at any point, the file holds either its old content or all of
// data. Two concurrent calls for one name are a programmer error.
func WriteFileAtomic(dir Dir, name string, data []byte) error {
	tmp := name + tmpSuffix
	if err := writeNew(dir, tmp, data); err != nil {
		return err
	}
	if err := dir.Rename(tmp, name); err != nil {
		return err
	}
	return dir.SyncDir(parentName(name))
}

// writeNew writes and syncs a file, in place of any that has the name.
func writeNew(dir Dir, name string, data []byte) error {
	f, err := dir.Create(name, 0)
	if errors.Is(err, ErrExist) {
		if err = dir.Remove(name); err == nil {
			f, err = dir.Create(name, 0)
		}
	}
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(data, 0); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ReadFile reads the whole file name, which must not change meanwhile.
// ErrNotExist if there is none.
func ReadFile(dir Dir, name string) ([]byte, error) {
	f, err := dir.Open(name, ReadOnly)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if err == io.EOF && int64(n) < size {
		err = &Error{Op: "read", Path: dir.Path() + "/" + name, Err: io.ErrUnexpectedEOF}
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}
