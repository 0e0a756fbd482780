package catalog

// Event is one change of the catalog, a record of the metadata topic.
type Event struct {
	// Snapshot marks events between SnapshotBegin and SnapshotEnd: they build a
	// new state next to the current one.
	Snapshot bool
	Body     Body
}

// Body is what an event says. The bodies are the types below and Unknown.
type Body interface {
	kind() (name string, version int)
}

// ClusterCreated is the first event: who this cluster is.
type ClusterCreated struct {
	ClusterID string `json:"cluster_id"`
	NodeID    int32  `json:"node_id"`
}

// TopicCreated makes a topic. In a snapshot it carries all that has become of
// the topic since.
type TopicCreated struct {
	Name     string            `json:"name"`
	ID       TopicID           `json:"id"`
	Internal bool              `json:"internal,omitempty"`
	Streams  []uint64          `json:"streams"`
	Config   map[string]string `json:"config,omitempty"`
	// Epoch is set in snapshots only: the version of the last change.
	Epoch uint64 `json:"epoch,omitempty"`
}

// PartitionsAdded appends partitions to a topic.
type PartitionsAdded struct {
	ID      TopicID  `json:"id"`
	Streams []uint64 `json:"streams"`
}

// TopicDeleted ends a topic.
type TopicDeleted struct {
	ID TopicID `json:"id"`
	// Name is for people who read the topic.
	Name string `json:"name"`
}

// ConfigSet changes overrides of a topic or broker.
type ConfigSet struct {
	Type   string            `json:"resource_type"` // "topic" or "broker"
	Name   string            `json:"resource_name"`
	Set    map[string]string `json:"set,omitempty"`
	Delete []string          `json:"delete,omitempty"`
}

// ProducerIDsReserved says that ids below Next may be in use.
type ProducerIDsReserved struct {
	Next int64 `json:"next"`
}

// LeaderEpochRaised starts a new leader epoch of all partitions.
type LeaderEpochRaised struct {
	Epoch int32 `json:"epoch"`
}

// SnapshotBegin starts a snapshot of the state at a version.
type SnapshotBegin struct {
	CatalogVersion uint64 `json:"catalog_version"`
	NextStream     uint64 `json:"next_stream"`
}

// SnapshotEnd completes the snapshot; only now it counts.
type SnapshotEnd struct {
	CatalogVersion uint64 `json:"catalog_version"`
	// Events is the number of events between Begin and End.
	Events int `json:"events"`
}

// Unknown is an event of a later version of spate.
type Unknown struct {
	Type    string
	Version int
	// Ignorable: its writer says that older versions may pass over it.
	Ignorable  bool
	Key, Value []byte
}

func (ClusterCreated) kind() (string, int)      { return "cluster-created", 1 }
func (TopicCreated) kind() (string, int)        { return "topic-created", 1 }
func (PartitionsAdded) kind() (string, int)     { return "partitions-added", 1 }
func (TopicDeleted) kind() (string, int)        { return "topic-deleted", 1 }
func (ConfigSet) kind() (string, int)           { return "config-set", 1 }
func (ProducerIDsReserved) kind() (string, int) { return "producer-ids-reserved", 1 }
func (LeaderEpochRaised) kind() (string, int)   { return "leader-epoch-raised", 1 }
func (SnapshotBegin) kind() (string, int)       { return "snapshot-begin", 1 }
func (SnapshotEnd) kind() (string, int)         { return "snapshot-end", 1 }
func (u Unknown) kind() (string, int)           { return u.Type, u.Version }
