package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// osDir is the part of Dir that the psync and ring backends share: everything
// but Submit.
type osDir struct {
	path    string
	direct  atomic.Bool
	onOpen  func(*osFile) // the backend's first look at a file, nil if it needs none
	onClose func(*osFile) // and the last before it is closed
}

// openOSDir makes the directory if it is not there and finds out whether direct
// I/O works in it.
func openOSDir(path string) (*osDir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, opError("mkdir", path, "", cause(err))
	}
	d := &osDir{path: path}
	d.direct.Store(probeDirect(path))
	return d, nil
}

// probeDirect tries O_DIRECT with a file of its own that never gets a name where
// the filesystem can do that. Where no file can be made (a read-only
// filesystem) it says yes, and opening falls back if that was wrong.
func probeDirect(path string) bool {
	fd, err := unix.Open(path, unix.O_TMPFILE|unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0o600)
	if err == unix.EINVAL || err == unix.EOPNOTSUPP || err == unix.EISDIR {
		name := filepath.Join(path, ".probe-"+strconv.Itoa(os.Getpid()))
		fd, err = unix.Open(name, unix.O_CREAT|unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0o600)
		os.Remove(name) // made by the kernel even if it then refused O_DIRECT
	}
	if err != nil {
		return err != unix.EINVAL
	}
	defer unix.Close(fd)
	arena, err := newArena(BlockSize)
	if err != nil {
		return false
	}
	defer arena.Free()
	_, err = unix.Pwrite(fd, arena.Buf, 0)
	return err != unix.EINVAL
}

func (d *osDir) Path() string { return d.path }
func (d *osDir) Direct() bool { return d.direct.Load() }

func (d *osDir) full(name string) string { return filepath.Join(d.path, name) }

func (d *osDir) fail(op, name string, err error) error {
	return opError(op, d.path, name, cause(err))
}

// cause strips the os package's wrapping, which would repeat the path.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// Create makes a new file.
func (d *osDir) Create(name string, mode Mode) (File, error) {
	if mode&ReadOnly != 0 {
		panic("BUG: disk: create of a read-only file " + name)
	}
	return d.open("create", name, mode, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL)
}

// Open opens an existing file.
func (d *osDir) Open(name string, mode Mode) (File, error) {
	flags := unix.O_RDWR
	if mode&ReadOnly != 0 {
		flags = unix.O_RDONLY
	}
	return d.open("open", name, mode, flags)
}

func (d *osDir) open(op, name string, mode Mode, flags int) (File, error) {
	if err := checkName(name, false); err != nil {
		return nil, d.fail(op, name, err)
	}
	f := &osFile{dir: d, name: name, mode: mode}
	f.direct = mode&Direct != 0 && d.direct.Load()
	var err error
	if f.direct {
		f.fd, err = openFd(d.full(name), flags|unix.O_DIRECT)
		if err == unix.EINVAL {
			// Refused after all (another filesystem is mounted below). The file
			// may have been made nevertheless, so O_EXCL must go.
			d.direct.Store(false)
			f.direct, flags = false, flags&^unix.O_EXCL
		}
	}
	if !f.direct {
		f.fd, err = openFd(d.full(name), flags)
	}
	if err != nil {
		return nil, d.fail(op, name, err)
	}
	if d.onOpen != nil {
		d.onOpen(f)
	}
	return f, nil
}

func openFd(path string, flags int) (fd int, err error) {
	err = ignoringEINTR(func() error {
		fd, err = unix.Open(path, flags|unix.O_CLOEXEC, 0o644)
		return err
	})
	return fd, err
}

// MkdirAll makes a directory and its parents.
func (d *osDir) MkdirAll(name string) error {
	if err := checkName(name, true); err != nil {
		return d.fail("mkdir", name, err)
	}
	return d.fail("mkdir", name, os.MkdirAll(d.full(name), 0o755))
}

// Remove deletes a file.
func (d *osDir) Remove(name string) error {
	if err := checkName(name, false); err != nil {
		return d.fail("remove", name, err)
	}
	return d.fail("remove", name, unix.Unlink(d.full(name)))
}

// Rename replaces newName by oldName.
func (d *osDir) Rename(oldName, newName string) error {
	err := errors.Join(checkName(oldName, false), checkName(newName, false))
	if err == nil {
		err = unix.Rename(d.full(oldName), d.full(newName))
	}
	return d.fail("rename to "+newName, oldName, err)
}

// List lists the directory name, sorted by name.
func (d *osDir) List(name string) ([]Entry, error) {
	if err := checkName(name, true); err != nil {
		return nil, d.fail("list", name, err)
	}
	found, err := os.ReadDir(d.full(name))
	if err != nil {
		return nil, d.fail("list", name, err)
	}
	entries := make([]Entry, 0, len(found))
	for _, e := range found {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		if err != nil {
			return nil, d.fail("stat", e.Name(), err)
		}
		entry := Entry{Name: e.Name(), Dir: e.IsDir()}
		if !entry.Dir {
			entry.Size = info.Size()
		}
		entries = append(entries, entry)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	return entries, nil
}

// SyncDir makes creations, removals and renames in directory name durable.
func (d *osDir) SyncDir(name string) error {
	if err := checkName(name, true); err != nil {
		return d.fail("sync directory", name, err)
	}
	fd, err := openFd(d.full(name), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return d.fail("sync directory", name, err)
	}
	err = ignoringEINTR(func() error { return unix.Fsync(fd) })
	return d.fail("sync directory", name, errors.Join(err, unix.Close(fd)))
}

// Lock takes an exclusive flock on the file name, which it makes, and writes the
// process id into it for the message that the loser prints.
func (d *osDir) Lock(name string) (io.Closer, error) {
	if err := checkName(name, false); err != nil {
		return nil, d.fail("lock", name, err)
	}
	f, err := os.OpenFile(d.full(name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, d.fail("lock", name, err)
	}
	err = ignoringEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		return nil, d.fail("lock", name, fmt.Errorf("%w (pid %s)", ErrLocked, strings.TrimSpace(string(holder))))
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, d.fail("lock", name, err)
	}
	return f, nil // closing the file releases the lock
}

// Usage reports the space of the filesystem.
func (d *osDir) Usage() (Usage, error) {
	var st unix.Statfs_t
	if err := ignoringEINTR(func() error { return unix.Statfs(d.path, &st) }); err != nil {
		return Usage{}, d.fail("statfs", "", err)
	}
	return Usage{Total: st.Blocks * uint64(st.Frsize), Free: st.Bavail * uint64(st.Frsize)}, nil
}
