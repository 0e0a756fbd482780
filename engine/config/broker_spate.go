package config

// brokerSpate are the settings that only spate has.
var brokerSpate = []Definition{
	{Name: "spate.cluster.id", Type: String, NoDefault: true, check: clusterID,
		Doc: "Id of a new cluster, 22 characters of base64url. Unset, one is drawn. Once data exists it must agree with it."},
	{Name: "spate.io.backend", Type: String, Default: "auto", check: oneOf("auto", "mixed", "io_uring", "psync"),
		Doc: "How files are read and written: io_uring, psync (pread, pwrite, fdatasync), or auto: io_uring where the kernel allows it."},
	{Name: "spate.durability", Type: String, Default: "fsync", check: oneOf("fsync", "write", "memory"), Dynamic: true,
		Doc: "When an append is acknowledged; default of the topic setting of the same name: fsync (survives a power cut), write (survives a killed process) or memory."},
	{Name: "spate.memory.bytes", Type: Long, Default: "134217728", check: atLeast(16 << 20),
		Doc: "Memory in bytes for the log's tail, cached blocks and requests in work, all partitions and connections together."},
	{Name: "spate.group.max.bytes", Type: Int, Default: "1048576", check: between(64<<10, 64<<20),
		Doc: "Largest group of batches, in bytes, that is written and synced at once. A larger batch gets a group of its own."},
	{Name: "spate.segment.bytes", Type: Int, Default: "67108864", check: between(mebibyte, 1<<30),
		Doc: "Size in bytes of a file of the shared log. Disk space is given back in files."},
	{Name: "spate.read.slots", Type: Int, Default: "0", check: between(0, 256),
		Doc: "Reads from disk at a time, so that lagging consumers leave the disk to producers. 0 takes the disk profile's number."},
	{Name: "spate.read.slot.bytes", Type: Int, Default: "0", check: between(0, 16<<20),
		Doc: "Size in bytes of one read from disk. 0 takes the disk profile's size."},
	{Name: "spate.disk.full.percent", Type: Int, Default: "95", check: between(1, 100),
		Doc: "Use of the filesystem, in percent, from which writes are refused until space returns. Reads go on."},
	{Name: "spate.max.partitions", Type: Int, Default: "200000", check: atLeast(1),
		Doc: "Most partitions of all topics together."},
	{Name: "spate.connection.unsent.bytes", Type: Int, Default: "8388608", check: atLeast(64 << 10),
		Doc: "Bytes of answers that one connection may leave unread before the broker stops reading its requests."},
}

func clusterID(v value) string {
	if len(v.raw) != 22 {
		return "want 22 characters of base64url"
	}
	for i := 0; i < len(v.raw); i++ {
		c := v.raw[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return "want 22 characters of base64url"
		}
	}
	return ""
}
