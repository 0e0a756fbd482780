package iouring

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	abi "github.com/iceber/iouring-go/syscall"
)

// Parts of the kernel's interface (include/uapi/linux/io_uring.h) that the abi
// package does not have.
const (
	registerBuffers2      uint8 = 15
	registerBuffersUpdate uint8 = 16
	registerIOWQWorkers   uint8 = 19

	rsrcRegisterSparse uint32 = 1

	probeOps         = 256
	probeOpSupported = 1
)

// rsrcRegister is struct io_uring_rsrc_register.
type rsrcRegister struct {
	nr    uint32
	flags uint32
	_     uint64
	data  uint64
	tags  uint64
}

// rsrcUpdate is struct io_uring_rsrc_update2.
type rsrcUpdate struct {
	offset uint32
	_      uint32
	data   unsafe.Pointer
	tags   uint64
	nr     uint32
	_      uint32
}

// probe is struct io_uring_probe with room for every opcode.
type probe struct {
	lastOp uint8
	opsLen uint8
	_      uint16
	_      [3]uint32
	ops    [probeOps]struct {
		op    uint8
		_     uint8
		flags uint16
		_     uint32
	}
}

// sqe and cqe are the entries of the two queues.
type (
	sqe = abi.SubmissionQueueEntry64
	cqe = abi.CompletionQueueEvent16
)

// errnoOf is the errno in an error of the abi package, 0 if there is none.
func errnoOf(err error) syscall.Errno {
	if err == nil {
		return 0 // without the allocation below
	}
	var errno syscall.Errno
	errors.As(err, &errno)
	return errno
}

// unsupported tells whether err means that the kernel, or a sandbox around the
// process, does not let us use io_uring or a part of it.
func unsupported(err error) bool {
	switch errnoOf(err) {
	case syscall.ENOSYS, syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.EOPNOTSUPP:
		return true
	}
	return false
}

// sysError names a system call that failed.
func sysError(call string, err error) error { return os.NewSyscallError(call, err) }
