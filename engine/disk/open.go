package disk

import "fmt"

// Options choose how a directory is opened.
type Options struct {
	// Backend is "auto" (or empty), "io_uring" or "psync". With "io_uring" Open
	// fails where there is no ring to be had.
	Backend string
}

// Open opens the directory path, which it makes if it is not there, with the
// backend that opts asks for or, by default, on io_uring if it works there and
// else with psync. reason says, for the log, what was chosen and why.
func Open(path string, opts Options) (d Dir, reason string, err error) {
	switch opts.Backend {
	case "io_uring":
		d, err = OpenRing(path)
		reason = "io_uring: as configured"
	case "psync":
		d, err = OpenPsync(path)
		reason = "psync: as configured"
	case "", "auto":
		d, reason, err = openBest(path)
	default:
		return nil, "", fmt.Errorf("disk backend %q: must be auto, io_uring or psync", opts.Backend)
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
var openRingForAuto = OpenRing

func openBest(path string) (Dir, string, error) {
	d, refused := openRingForAuto(path)
	if refused == nil {
		return d, "io_uring: probed and tested", nil
	}
	d, err := OpenPsync(path)
	return d, "psync: " + refused.Error(), err
}
