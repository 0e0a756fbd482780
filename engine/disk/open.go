package disk

import "fmt"

// Options choose how a directory is opened.
type Options struct {
	// Backend is "auto" (or empty), "mixed", "io_uring" or "psync". With "mixed"
	// and "io_uring" Open fails where there is no ring to be had.
	Backend string
}

// Open opens the directory path, which it makes if it is not there, with the
// backend that opts asks for or, by default, mixed if io_uring works there and
// else with psync (see the package comment for the measurements behind that). reason says, for the log, what was chosen and why.
func Open(path string, opts Options) (d Dir, reason string, err error) {
	switch opts.Backend {
	case "io_uring":
		d, err = OpenRing(path)
		reason = "io_uring: as configured"
	case "mixed":
		d, err = OpenMixed(path)
		reason = "mixed: as configured"
	case "psync":
		d, err = OpenPsync(path)
		reason = "psync: as configured"
	case "", "auto":
		d, reason, err = openBest(path)
	default:
		return nil, "", fmt.Errorf("disk backend %q: must be auto, mixed, io_uring or psync", opts.Backend)
	}
	if err != nil {
		return nil, "", err
	}
	if !d.Direct() {
		reason += "; the filesystem refuses O_DIRECT, so I/O goes through the page cache"
	}
	return d, reason, nil
}

// openRingForAuto is a variable for the test that has the kernel refuse a ring.
var openRingForAuto = OpenMixed

func openBest(path string) (Dir, string, error) {
	d, refused := openRingForAuto(path)
	if refused == nil {
		return d, "mixed: io_uring probed and tested for reads, blocking workers for small durable writes", nil
	}
	d, err := OpenPsync(path)
	return d, "psync: " + refused.Error(), err
}
