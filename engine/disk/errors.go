package disk

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
)

// Error says which operation failed on which file. errors.Is finds both the
// sentinel of this package (ErrNoSpace, ...) and the errno behind it.
type Error struct {
	Op   string // "write", "fdatasync", "rename", ...
	Path string // the Dir's path and the name inside it
	Err  error  // the cause: an errno, io.ErrUnexpectedEOF, a sentinel
}

// Error names the operation, the path and the cause.
func (e *Error) Error() string { return e.Op + " " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is maps the errno behind e to the sentinels of this package.
func (e *Error) Is(target error) bool {
	var errno syscall.Errno
	if !errors.As(e.Err, &errno) {
		return false
	}
	switch target {
	case ErrNotExist:
		return errno == syscall.ENOENT
	case ErrExist:
		return errno == syscall.EEXIST
	case ErrNoSpace:
		return errno == syscall.ENOSPC || errno == syscall.EDQUOT
	case ErrReadOnly:
		return errno == syscall.EROFS
	case ErrLocked:
		return errno == syscall.EWOULDBLOCK
	}
	return false
}

// opError wraps err with the operation and the path; nil stays nil.
func opError(op, dir, name string, err error) error {
	if err == nil {
		return nil
	}
	var already *Error
	if errors.As(err, &already) {
		return err
	}
	path := dir
	if name != "" {
		path = strings.TrimSuffix(dir, "/") + "/" + name
	}
	return &Error{Op: op, Path: path, Err: err}
}

// checkName refuses names that are not plain relative paths inside the Dir. The
// empty name (the Dir itself) is allowed only where root is set.
func checkName(name string, root bool) error {
	if root && name == "" {
		return nil
	}
	if name == "." || !fs.ValidPath(name) || strings.ContainsRune(name, 0) {
		return syscall.EINVAL
	}
	return nil
}

// parentName is the directory part of a valid name, "" for the Dir itself.
func parentName(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

// eofAsUnexpected turns the EOF of a short read into what Op.Err promises.
func eofAsUnexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
