package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spatemq/spate/engine/config"
)

// Apply changes the state by one event. The same events in the same order
// always give the same state. An error means that the event does not fit the
// state (or was written by a later version of spate and matters); nothing has
// changed then.
func (c *Catalog) Apply(e Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch body := e.Body.(type) {
	case Unknown:
		if !body.Ignorable {
			return fmt.Errorf("metadata event %q version %d was written by a later version of spate: upgrade this node", body.Type, body.Version)
		}
		return nil
	case SnapshotBegin:
		c.pending, c.pended = newState(), 0
		c.pending.nextStream = max(body.NextStream, MetadataStream+1)
		c.pending.version = body.CatalogVersion
		c.pending.loading = true
		return nil
	case SnapshotEnd:
		return c.endSnapshot(body)
	}
	if e.Snapshot {
		return c.applyToSnapshot(e.Body)
	}
	// A change in the middle of a snapshot means that its writer was cut off or
	// overtaken: what it had gathered is out of date.
	c.pending = nil
	return c.applyLive(e.Body)
}

func (c *Catalog) applyLive(body Body) error {
	c.state.version++
	if err := c.change(c.state, body); err != nil {
		c.state.version--
		return err
	}
	c.publish()
	return nil
}

func (c *Catalog) applyToSnapshot(body Body) error {
	if c.pending == nil {
		return nil // of a snapshot that was given up, or whose begin is gone
	}
	c.pended++
	err := c.change(c.pending, body)
	if err != nil {
		c.pending = nil
	}
	return err
}

// endSnapshot makes a complete snapshot the state, unless everything up to it
// has been applied already: the two states are equal then, and keeping the
// current one keeps its *Topics.
func (c *Catalog) endSnapshot(end SnapshotEnd) error {
	p := c.pending
	c.pending = nil
	if p == nil || c.pended != end.Events || p.version != end.CatalogVersion || p.version <= c.state.version {
		return nil
	}
	p.loading = false
	c.state = p
	c.publish()
	return nil
}

func (c *Catalog) publish() {
	c.epoch.Store(c.state.leaderEpoch)
	c.version.Store(c.state.version)
}

func (c *Catalog) change(s *state, body Body) error {
	switch b := body.(type) {
	case ClusterCreated:
		return c.createCluster(s, b)
	case TopicCreated:
		return c.createTopic(s, b)
	case PartitionsAdded:
		return c.addPartitions(s, b)
	case TopicDeleted:
		return c.deleteTopic(s, b)
	case ConfigSet:
		return c.setConfig(s, b)
	case ProducerIDsReserved:
		if b.Next < s.nextProducerID {
			return fmt.Errorf("metadata event: producer ids go back from %d to %d", s.nextProducerID, b.Next)
		}
		s.nextProducerID = b.Next
	case LeaderEpochRaised:
		if b.Epoch < s.leaderEpoch {
			return fmt.Errorf("metadata event: leader epoch goes back from %d to %d", s.leaderEpoch, b.Epoch)
		}
		s.leaderEpoch = b.Epoch
	default: // not reached by way of Decode
		panic(fmt.Sprintf("BUG: no rule for metadata event %T", body))
	}
	return nil
}

func (c *Catalog) createCluster(s *state, b ClusterCreated) error {
	if s.clusterID != "" {
		return fmt.Errorf("metadata event: cluster %s is created again as %s", s.clusterID, b.ClusterID)
	}
	if b.ClusterID == "" || b.NodeID < 0 {
		return fmt.Errorf("metadata event: cluster id %q, node id %d", b.ClusterID, b.NodeID)
	}
	s.clusterID, s.nodeID = b.ClusterID, b.NodeID
	s.shared = nil
	t := &Topic{Name: MetadataTopic, ID: MetadataTopicID, Internal: true, Streams: []uint64{MetadataStream}, Epoch: 1,
		Config: map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "spate.durability": "fsync"}}
	t.Settings = c.settings(s, t.Config)
	s.put(t)
	s.partitions++
	return nil
}

func (c *Catalog) createTopic(s *state, b TopicCreated) error {
	switch {
	case ValidateTopicName(b.Name) != nil || b.ID.IsZero() || len(b.Streams) == 0:
		return fmt.Errorf("metadata event: topic %q with id %s and %d partitions", b.Name, b.ID, len(b.Streams))
	case s.byName[b.Name] != nil:
		return fmt.Errorf("metadata event: topic %q is created again", b.Name)
	case s.byID[b.ID] != nil:
		return fmt.Errorf("metadata event: topic id %s is used again", b.ID)
	}
	t := b.topic(s.version)
	if s.loading {
		t.Epoch = b.Epoch
		if err := s.checkSnapshotStreams(b.Streams); err != nil {
			return err
		}
	} else if err := s.takeStreams(b.Streams); err != nil {
		return err
	}
	t.Settings = c.settings(s, t.Config)
	s.put(t)
	s.partitions += len(b.Streams)
	return nil
}

