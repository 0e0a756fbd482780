package catalog

import (
	"cmp"
	"maps"
	"slices"
)

// Snapshot returns the events that give this state when they are applied to an
// empty catalog. Written to the metadata topic, it makes everything before its
// SnapshotBegin superfluous. Write it as one piece: a change between its events
// voids it.
func (c *Catalog) Snapshot() []Event {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s := c.state
	var bodies []Body
	if s.clusterID != "" {
		bodies = append(bodies, ClusterCreated{ClusterID: s.clusterID, NodeID: s.nodeID})
	}
	if s.leaderEpoch != 0 {
		bodies = append(bodies, LeaderEpochRaised{Epoch: s.leaderEpoch})
	}
	if s.nextProducerID != 0 {
		bodies = append(bodies, ProducerIDsReserved{Next: s.nextProducerID})
	}
	// Brokers before topics, so that topics' settings are computed once.
	for _, name := range slices.Sorted(maps.Keys(s.broker)) {
		bodies = append(bodies, ConfigSet{Type: BrokerResource.String(), Name: name, Set: s.broker[name]})
	}
	for _, t := range s.topicsByName() {
		if t.ID == MetadataTopicID {
			continue // ClusterCreated makes it
		}
		bodies = append(bodies, TopicCreated{Name: t.Name, ID: t.ID, Internal: t.Internal, Streams: t.Streams,
			Config: t.Config, Epoch: t.Epoch})
	}
	events := make([]Event, 0, len(bodies)+2)
	events = append(events, Event{Body: SnapshotBegin{CatalogVersion: s.version, NextStream: s.nextStream}})
	for _, b := range bodies {
		events = append(events, Event{Snapshot: true, Body: b})
	}
	return append(events, Event{Body: SnapshotEnd{CatalogVersion: s.version, Events: len(bodies)}})
}

func (s *state) topicsByName() []*Topic {
	topics := slices.Collect(maps.Values(s.byName))
	slices.SortFunc(topics, func(a, b *Topic) int { return cmp.Compare(a.Name, b.Name) })
	return topics
}
