package groups

import "sort"

// Description is a group as DescribeGroups shows it.
type Description struct {
	Group     string
	State     State
	ProtoType string
	Protocol  string
	Members   []MemberDescription
}

// MemberDescription is a member as DescribeGroups shows it.
type MemberDescription struct {
	ID         string
	InstanceID *string
	ClientID   string
	ClientHost string
	Metadata   []byte
	Assignment []byte
}

// Describe describes a group; false if it does not exist. As in Kafka metadata and
// the protocol are only told of a stable group, assignments while they hold.
func (c *Coordinator) Describe(group string) (Description, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.groups[group]
	if g == nil {
		return Description{Group: group, State: Dead}, false
	}
	d := Description{Group: group, State: g.state, ProtoType: g.protoType}
	if g.state == Stable {
		d.Protocol = g.protocol
	}
	for _, m := range g.byOrder() {
		md := MemberDescription{ID: m.id, InstanceID: m.instance, ClientID: m.clientID, ClientHost: m.clientHost, Assignment: m.assignment}
		if g.state == Stable {
			md.Metadata = m.metadata(g.protocol)
		}
		d.Members = append(d.Members, md)
	}
	return d, true
}

// Listing is one line of ListGroups.
type Listing struct {
	Group     string
	State     State
	ProtoType string
}

// List lists all groups by name.
func (c *Coordinator) List() []Listing {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Listing, 0, len(c.groups))
	for id, g := range c.groups {
		out = append(out, Listing{id, g.state, g.protoType})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Group < out[j].Group })
	return out
}
