package catalog

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spatemq/spate/engine/config"
)

// maxPartitionsPerTopic is the most partitions one request may add to one
// topic, Kafka's limit for a request.
const maxPartitionsPerTopic = 10_000

// PlanCreateCluster names the cluster and this node; the first event of all.
// An empty clusterID draws one.
func (c *Catalog) PlanCreateCluster(clusterID string, nodeID int32) ([]Event, error) {
	if c.ClusterID() != "" {
		return nil, refuse(InvalidRequest, "The cluster exists already as %s.", c.ClusterID())
	}
	if nodeID < 0 {
		return nil, refuse(InvalidRequest, "Node id %d is negative.", nodeID)
	}
	if clusterID == "" {
		id, err := NewUUID(c.options.Random)
		if err != nil {
			return nil, err
		}
		clusterID = id.String()
	}
	return []Event{{Body: ClusterCreated{ClusterID: clusterID, NodeID: nodeID}}}, nil
}

// PlanRaiseLeaderEpoch starts the next leader epoch.
func (c *Catalog) PlanRaiseLeaderEpoch() []Event {
	return []Event{{Body: LeaderEpochRaised{Epoch: c.LeaderEpoch() + 1}}}
}

// PlanReserveProducerIDs reserves n producer ids from first on.
func (c *Catalog) PlanReserveProducerIDs(n int64) (first int64, events []Event, err error) {
	first = c.NextProducerID()
	if n < 1 || first > 1<<63-1-n {
		return 0, nil, refuse(InvalidRequest, "No %d producer ids are left after %d.", n, first)
	}
	return first, []Event{{Body: ProducerIDsReserved{Next: first + n}}}, nil
}

// PlanCreateTopic validates the request and returns the topic as it would
// become, and the events that make it. Nothing changes.
func (c *Catalog) PlanCreateTopic(spec TopicSpec) (*Topic, []Event, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if err := c.state.checkNewName(spec); err != nil {
		return nil, nil, err
	}
	partitions, err := c.partitionsOf(spec)
	if err != nil {
		return nil, nil, err
	}
	overrides, err := c.overridesOf(spec.Configs)
	if err != nil {
		return nil, nil, err
	}
	if err := c.checkRoom(partitions); err != nil {
		return nil, nil, err
	}
	id, err := c.freeTopicID()
	if err != nil {
		return nil, nil, err
	}
	b := TopicCreated{Name: spec.Name, ID: id, Internal: spec.Internal || isInternalName(spec.Name),
		Streams: c.state.nextStreams(partitions), Config: overrides}
	t := b.topic(c.state.version + 1)
	t.Settings = config.NewTopic(overrides, c.layers(c.state))
	return t, []Event{{Body: b}}, nil
}

func (s *state) checkNewName(spec TopicSpec) error {
	if err := ValidateTopicName(spec.Name); err != nil {
		return err
	}
	if spec.Name == MetadataTopic {
		return refuse(InvalidRequest, "Creation of internal topic %s is prohibited.", MetadataTopic)
	}
	if s.byName[spec.Name] != nil {
		return refuse(TopicExists, "Topic '%s' already exists.", spec.Name)
	}
	if other, ok := s.byCollision[collisionKey(spec.Name)]; ok {
		return refuse(InvalidTopicName, "Topic '%s' collides with existing topic: %s", spec.Name, other)
	}
	return nil
}

