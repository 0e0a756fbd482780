package catalog

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spatemq/spate/engine/config"
)

// Options are what a catalog needs from outside.
type Options struct {
	// Random is the source of ids; crypto/rand.Reader outside tests. Only Plan
	// methods draw from it, and as concurrently as they are called.
	Random io.Reader
	// Static are the broker's settings from file, environment and command line.
	// Nil: none.
	Static map[string]string
	// MaxPartitions is the most partitions of all topics together; 0 means
	// DefaultMaxPartitions.
	MaxPartitions int
}

// DefaultMaxPartitions bounds the partitions of a cluster unless set otherwise.
const DefaultMaxPartitions = 200_000

// Catalog is the state that the events of the metadata topic add up to.
// All methods are safe for concurrent use. A plan is good only for the state it
// was made on: before its events are stored nothing else may be applied. A
// plan that only validates may be made at any time.
type Catalog struct {
	options Options

	mu      sync.RWMutex
	state   *state
	pending *state // being built by a snapshot
	pended  int    // events in pending

	version atomic.Uint64
	epoch   atomic.Int32
	sorted  atomic.Pointer[sortedTopics]
}

// state is everything that events change.
type state struct {
	version        uint64
	clusterID      string
	nodeID         int32
	leaderEpoch    int32
	nextStream     uint64
	nextProducerID int64
	partitions     int
	byName         map[string]*Topic
	byID           map[TopicID]*Topic
	byCollision    map[string]string            // collisionKey → name
	broker         map[string]map[string]string // broker name ("" = all) → overrides
	shared         *config.Topic                // settings of topics without overrides
	loading        bool                         // being built by a snapshot
}

type sortedTopics struct {
	version uint64
	topics  []*Topic
}

func newState() *state {
	return &state{
		nextStream:  MetadataStream + 1,
		byName:      make(map[string]*Topic),
		byID:        make(map[TopicID]*Topic),
		byCollision: make(map[string]string),
		broker:      make(map[string]map[string]string),
	}
}

// New makes an empty catalog.
func New(o Options) *Catalog {
	if o.MaxPartitions == 0 {
		o.MaxPartitions = DefaultMaxPartitions
	}
	return &Catalog{options: o, state: newState()}
}

// Topic returns the topic of that name, nil if there is none.
func (c *Catalog) Topic(name string) *Topic {
	c.mu.RLock()
	t := c.state.byName[name]
	c.mu.RUnlock()
	return t
}

// TopicByID returns the topic of that id, nil if there is none.
func (c *Catalog) TopicByID(id TopicID) *Topic {
	c.mu.RLock()
	t := c.state.byID[id]
	c.mu.RUnlock()
	return t
}

// Topics returns all topics sorted by name. Callers share the slice and must
// not change it.
func (c *Catalog) Topics() []*Topic {
	if s := c.sorted.Load(); s != nil && s.version == c.version.Load() {
		return s.topics
	}
	c.mu.RLock()
	s := &sortedTopics{version: c.state.version, topics: slices.Collect(maps.Values(c.state.byName))}
	c.mu.RUnlock()
	slices.SortFunc(s.topics, func(a, b *Topic) int { return cmp.Compare(a.Name, b.Name) })
	c.sorted.Store(s)
	return s.topics
}

// Version counts the changes so far. It never goes back.
func (c *Catalog) Version() uint64 { return c.version.Load() }

// LeaderEpoch is the leader epoch of all partitions on this node.
func (c *Catalog) LeaderEpoch() int32 { return c.epoch.Load() }

// ClusterID is the cluster's id, "" before ClusterCreated.
func (c *Catalog) ClusterID() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.clusterID
}

// NodeID is this node's id.
func (c *Catalog) NodeID() int32 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.nodeID
}

// Partitions is the number of partitions of all topics.
func (c *Catalog) Partitions() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.partitions
}

// NextProducerID is the lowest producer id that has never been reserved.
func (c *Catalog) NextProducerID() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.nextProducerID
}

// BrokerConfig returns the settings made at run time for one broker by its id
// in decimal, or with "" for all brokers. Do not change the map.
func (c *Catalog) BrokerConfig(name string) map[string]string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.state.broker[name]
}

// Layers returns the settings below a topic's own.
func (c *Catalog) Layers() config.Layers {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.layers(c.state)
}
