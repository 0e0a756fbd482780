package config

import "slices"

// Durability says when an append is acknowledged.
type Durability uint8

const (
	Fsync  Durability = iota // written and fdatasynced
	Write                    // written to the file
	Memory                   // in the broker's memory
)

func (d Durability) String() string { return [...]string{"fsync", "write", "memory"}[d] }

// Compression is how the broker stores batches.
type Compression uint8

const (
	ProducerCompression Compression = iota // as the producer sent it
	Uncompressed
	Gzip
	Snappy
	LZ4
	Zstd
)

// Topic are the effective settings of one topic, parsed. It is never changed
// once made and may be shared by topics.
type Topic struct {
	CleanupDelete  bool
	CleanupCompact bool
	RetentionMs    int64 // -1: no limit
	RetentionBytes int64 // negative: no limit

	MaxMessageBytes   int
	SegmentBytes      int64
	SegmentMs         int64
	MinInsyncReplicas int

	LogAppendTime        bool // else CreateTime
	TimestampBeforeMaxMs int64
	TimestampAfterMaxMs  int64

	Compression Compression
	GzipLevel   int // -1: gzip's default
	LZ4Level    int
	ZstdLevel   int

	DeleteRetentionMs      int64
	MinCompactionLagMs     int64
	MaxCompactionLagMs     int64
	MinCleanableDirtyRatio float64

	Durability Durability
}

// Layers are the sets of broker settings below a topic's own, strongest first.
// A nil map is an empty layer.
type Layers struct {
	Broker map[string]string // dynamic, this broker
	// Cluster is dynamic, all brokers.
	Cluster map[string]string
	// Static is file, environment and command line.
	Static map[string]string
}

// NewTopic computes the effective settings of a topic with the given
// overrides. A stored value that is not valid (one written by another version)
// is passed over as if it were not set.
func NewTopic(overrides map[string]string, l Layers) *Topic {
	get := func(name string) value {
		v, _ := effectiveTopic(TopicDefinition(name), overrides, l)
		return v
	}
	num := func(name string) int64 { return get(name).num }
	policy := get("cleanup.policy").list
	return &Topic{
		CleanupDelete:          slices.Contains(policy, "delete"),
		CleanupCompact:         slices.Contains(policy, "compact"),
		RetentionMs:            num("retention.ms"),
		RetentionBytes:         num("retention.bytes"),
		MaxMessageBytes:        int(num("max.message.bytes")),
		SegmentBytes:           num("segment.bytes"),
		SegmentMs:              num("segment.ms"),
		MinInsyncReplicas:      int(num("min.insync.replicas")),
		LogAppendTime:          get("message.timestamp.type").raw == "LogAppendTime",
		TimestampBeforeMaxMs:   num("message.timestamp.before.max.ms"),
		TimestampAfterMaxMs:    num("message.timestamp.after.max.ms"),
		Compression:            compressions[get("compression.type").raw],
		GzipLevel:              int(num("compression.gzip.level")),
		LZ4Level:               int(num("compression.lz4.level")),
		ZstdLevel:              int(num("compression.zstd.level")),
		DeleteRetentionMs:      num("delete.retention.ms"),
		MinCompactionLagMs:     num("min.compaction.lag.ms"),
		MaxCompactionLagMs:     num("max.compaction.lag.ms"),
		MinCleanableDirtyRatio: get("min.cleanable.dirty.ratio").real,
		Durability:             durabilities[get("spate.durability").raw],
	}
}

var compressions = map[string]Compression{"producer": ProducerCompression, "uncompressed": Uncompressed,
	"gzip": Gzip, "snappy": Snappy, "lz4": LZ4, "zstd": Zstd}

var durabilities = map[string]Durability{"fsync": Fsync, "write": Write, "memory": Memory}

// ValidateTopic checks one topic setting; the error is an *InvalidValue, a *Conflict or an
// *UnknownName.
func ValidateTopic(name, text string) error {
	d := TopicDefinition(name)
	if d == nil {
		return &UnknownName{Name: name}
	}
	return d.Validate(text)
}

// UnknownName says that there is no setting of a name.
type UnknownName struct{ Name string }

func (e *UnknownName) Error() string { return "Unknown topic config name: " + e.Name }

// effectiveTopic finds the value that counts for one setting and its source.
func effectiveTopic(d *Definition, overrides map[string]string, l Layers) (value, Source) {
	if text, ok := overrides[d.Name]; ok {
		if v, err := d.parse(text); err == nil {
			return v, FromTopic
		}
	}
	for _, s := range d.Synonyms {
		for _, layer := range l.all() {
			text, ok := layer.values[s.Name]
			if !ok {
				continue
			}
			if v, err := d.scaled(text, s.Scale); err == nil {
				return v, layer.source
			}
		}
	}
	v, err := d.parse(d.Default)
	if err != nil {
		panic("BUG: default of " + err.Error())
	}
	return v, FromDefault
}

type layer struct {
	values map[string]string
	source Source
}

func (l Layers) all() [3]layer {
	return [3]layer{{l.Broker, FromDynamicBroker}, {l.Cluster, FromDynamicDefault}, {l.Static, FromStatic}}
}

// scaled parses a synonym's text as the topic setting's value. Negative
// values mean "no limit" and are not scaled.
func (d *Definition) scaled(text string, scale int64) (value, error) {
	if scale == 1 {
		return d.parse(text)
	}
	v, err := (&Definition{Name: d.Name, Type: Long}).parse(text)
	if err != nil {
		return v, err
	}
	if v.num > 0 {
		v.num *= scale
	}
	return d.parse(formatInt(v.num))
}

// ValidateTopicSet checks a topic's overrides together: each by itself and
// the rules that span several settings, with the layers below them.
func ValidateTopicSet(overrides map[string]string, l Layers) error {
	for _, name := range sortedKeys(overrides) {
		if err := ValidateTopic(name, overrides[name]); err != nil {
			return err
		}
	}
	if v, _ := effectiveTopic(TopicDefinition("remote.storage.enable"), overrides, l); v.flag {
		return &Conflict{"Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."}
	}
	lo, _ := effectiveTopic(TopicDefinition("min.compaction.lag.ms"), overrides, l)
	hi, _ := effectiveTopic(TopicDefinition("max.compaction.lag.ms"), overrides, l)
	if lo.num > hi.num {
		return &Conflict{"conflict topic config setting min.compaction.lag.ms (" + formatInt(lo.num) +
			") > max.compaction.lag.ms (" + formatInt(hi.num) + ")"}
	}
	return nil
}

// Conflict says that settings do not go together.
type Conflict struct{ Message string }

func (e *Conflict) Error() string { return e.Message }

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