// partitionsOf resolves the number of partitions and checks the replicas.
func (c *Catalog) partitionsOf(spec TopicSpec) (int32, error) {
	if len(spec.Assignments) > 0 {
		return c.assignedPartitions(spec)
	}
	switch rf := spec.ReplicationFactor; {
	case rf < -1 || rf == 0:
		return 0, refuse(InvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	case rf > 1:
		return 0, refuse(InvalidReplicationFactor, "Unable to replicate the partition %d time(s): The target replication factor of %d cannot be reached because only 1 broker(s) are registered.", rf, rf)
	}
	switch {
	case spec.Partitions == -1:
		return config.DefaultPartitions(c.layers(c.state)), nil
	case spec.Partitions < 1:
		return 0, refuse(InvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	}
	return spec.Partitions, nil
}

func (c *Catalog) assignedPartitions(spec TopicSpec) (int32, error) {
	if spec.ReplicationFactor != -1 {
		return 0, refuse(InvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
	}
	if spec.Partitions != -1 {
		return 0, refuse(InvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
	}
	for _, p := range slices.Sorted(maps.Keys(spec.Assignments)) {
		if err := c.state.checkReplicas(spec.Assignments[p]); err != nil {
			return 0, err
		}
		if p < 0 || int(p) >= len(spec.Assignments) {
			return 0, refuse(InvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
		}
	}
	return int32(len(spec.Assignments)), nil
}

// checkReplicas accepts the one replica list there can be on a single node.
func (s *state) checkReplicas(replicas []int32) error {
	if len(replicas) == 0 {
		return refuse(InvalidReplicaAssignment, "The manual partition assignment includes an empty replica list.")
	}
	sorted := slices.Sorted(slices.Values(replicas))
	for i, id := range sorted {
		if i > 0 && id == sorted[i-1] {
			return refuse(InvalidReplicaAssignment, "The manual partition assignment includes the broker %d more than once.", id)
		}
		if id != s.nodeID {
			return refuse(InvalidReplicaAssignment, "The manual partition assignment includes broker %d, but no such broker is registered.", id)
		}
	}
	return nil
}

// overridesOf validates the settings of a new topic.
func (c *Catalog) overridesOf(configs map[string]*string) (map[string]string, error) {
	if len(configs) == 0 {
		return nil, nil
	}
	overrides := make(map[string]string, len(configs))
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		if configs[name] == nil {
			return nil, refuse(InvalidConfig, "Null value not supported for topic configs: %s", name)
		}
		overrides[name] = *configs[name]
	}
	if err := config.ValidateTopicSet(overrides, c.layers(c.state)); err != nil {
		return nil, refuse(InvalidConfig, "%s", err)
	}
	return overrides, nil
}

// checkRoom enforces the limits for partitions that a request adds.
func (c *Catalog) checkRoom(added int32) error {
	if added > maxPartitionsPerTopic {
		return refuse(PolicyViolation, "Excessively large number of partitions per request.")
	}
	if total := c.state.partitions + int(added); total > c.options.MaxPartitions {
		return refuse(TooManyPartitions, "%d partitions would exceed this broker's limit of %d (spate.max.partitions).", total, c.options.MaxPartitions)
	}
	return nil
}

func (c *Catalog) freeTopicID() (TopicID, error) {
	for {
		id, err := NewUUID(c.options.Random)
		if err != nil || c.state.byID[id] == nil {
			return id, err
		}
	}
}

func (s *state) nextStreams(n int32) []uint64 {
	streams := make([]uint64, n)
	for i := range streams {
		streams[i] = s.nextStream + uint64(i)
	}
	return streams
}

// PlanAddPartitions grows a topic to total partitions. Assignments, unless
// nil, are the replicas of each new partition.
func (c *Catalog) PlanAddPartitions(id TopicID, total int32, assignments [][]int32) ([]Event, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t, err := c.state.changeable(id)
	if err != nil {
		return nil, err
	}
	now := t.Partitions()
	if total == now {
		return nil, refuse(InvalidPartitions, "Topic already has %d partition(s).", now)
	}
	if total < now {
		return nil, refuse(InvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.", t.Name, now, total)
	}
	added := total - now
	if assignments != nil {
		if len(assignments) != int(added) {
			return nil, refuse(InvalidReplicaAssignment, "Attempted to add %d additional partition(s), but only %d assignment(s) were specified.", added, len(assignments))
		}
		for _, replicas := range assignments {
			if err := c.state.checkReplicas(replicas); err != nil {
				return nil, err
			}
		}
	}
	if err := c.checkRoom(added); err != nil {
		return nil, err
	}
	return []Event{{Body: PartitionsAdded{ID: id, Streams: c.state.nextStreams(added)}}}, nil
}

// PlanDeleteTopic ends a topic.
func (c *Catalog) PlanDeleteTopic(id TopicID) ([]Event, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t, err := c.state.changeable(id)
	if err != nil {
		return nil, err
	}
	if !config.DeleteTopicEnabled(c.layers(c.state)) {
		return nil, refuse(TopicDeletionDisabled, "Topic deletion is disabled.")
	}
	return []Event{{Body: TopicDeleted{ID: id, Name: t.Name}}}, nil
}

// changeable finds a topic that clients may change.
func (s *state) changeable(id TopicID) (*Topic, error) {
	t := s.byID[id]
	if t == nil {
		return nil, refuse(UnknownTopicID, "This server does not host a topic with the id %s.", id)
	}
	if t.ID == MetadataTopicID {
		return nil, refuse(TopicAuthorization, "Topic %s is the broker's own.", t.Name)
	}
	return t, nil
}

func (s *state) nodeName() string { return strconv.Itoa(int(s.nodeID)) }
