// Package hwprofile knows kinds of disks and the knobs of the storage engine that
// depend on them; it knows nothing of topics. Profiles are data: one table, in
// which every value has its reason. Detect chooses one from sysfs alone, in less
// than 5 ms and without writing anything.
//
// # How Detect decides
//
//	directory → st_dev → /sys/dev/block/MAJ:MIN
//	  partition             → the disk it is on
//	  has slaves (dm, md)   → each of them, down to the disks; md level is noted
//	  anonymous st_dev      → the source of the mount in /proc/self/mountinfo
//	disk → class
//	  nvme*                 nvme; network-disk if reached over a fabric or a cloud's volume
//	  rbd*, nbd*, drbd*, iSCSI, cloud volumes
//	                        network-disk
//	  vd*, xvd*, loop*, disks of a hypervisor
//	                        generic: the host decides what they are, and what they
//	                        say of rotation is not to be trusted
//	  sd*                   rotational: sata-hdd, else sata-ssd
//
// The slowest disk of a volume decides. Several rotating disks in an md array of level
// 10, or one that a RAID controller shows with a stripe, are sata-raid10. When nothing
// is known the answer is generic, which is safe everywhere. Measuring outranks sysfs; the
// operator outranks both.
package hwprofile
