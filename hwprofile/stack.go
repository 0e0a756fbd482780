package hwprofile

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Bounds of the walk; real stacks are far smaller.
const (
	maxStackDepth = 16
	maxDisks      = 1024
)

// stackWalk goes from a block device down to its disks.
type stackWalk struct {
	s    sysfs
	d    *Detection
	seen map[string]bool
}

func (w *stackWalk) device(dir string, depth int) {
	if depth > maxStackDepth || len(w.d.Disks) >= maxDisks || w.seen[dir] {
		return
	}
	w.seen[dir] = true
	if exists(dir, "partition") {
		w.device(filepath.Dir(dir), depth+1)
		return
	}
	if exists(dir, "md") {
		w.d.Arrays = append(w.d.Arrays, w.array(dir))
	}
	slaves := w.s.children(dir, "slaves")
	if len(slaves) == 0 {
		w.d.Disks = append(w.d.Disks, w.disk(dir))
		return
	}
	for _, name := range slaves {
		if below := w.s.deviceByName(name); below != "" {
			w.device(below, depth+1)
		}
	}
}

func (w *stackWalk) array(dir string) Array {
	a := Array{
		Name:       filepath.Base(dir),
		Level:      w.s.read(dir, "md/level"),
		Disks:      int(w.s.int(dir, "md/raid_disks")),
		ChunkBytes: w.s.int(dir, "md/chunk_size"),
	}
	if a.Level == "raid10" {
		// The layout's two low bytes are the numbers of near and far copies.
		layout := w.s.int(dir, "md/layout")
		if copies := (layout & 0xff) * (layout >> 8 & 0xff); copies > 0 {
			a.StripeBytes = a.ChunkBytes * int64(a.Disks) / copies
		}
	}
	return a
}

func (w *stackWalk) disk(dir string) Disk {
	k := Disk{Name: filepath.Base(dir), Rotational: w.s.read(dir, "queue/rotational") == "1"}
	k.Class, k.Why = w.classify(dir, k)
	return k
}

func (w *stackWalk) classify(dir string, k Disk) (class, why string) {
	model := strings.TrimSpace(w.s.read(dir, "device/vendor") + " " + w.s.read(dir, "device/model"))
	switch {
	case hasPrefix(k.Name, "rbd", "nbd", "drbd"):
		return NetworkDisk, "a network block device"
	case containsAny(model, "Elastic Block Store", "PersistentDisk", "nvme_card-pd"):
		return NetworkDisk, "a cloud volume (" + model + ")"
	case hasPrefix(k.Name, "nvme"):
		return w.classifyNVMe(dir, model)
	case hasPrefix(k.Name, "vd", "xvd", "loop", "zram", "ram"):
		return Generic, fmt.Sprintf("a virtual disk: its rotational=%t is the hypervisor's claim", k.Rotational)
	case containsAny(model, "QEMU", "VMware", "Msft", "VBOX", "Virtual"):
		return Generic, fmt.Sprintf("a virtual disk (%s): its rotational=%t is the hypervisor's claim", model, k.Rotational)
	case !hasPrefix(k.Name, "sd", "hd"):
		return Generic, "an unknown kind of disk"
	case strings.Contains(dir, "/session"):
		return NetworkDisk, "an iSCSI disk"
	case !k.Rotational:
		return SATASSD, "not rotating"
	case w.striped(dir):
		return SATARAID10, "rotating, with a stripe that only a RAID controller has"
	}
	return SATAHDD, "rotating"
}

// classifyNVMe tells flash on the bus from flash behind a fabric.
func (w *stackWalk) classifyNVMe(dir, model string) (class, why string) {
	transport := w.s.read(dir, "device/transport")
	if transport == "" { // with multipath the namespace hangs on a subsystem
		transport = w.s.read(dir, "device/device/transport")
	}
	switch transport {
	case "tcp", "rdma", "fc":
		return NetworkDisk, "NVMe over " + transport
	}
	if model == "" {
		return NVMe, "NVMe"
	}
	return NVMe, "NVMe (" + model + ")"
}

// striped: a RAID controller hides its disks and shows only the sizes of chunk
// and stripe.
func (w *stackWalk) striped(dir string) bool {
	chunk, stripe := w.s.int(dir, "queue/minimum_io_size"), w.s.int(dir, "queue/optimal_io_size")
	return chunk >= 16*kib && stripe >= 2*chunk && stripe%chunk == 0
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
