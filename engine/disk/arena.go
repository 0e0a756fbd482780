package disk

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newArena maps size bytes (rounded up to BlockSize) of anonymous memory. The
// garbage collector neither scans nor moves it, and it stays mapped while the
// kernel uses it.
func newArena(size int) (*Arena, error) {
	if size <= 0 {
		panic(fmt.Sprintf("BUG: disk: arena of %d bytes", size))
	}
	size = (size + BlockSize - 1) &^ (BlockSize - 1)
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map an I/O arena of %d bytes: %w", size, err)
	}
	return &Arena{Buf: mem, free: func() {
		if err := unix.Munmap(mem); err != nil {
			panic("BUG: disk: munmap of an arena: " + err.Error())
		}
	}}, nil
}

// checkAligned panics if an operation on a Direct file is not aligned. It is the
// same in all backends, so that a test in memory finds what only some devices
// refuse.
func checkAligned(path string, mode Mode, buf []byte, off int64) {
	if mode&Direct == 0 || len(buf) == 0 {
		return
	}
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(buf)))
	if (addr|uintptr(len(buf))|uintptr(off))%BlockSize != 0 {
		panic(fmt.Sprintf("BUG: disk: direct I/O on %s not aligned to %d: address %#x, length %d, offset %d",
			path, BlockSize, addr, len(buf), off))
	}
}
