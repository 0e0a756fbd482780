package config

import (
	"regexp"
	"strconv"
)

const (
	maxLong  = "9223372036854775807"
	hourMs   = 60 * 60 * 1000
	mebibyte = 1 << 20
)

// topicKafka are Kafka's topic settings with the names, types, defaults and
// limits of Kafka 4.3.
var topicKafka = []Definition{
	{Name: "cleanup.policy", Type: List, Default: "delete", check: eachOf("compact", "delete"),
		Synonyms: same("log.cleanup.policy"),
		Doc:      "What happens to old records: delete drops them by age or size, compact keeps the newest of each key, both do both, and an empty list keeps everything."},
	{Name: "compression.type", Type: String, Default: "producer", check: compressionType,
		Synonyms: same("compression.type"),
		Doc:      "How batches are stored: producer keeps the producer's compression, any other value makes the broker store all batches that way."},
	{Name: "compression.gzip.level", Type: Int, Default: "-1", check: gzipLevel,
		Synonyms: same("compression.gzip.level"),
		Doc:      "Compression level that the broker uses when it compresses with gzip; -1 is gzip's own default."},
	{Name: "compression.lz4.level", Type: Int, Default: "9", check: between(1, 17),
		Synonyms: same("compression.lz4.level"),
		Doc:      "Compression level that the broker uses when it compresses with lz4."},
	{Name: "compression.zstd.level", Type: Int, Default: "3", check: between(-131072, 22),
		Synonyms: same("compression.zstd.level"),
		Doc:      "Compression level that the broker uses when it compresses with zstd."},
	{Name: "delete.retention.ms", Type: Long, Default: "86400000", check: atLeast(0),
		Synonyms: same("log.cleaner.delete.retention.ms"),
		Doc:      "How long, in milliseconds, a compacted topic keeps tombstones after they have been compacted once, so that a slow reader still sees the deletion."},
	{Name: "file.delete.delay.ms", Type: Long, Default: "60000", check: atLeast(0),
		Synonyms: same("log.segment.delete.delay.ms"), Effect: Ignored,
		Doc: "Delay between dropping a segment and removing its file. Accepted for compatibility: spate reuses segments as soon as nothing reads them."},
	{Name: "flush.messages", Type: Long, Default: maxLong, check: atLeast(1),
		Synonyms: same("log.flush.interval.messages"), Effect: Ignored,
		Doc: "Number of records after which the log is synced. Accepted for compatibility: spate syncs before it acknowledges, see spate.durability."},
	{Name: "flush.ms", Type: Long, Default: maxLong, check: atLeast(0),
		Synonyms: same("log.flush.interval.ms", "log.flush.scheduler.interval.ms"), Effect: Ignored,
		Doc: "Time after which the log is synced. Accepted for compatibility: spate syncs before it acknowledges, see spate.durability."},
	{Name: "follower.replication.throttled.replicas", Type: List, check: throttledReplicas("follower"), together: true, Effect: Ignored,
		Doc: "Replicas whose fetching is throttled on the follower's side, as partition:broker pairs or *. Without effect on a single node."},
	{Name: "index.interval.bytes", Type: Int, Default: "4096", check: atLeast(0),
		Synonyms: same("log.index.interval.bytes"), Effect: Ignored,
		Doc: "Bytes between two entries of an offset index. Accepted for compatibility: spate indexes each run of a partition in the shared log."},
	{Name: "leader.replication.throttled.replicas", Type: List, check: throttledReplicas("leader"), together: true, Effect: Ignored,
		Doc: "Replicas whose fetching is throttled on the leader's side, as partition:broker pairs or *. Without effect on a single node."},
	{Name: "local.retention.bytes", Type: Long, Default: "-2", check: atLeast(-2),
		Synonyms: same("log.local.retention.bytes"), Effect: Ignored,
		Doc: "Bytes of a partition kept locally when tiered storage is on; -2 means retention.bytes. spate has no tiered storage."},
	{Name: "local.retention.ms", Type: Long, Default: "-2", check: atLeast(-2),
		Synonyms: same("log.local.retention.ms"), Effect: Ignored,
		Doc: "Milliseconds that data is kept locally when tiered storage is on; -2 means retention.ms. spate has no tiered storage."},
	{Name: "max.compaction.lag.ms", Type: Long, Default: maxLong, check: atLeast(1),
		Synonyms: same("log.cleaner.max.compaction.lag.ms"),
		Doc:      "Longest time, in milliseconds, that a record of a compacted topic may stay uncompacted."},
	{Name: "max.message.bytes", Type: Int, Default: "1048588", check: atLeast(0),
		Synonyms: same("message.max.bytes"),
		Doc:      "Largest record batch that a producer may write, in bytes, as compressed."},
	{Name: "message.timestamp.after.max.ms", Type: Long, Default: "3600000", check: atLeast(0),
		Synonyms: same("log.message.timestamp.after.max.ms"),
		Doc:      "How far, in milliseconds, a record's timestamp may lie after the broker's clock. Records beyond are refused; without effect with LogAppendTime."},
	{Name: "message.timestamp.before.max.ms", Type: Long, Default: maxLong, check: atLeast(0),
		Synonyms: same("log.message.timestamp.before.max.ms"),
		Doc:      "How far, in milliseconds, a record's timestamp may lie before the broker's clock. Records beyond are refused; without effect with LogAppendTime."},
	{Name: "message.timestamp.type", Type: String, Default: "CreateTime", check: oneOf("CreateTime", "LogAppendTime"),
		Synonyms: same("log.message.timestamp.type"),
		Doc:      "Whose clock a record's timestamp is: the producer's (CreateTime) or the broker's at the time of the append (LogAppendTime)."},
	{Name: "min.cleanable.dirty.ratio", Type: Double, Default: "0.5", check: ratio,
		Synonyms: same("log.cleaner.min.cleanable.ratio"),
		Doc:      "Share of not yet compacted bytes in a partition from which it is worth compacting."},
	{Name: "min.compaction.lag.ms", Type: Long, Default: "0", check: atLeast(0),
		Synonyms: same("log.cleaner.min.compaction.lag.ms"),
		Doc:      "Shortest time, in milliseconds, that a record of a compacted topic stays uncompacted."},
	{Name: "min.insync.replicas", Type: Int, Default: "1", check: atLeast(1),
		Synonyms: same("min.insync.replicas"),
		Doc:      "Number of replicas that must have a batch before acks=all is answered. With more than there are nodes, acks=all is refused."},
	{Name: "preallocate", Type: Boolean, Default: "false",
		Synonyms: same("log.preallocate"), Effect: Ignored,
		Doc: "Whether a new segment's file is allocated at once. Accepted for compatibility: spate's segments always are."},
	{Name: "remote.log.copy.disable", Type: Boolean, Default: "false", Effect: Ignored,
		Doc: "Stops copying to tiered storage. spate has no tiered storage."},
	{Name: "remote.log.delete.on.disable", Type: Boolean, Default: "false", Effect: Ignored,
		Doc: "Deletes tiered data when tiered storage is turned off. spate has no tiered storage."},
	{Name: "remote.storage.enable", Type: Boolean, Default: "false", Effect: Ignored,
		Doc: "Turns tiered storage on. spate has none, so only false is accepted."},
	{Name: "retention.bytes", Type: Long, Default: "-1",
		Synonyms: same("log.retention.bytes"),
		Doc:      "Size in bytes from which the oldest records of a partition are dropped; -1 for no limit."},
	{Name: "retention.ms", Type: Long, Default: "604800000", check: atLeast(-1),
		Synonyms: []Synonym{{"log.retention.ms", 1}, {"log.retention.minutes", 60 * 1000}, {"log.retention.hours", hourMs}},
		Doc:      "Age in milliseconds from which records are dropped; -1 for no limit."},
	{Name: "segment.bytes", Type: Int, Default: "1073741824", check: atLeast(mebibyte),
		Synonyms: same("log.segment.bytes"),
		Doc:      "Kafka's segment size in bytes. In spate all partitions share segments of spate.segment.bytes; this is the grain of size retention."},
	{Name: "segment.index.bytes", Type: Int, Default: "10485760", check: atLeast(4),
		Synonyms: same("log.index.size.max.bytes"), Effect: Ignored,
		Doc: "Size of an offset index file. Accepted for compatibility: spate has no index file per partition."},
	{Name: "segment.jitter.ms", Type: Long, Default: "0", check: atLeast(0),
		Synonyms: []Synonym{{"log.roll.jitter.ms", 1}, {"log.roll.jitter.hours", hourMs}}, Effect: Ignored,
		Doc: "Random part subtracted from segment.ms. Accepted for compatibility."},
	{Name: "segment.ms", Type: Long, Default: "604800000", check: atLeast(1),
		Synonyms: []Synonym{{"log.roll.ms", 1}, {"log.roll.hours", hourMs}},
		Doc:      "Age in milliseconds after which written records become eligible for compaction and retention though newer ones are few."},
	{Name: "unclean.leader.election.enable", Type: Boolean, Default: "false",
		Synonyms: same("unclean.leader.election.enable"), Effect: Ignored,
		Doc: "Whether a replica that is behind may become leader. Without effect on a single node."},
}

func same(names ...string) []Synonym {
	s := make([]Synonym, len(names))
	for i, n := range names {
		s[i] = Synonym{n, 1}
	}
	return s
}

var compressionType = oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")

func gzipLevel(v value) string {
	if v.num == -1 || v.num >= 1 && v.num <= 9 {
		return ""
	}
	return "Value must be between 1 and 9 or equal to -1"
}

var throttled = regexp.MustCompile(`^[0-9]+:[0-9]+$`)

func throttledReplicas(side string) check {
	return func(v value) string {
		if len(v.list) == 1 && v.list[0] == "*" {
			return ""
		}
		for _, w := range v.list {
			if !throttled.MatchString(w) {
				return side + ".replication.throttled.replicas must be the literal '*' or a list of replicas in the following format: " +
					"[partitionId]:[brokerId],[partitionId]:[brokerId],..."
			}
		}
		return ""
	}
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
