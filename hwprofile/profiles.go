package hwprofile

import (
	"fmt"
	"strings"
)

// Knob is one setting with the reason for its value.
type Knob struct {
	Value  int64
	Reason string
}

// Profile is how the engine treats one kind of disk. Sizes are in bytes and
// multiples of 4096.
type Profile struct {
	Name        string
	Description string
	// GroupMaxBytes limits one group of the commit log: what is written and
	// synced at once.
	GroupMaxBytes Knob
	// GroupsInFlight is how many groups may be on their way to the disk together.
	GroupsInFlight Knob
	// SegmentBytes is the size of the commit log's files.
	SegmentBytes Knob
	// ReadSlots is how many reads of a volume run at once, so that lagging
	// consumers do not hurt producers.
	ReadSlots Knob
	// ReadSlotBytes is the size of one such read.
	ReadSlotBytes Knob
	// HotBytes is how much of the log's end stays in memory to serve consumers
	// that keep up.
	HotBytes Knob
}

// NamedKnob is a knob with its name as in settings and reports.
type NamedKnob struct {
	Name string
	Knob
}

// Knobs lists the profile's knobs in a fixed order.
func (p *Profile) Knobs() []NamedKnob {
	return []NamedKnob{
		{"group_max_bytes", p.GroupMaxBytes},
		{"groups_in_flight", p.GroupsInFlight},
		{"segment_bytes", p.SegmentBytes},
		{"read_slots", p.ReadSlots},
		{"read_slot_bytes", p.ReadSlotBytes},
		{"hot_bytes", p.HotBytes},
	}
}

// Names of profiles.
const (
	SATARAID10  = "sata-raid10"
	SATAHDD     = "sata-hdd"
	SATASSD     = "sata-ssd"
	NVMe        = "nvme"
	NetworkDisk = "network-disk"
	Generic     = "generic"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// profiles is the table. Values for rotating disks are reasoned from seek and
// rotation times and published figures, not measured by us; those of generic are measured on
// a virtual flash disk.
var profiles = []Profile{
	{
		Name:        SATARAID10,
		Description: "rotating disks in a RAID 10 array",
		GroupMaxBytes: Knob{8 * mib,
			"a flush costs about a rotation (8 ms); 8 MiB spreads it and fills two or more stripes of a usual array"},
		GroupsInFlight: Knob{1, "one head position: a second group in flight only adds seeks between the two"},
		SegmentBytes:   Knob{1 * gib, "long sequential runs and few files; a multiple of any usual stripe"},
		ReadSlots:      Knob{2, "mirrors let one reader work beside the writer; more would seek"},
		ReadSlotBytes:  Knob{4 * mib, "at 150 MB/s a read of 4 MiB takes 27 ms, which makes a 10 ms seek worth it"},
		HotBytes:       Knob{512 * mib, "a consumer that falls out of memory costs seeks: keep several seconds of full load"},
	},
	{
		Name:           SATAHDD,
		Description:    "one rotating disk, or rotating disks in another arrangement than RAID 10",
		GroupMaxBytes:  Knob{4 * mib, "a flush costs about a rotation (8 ms); at 150 MB/s 4 MiB take 27 ms"},
		GroupsInFlight: Knob{1, "one head position: a second group in flight only adds seeks between the two"},
		SegmentBytes:   Knob{1 * gib, "long sequential runs and few files"},
		ReadSlots:      Knob{1, "every read takes the head away from the writer: one at a time"},
		ReadSlotBytes:  Knob{4 * mib, "at 150 MB/s a read of 4 MiB takes 27 ms, which makes a 10 ms seek worth it"},
		HotBytes:       Knob{512 * mib, "a consumer that falls out of memory costs seeks: keep several seconds of full load"},
	},
	{
		Name:           SATASSD,
		Description:    "flash behind SATA or SAS",
		GroupMaxBytes:  Knob{1 * mib, "500 MB/s are reached at 256 KiB to 1 MiB; larger groups only add latency"},
		GroupsInFlight: Knob{2, "the next group is on its way while the drive flushes the last"},
		SegmentBytes:   Knob{512 * mib, "recycled as one piece; small enough to come free often"},
		ReadSlots:      Knob{4, "the queue of 32 is shared with the writer: a few reads leave it room"},
		ReadSlotBytes:  Knob{256 * kib, "half a millisecond of the link: the writer never waits for long"},
		HotBytes:       Knob{256 * mib, "reads are cheap; this keeps consumers that keep up off the disk"},
	},
	{
		Name:           NVMe,
		Description:    "flash behind NVMe",
		GroupMaxBytes:  Knob{1 * mib, "the throughput of durable writes levels off between 256 KiB and 1 MiB"},
		GroupsInFlight: Knob{4, "hardware queues are parallel: overlap hides the latency of each flush"},
		SegmentBytes:   Knob{512 * mib, "recycled as one piece; small enough to come free often"},
		ReadSlots:      Knob{16, "parallel reads are what the device is made for; still bounded for the writer's sake"},
		ReadSlotBytes:  Knob{128 * kib, "large enough for full read bandwidth at this depth, small enough not to block"},
		HotBytes:       Knob{256 * mib, "reads are cheap; this keeps consumers that keep up off the disk"},
	},
	{
		Name:           NetworkDisk,
		Description:    "a volume reached over a network: cloud block storage, iSCSI, Ceph, NVMe over fabrics",
		GroupMaxBytes:  Knob{1 * mib, "providers count operations, of at most 256 KiB to 1 MiB each"},
		GroupsInFlight: Knob{4, "a round trip of about a millisecond is hidden by overlap"},
		SegmentBytes:   Knob{512 * mib, "recycled as one piece; small enough to come free often"},
		ReadSlots:      Knob{4, "reads and writes share one quota: leave most of it to the writer"},
		ReadSlotBytes:  Knob{512 * kib, "few large operations go further under an operation quota"},
		HotBytes:       Knob{512 * mib, "each read that memory spares is quota kept for the writer"},
	},
	{
		Name:           Generic,
		Description:    "unknown or virtual: safe on every disk",
		GroupMaxBytes:  Knob{1 * mib, "near the best throughput of flash and bearable for a rotating disk"},
		GroupsInFlight: Knob{2, "overlap helps small groups on flash; more hurts a disk that turns out to rotate"},
		SegmentBytes:   Knob{128 * mib, "a crash leaves at most about one to be scanned, a quarter of a second; two are reserved from the start"},
		ReadSlots:      Knob{1, "measured on a virtual disk: one slot kept a 200 MB/s writer at full speed, four readers cut it to 17"},
		ReadSlotBytes:  Knob{128 * kib, "measured on a virtual disk: still reads 934 MB/s beside the writer"},
		HotBytes:       Knob{256 * mib, "a second of full load and more on a fast disk; small beside a usual machine's memory"},
	},
}

// Profiles is a copy of the table.
func Profiles() []Profile { return append([]Profile(nil), profiles...) }

// ByName gives the profile of that name.
func ByName(name string) (Profile, error) {
	names := make([]string, len(profiles))
	for i := range profiles {
		if profiles[i].Name == name {
			return profiles[i], nil
		}
		names[i] = profiles[i].Name
	}
	return Profile{}, fmt.Errorf("disk profile %q is none of %s", name, strings.Join(names, ", "))
}