func (b TopicCreated) topic(epoch uint64) *Topic {
	t := &Topic{Name: b.Name, ID: b.ID, Internal: b.Internal, Streams: b.Streams, Epoch: epoch}
	if len(b.Config) > 0 {
		t.Config = b.Config
	}
	return t
}

// takeStreams accepts streams that have never been used and counts them used.
func (s *state) takeStreams(streams []uint64) error {
	next := s.nextStream
	for _, n := range streams {
		if n < next || n == ^uint64(0) {
			return fmt.Errorf("metadata event: log stream %d is used again (next is %d)", n, next)
		}
		next = n + 1
	}
	s.nextStream = next
	return nil
}

func (s *state) checkSnapshotStreams(streams []uint64) error {
	for _, n := range streams {
		if n <= MetadataStream || n >= s.nextStream {
			return fmt.Errorf("metadata snapshot: log stream %d lies outside 2 to %d", n, s.nextStream-1)
		}
	}
	return nil
}

func (c *Catalog) addPartitions(s *state, b PartitionsAdded) error {
	old := s.byID[b.ID]
	if old == nil {
		return fmt.Errorf("metadata event: partitions for unknown topic id %s", b.ID)
	}
	if err := s.takeStreams(b.Streams); err != nil {
		return err
	}
	t := *old
	t.Streams = slices.Concat(old.Streams, b.Streams)
	t.Epoch = s.version
	s.put(&t)
	s.partitions += len(b.Streams)
	return nil
}

func (c *Catalog) deleteTopic(s *state, b TopicDeleted) error {
	t := s.byID[b.ID]
	if t == nil || t.ID == MetadataTopicID {
		return fmt.Errorf("metadata event: topic id %s (%q) cannot be deleted", b.ID, b.Name)
	}
	delete(s.byID, t.ID)
	delete(s.byName, t.Name)
	delete(s.byCollision, collisionKey(t.Name))
	s.partitions -= len(t.Streams)
	return nil
}

func (c *Catalog) setConfig(s *state, b ConfigSet) error {
	switch b.Type {
	case TopicResource.String():
		old := s.byName[b.Name]
		if old == nil {
			return fmt.Errorf("metadata event: settings for unknown topic %q", b.Name)
		}
		t := *old
		t.Config = b.merge(old.Config)
		t.Epoch = s.version
		t.Settings = c.settings(s, t.Config)
		s.put(&t)
	case BrokerResource.String():
		s.broker[b.Name] = b.merge(s.broker[b.Name])
		if len(s.broker[b.Name]) == 0 {
			delete(s.broker, b.Name)
		}
		c.resettle(s)
	default:
		return fmt.Errorf("metadata event: settings for resource type %q", b.Type)
	}
	return nil
}

// merge returns a new map: old with the event's changes; nil if nothing is
// left.
func (b ConfigSet) merge(old map[string]string) map[string]string {
	m := make(map[string]string, len(old)+len(b.Set))
	maps.Copy(m, old)
	maps.Copy(m, b.Set)
	for _, name := range b.Delete {
		delete(m, name)
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// resettle computes all topics' settings anew after a change below them.
func (c *Catalog) resettle(s *state) {
	s.shared = nil
	for _, old := range s.byName {
		t := *old
		t.Settings = c.settings(s, t.Config)
		s.put(&t)
	}
}

func (c *Catalog) settings(s *state, overrides map[string]string) *config.Topic {
	if len(overrides) > 0 {
		return config.NewTopic(overrides, c.layers(s))
	}
	if s.shared == nil {
		s.shared = config.NewTopic(nil, c.layers(s))
	}
	return s.shared
}

func (c *Catalog) layers(s *state) config.Layers {
	return config.Layers{
		Broker:  s.broker[s.nodeName()],
		Cluster: s.broker[""],
		Static:  c.options.Static,
	}
}

func (s *state) put(t *Topic) {
	s.byName[t.Name] = t
	s.byID[t.ID] = t
	s.byCollision[collisionKey(t.Name)] = t.Name
}
