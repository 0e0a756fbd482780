package catalog

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spatemq/spate/engine/config"
)

// PlanAlterConfigs changes overrides of a resource: a value sets, nil deletes.
// Everything is validated as a whole, so a request takes effect in full or not
// at all. Without a change there are no events.
func (c *Catalog) PlanAlterConfigs(r Resource, set map[string]*string) ([]Event, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	old, err := c.overrides(r)
	if err != nil {
		return nil, err
	}
	change := ConfigSet{Type: r.Type.String(), Name: r.Name, Set: map[string]string{}}
	if r.Type == BrokerResource && r.Name != "" {
		change.Name = c.state.nodeName() // "01" is broker 1
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		switch now, exists := old[name]; {
		case set[name] == nil && exists:
			change.Delete = append(change.Delete, name)
		case set[name] != nil && (!exists || now != *set[name]):
			change.Set[name] = *set[name]
		}
	}
	if err := c.checkAltered(r, set, change.merge(old)); err != nil {
		return nil, err
	}
	if len(change.Set) == 0 && len(change.Delete) == 0 {
		return nil, nil
	}
	return []Event{{Body: change}}, nil
}

// overrides finds a resource's settings made at run time.
func (c *Catalog) overrides(r Resource) (map[string]string, error) {
	switch r.Type {
	case TopicResource:
		return c.topicOverrides(r.Name)
	case BrokerResource:
		if r.Name == "" {
			return c.state.broker[""], nil
		}
		id, err := strconv.ParseInt(r.Name, 10, 32)
		if err != nil {
			return nil, refuse(InvalidRequest, "Node id must be an integer, but it is: %s", r.Name)
		}
		if int32(id) != c.state.nodeID {
			return nil, refuse(InvalidRequest, "Unexpected broker id, expected %d or empty string, but received %s", c.state.nodeID, r.Name)
		}
		return c.state.broker[c.state.nodeName()], nil
	}
	return nil, refuse(InvalidRequest, "Unexpected resource type %s.", r.Type)
}

func (c *Catalog) topicOverrides(name string) (map[string]string, error) {
	if name == "" {
		return nil, refuse(InvalidRequest, "Default topic resources are not allowed.")
	}
	if err := ValidateTopicName(name); err != nil {
		return nil, err
	}
	t := c.state.byName[name]
	if t == nil {
		return nil, refuse(UnknownTopic, "The topic '%s' does not exist.", name)
	}
	if t.ID == MetadataTopicID {
		return nil, refuse(TopicAuthorization, "Topic %s is the broker's own.", name)
	}
	return t.Config, nil
}

// checkAltered validates what a resource's overrides would become.
func (c *Catalog) checkAltered(r Resource, set map[string]*string, after map[string]string) error {
	if r.Type == TopicResource {
		if err := config.ValidateTopicSet(after, c.layers(c.state)); err != nil {
			return refuse(InvalidConfig, "%s", err)
		}
		return nil
	}
	if err := config.ValidateDynamic(set, after); err != nil {
		return refuse(InvalidRequest, "%s", err)
	}
	return nil
}
