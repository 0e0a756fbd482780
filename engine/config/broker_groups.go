package config

// brokerGroups are the settings of consumer groups.
var brokerGroups = []Definition{
	{Name: "group.min.session.timeout.ms", Type: Int, Default: "6000", check: atLeast(1),
		Doc: "Shortest session timeout a member may ask for, in milliseconds."},
	{Name: "group.max.session.timeout.ms", Type: Int, Default: "1800000", check: atLeast(1),
		Doc: "Longest session timeout a member may ask for, in milliseconds."},
	{Name: "group.initial.rebalance.delay.ms", Type: Int, Default: "3000", check: atLeast(0),
		Doc: "How long, in milliseconds, an empty group waits for more members before its first rebalance."},
	{Name: "group.max.size", Type: Int, Default: "2147483647", check: atLeast(1),
		Doc: "Most members of a group."},
	{Name: "offset.metadata.max.bytes", Type: Int, Default: "4096", check: atLeast(0),
		Doc: "Longest text a client may store with a committed offset, in bytes."},
	{Name: "offsets.topic.num.partitions", Type: Int, Default: "50", check: atLeast(1),
		Doc: "Partitions of the topic that committed offsets are stored in. It must not change once the topic exists."},
	{Name: "offsets.retention.minutes", Type: Int, Default: "10080", check: atLeast(1),
		Doc: "How long, in minutes, offsets of an empty group or an unused topic are kept."},
	{Name: "offsets.retention.check.interval.ms", Type: Long, Default: "600000", check: atLeast(1),
		Doc: "Time in milliseconds between two looks for offsets that have expired."},
}
