package catalog

import (
	"github.com/spatemq/spate/engine/config"
)

// Names of topics that spate keeps for itself.
const (
	MetadataTopic = "__cluster_metadata"
	OffsetsTopic  = "__consumer_offsets"
	TxnTopic      = "__transaction_state"
)

// MetadataStream is the log stream of the metadata topic's only partition.
const MetadataStream = 1

// Topic is an immutable snapshot of one topic; a changed topic is a new *Topic.
type Topic struct {
	Name string
	ID   TopicID
	// Internal topics are the broker's own and not shown to consumers that
	// subscribe by pattern.
	Internal bool
	// Streams are the log streams of the partitions, by partition index. A
	// stream is never used for another partition, even after deletion.
	Streams []uint64
	// Config are the topic's overrides.
	Config map[string]string
	// Epoch is the catalog version of the last change.
	Epoch uint64
	// Settings are the effective settings; may be shared with other topics.
	Settings *config.Topic
}

// Partitions is the number of partitions.
func (t *Topic) Partitions() int32 { return int32(len(t.Streams)) }

// TopicSpec asks for a new topic.
type TopicSpec struct {
	Name string
	// Partitions is the number of partitions, -1 for the broker's default.
	Partitions int32
	// ReplicationFactor is the number of replicas, -1 for the broker's default.
	ReplicationFactor int16
	// Assignments are the replicas of each partition if the client wants to
	// choose them; then Partitions and ReplicationFactor must be -1.
	Assignments map[int32][]int32
	// Configs are the overrides; a nil value is refused.
	Configs map[string]*string
	// Internal marks a topic that the broker makes for itself.
	Internal bool
}

// ResourceType is a kind of thing that has settings. The numbers are Kafka's.
type ResourceType int8

const (
	TopicResource  ResourceType = 2
	BrokerResource ResourceType = 4
)

func (t ResourceType) String() string {
	switch t {
	case TopicResource:
		return "topic"
	case BrokerResource:
		return "broker"
	}
	return "unknown"
}

// Resource is something that has settings: a topic by name, a broker by its
// id in decimal, or all brokers (BrokerResource and the empty name).
type Resource struct {
	Type ResourceType
	Name string
}

func isInternalName(name string) bool {
	return name == OffsetsTopic || name == TxnTopic || name == MetadataTopic
}
