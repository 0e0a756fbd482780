package groups

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Record is a record of __consumer_offsets; a nil Value deletes.
type Record struct{ Key, Value []byte }

// Versions of keys and values that Kafka 4.3 writes.
const (
	offsetKeyVersion   = 1
	offsetValueVersion = 4 // with the topic's id, as a tagged field
	groupKeyVersion    = 2
	groupValueVersion  = 3

	// expireValueVersion alone has room for a time of expiry of the client's own
	// (OffsetCommit 2 to 4), but neither for leader epoch nor for topic id.
	expireValueVersion = 1
)

func offsetRecord(group string, tp TopicPartition, o *Offset) Record {
	k := kmsg.OffsetCommitKey{Version: offsetKeyVersion, Group: group, Topic: tp.Topic, Partition: tp.Partition}
	r := Record{Key: k.AppendTo(nil)}
	if o != nil {
		v := kmsg.OffsetCommitValue{Version: offsetValueVersion, Offset: o.Offset, LeaderEpoch: o.LeaderEpoch,
			Metadata: o.Metadata, CommitTimestamp: o.CommitMs, TopicID: o.TopicID}
		if o.ExpireMs >= 0 {
			v.Version, v.ExpireTimestamp = expireValueVersion, o.ExpireMs
		}
		r.Value = v.AppendTo(nil)
	}
	return r
}

func (g *group) record() Record {
	k := kmsg.GroupMetadataKey{Version: groupKeyVersion, Group: g.id}
	v := kmsg.GroupMetadataValue{Version: groupValueVersion, ProtocolType: g.protoType, Generation: g.gen,
		CurrentStateTimestamp: g.sinceMs}
	if g.protocol != "" {
		v.Protocol = &g.protocol
	}
	if g.leader != "" {
		v.Leader = &g.leader
	}
	for _, m := range g.byOrder() {
		v.Members = append(v.Members, kmsg.GroupMetadataValueMember{MemberID: m.id, InstanceID: m.instance,
			ClientID: m.clientID, ClientHost: m.clientHost, RebalanceTimeoutMillis: int32(m.rebalMs),
			SessionTimeoutMillis: int32(m.sessionMs), Subscription: m.metadata(g.protocol), Assignment: m.assignment})
	}
	return Record{Key: k.AppendTo(nil), Value: v.AppendTo(nil)}
}

func groupTombstone(id string) Record {
	k := kmsg.GroupMetadataKey{Version: groupKeyVersion, Group: id}
	return Record{Key: k.AppendTo(nil)}
}

// replay applies one record to the state.
func (c *Coordinator) replay(key, value []byte) error {
	if len(key) < 2 {
		return fmt.Errorf("key of %d bytes", len(key))
	}
	switch v := int16(binary.BigEndian.Uint16(key)); v {
	case 0, offsetKeyVersion:
		return c.replayOffset(key, value)
	case groupKeyVersion:
		return c.replayGroup(key, value)
	default:
		// A newer kind of record: what it says cannot be used, nor does it harm.
		return nil
	}
}

func (c *Coordinator) replayOffset(key, value []byte) error {
	var k kmsg.OffsetCommitKey
	if err := k.ReadFrom(key); err != nil {
		return fmt.Errorf("offset key: %w", err)
	}
	tp := TopicPartition{k.Topic, k.Partition}
	if value == nil {
		if g := c.groups[k.Group]; g != nil {
			delete(g.offsets, tp)
			if !g.hasMeta && len(g.offsets) == 0 {
				delete(c.groups, k.Group)
			}
		}
		return nil
	}
	var v kmsg.OffsetCommitValue
	if err := v.ReadFrom(value); err != nil {
		return fmt.Errorf("offset value: %w", err)
	}
	o := Offset{Offset: v.Offset, LeaderEpoch: -1, Metadata: v.Metadata, CommitMs: v.CommitTimestamp, ExpireMs: -1}
	if v.Version >= 3 {
		o.LeaderEpoch = v.LeaderEpoch
	}
	if v.Version == expireValueVersion {
		o.ExpireMs = v.ExpireTimestamp
	}
	o.TopicID = v.TopicID
	c.groupFor(k.Group, v.CommitTimestamp).offsets[tp] = o
	return nil
}

func (c *Coordinator) replayGroup(key, value []byte) error {
	var k kmsg.GroupMetadataKey
	if err := k.ReadFrom(key); err != nil {
		return fmt.Errorf("group key: %w", err)
	}
	if value == nil {
		// Offsets have tombstones of their own.
		if g := c.groups[k.Group]; g != nil {
			delete(c.groups, k.Group)
			if len(g.offsets) > 0 {
				c.groupFor(k.Group, g.sinceMs).offsets = g.offsets
			}
		}
		return nil
	}
	var v kmsg.GroupMetadataValue
	if err := v.ReadFrom(value); err != nil {
		return fmt.Errorf("group value: %w", err)
	}
	old := c.groupFor(k.Group, v.CurrentStateTimestamp)
	g := newGroup(k.Group, v.CurrentStateTimestamp)
	g.offsets, g.hasMeta = old.offsets, true
	g.protoType, g.gen = v.ProtocolType, v.Generation
	if v.Protocol != nil {
		g.protocol = *v.Protocol
	}
	if v.Leader != nil {
		g.leader = *v.Leader
	}
	for _, m := range v.Members {
		g.joined++
		n := &member{id: m.MemberID, instance: m.InstanceID, clientID: m.ClientID, clientHost: m.ClientHost,
			sessionMs: max(int64(m.SessionTimeoutMillis), 1), rebalMs: max(int64(m.RebalanceTimeoutMillis), minRebalanceMs), order: g.joined,
			protocols: []Protocol{{g.protocol, bytes.Clone(m.Subscription)}}, assignment: bytes.Clone(m.Assignment)}
		g.members[n.id] = n
		if n.instance != nil {
			g.static[*n.instance] = n.id
		}
	}
	if len(g.members) > 0 {
		g.state = Stable
	}
	c.groups[k.Group] = g
	return nil
}
