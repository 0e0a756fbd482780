package hwprofile

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Detection is what Detect found and concluded.
type Detection struct {
	// Profile is the name of the profile chosen.
	Profile string
	// Reason says in one sentence why.
	Reason string
	// Filesystem is the type in the mount table; empty if not found.
	Filesystem string
	// Disks are the leaves of the device stack.
	Disks []Disk
	// Arrays are the md arrays on the way down.
	Arrays []Array
}

// Disk is one leaf of the device stack.
type Disk struct {
	Name       string // as in /sys/block
	Class      string // a profile name
	Why        string
	Rotational bool // as sysfs claims
}

// Array is one md array.
type Array struct {
	Name       string
	Level      string // "raid10"
	Disks      int
	ChunkBytes int64
	// StripeBytes is what a full stripe holds without its copies; 0 if unknown.
	StripeBytes int64
}

// Detect chooses the profile for the disk that holds directory dir, which must
// exist. It fails only if dir cannot be examined at all; a device that tells
// nothing is Generic.
func Detect(dir string) (Detection, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return Detection{}, fmt.Errorf("examining the disk of %s: %w", dir, err)
	}
	return DetectDevice("/", unix.Major(st.Dev), unix.Minor(st.Dev)), nil
}

// DetectDevice is Detect for a device number, as found in the tree under root,
// which has sys and proc below it.
func DetectDevice(root string, major, minor uint32) Detection {
	s := sysfs{root}
	d := Detection{}
	mount := s.mount(major, minor)
	d.Filesystem = mount.fstype
	if profile, why := filesystemProfile(mount.fstype); profile != "" {
		d.Profile, d.Reason = profile, why
		return d
	}
	dev := s.deviceByNumber(major, minor)
	if dev == "" && strings.HasPrefix(mount.source, "/dev/") {
		dev = s.deviceByName(filepath.Base(mount.source))
	}
	if dev == "" {
		d.Profile, d.Reason = Generic, fmt.Sprintf("device %d:%d is not in sysfs", major, minor)
		return d
	}
	w := stackWalk{s: s, d: &d, seen: map[string]bool{}}
	w.device(dev, 0)
	d.conclude()
	return d
}

// filesystemProfile decides for filesystems that are not on a block device.
func filesystemProfile(fstype string) (profile, why string) {
	switch fstype {
	case "nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "9p", "virtiofs", "fuse.glusterfs":
		return NetworkDisk, "filesystem " + fstype + " is remote"
	case "tmpfs", "ramfs":
		return Generic, "filesystem " + fstype + " is memory: nothing on it survives a restart"
	case "overlay", "zfs":
		return Generic, "filesystem " + fstype + " hides the disks below it"
	}
	return "", ""
}

// slowness orders classes: the slowest disk of a stack decides.
var slowness = map[string]int{NVMe: 0, SATASSD: 1, Generic: 2, NetworkDisk: 3, SATARAID10: 4, SATAHDD: 5}

func (d *Detection) conclude() {
	if len(d.Disks) == 0 {
		d.Profile, d.Reason = Generic, "no disk was found below the device"
		return
	}
	slowest := d.Disks[0]
	for _, k := range d.Disks[1:] {
		if slowness[k.Class] > slowness[slowest.Class] {
			slowest = k
		}
	}
	d.Profile = slowest.Class
	d.Reason = fmt.Sprintf("%s: %s", slowest.Name, slowest.Why)
	if n := len(d.Disks); n > 1 {
		d.Reason += fmt.Sprintf("; slowest of %d disks", n)
	}
	for _, a := range d.Arrays {
		if a.Level == "raid10" && d.Profile == SATAHDD {
			d.Profile = SATARAID10
			d.Reason = fmt.Sprintf("%s: md %s of %d disks, rotating", a.Name, a.Level, a.Disks)
		}
	}
}
