package kafka

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/engine/groups"
)

// exchange sends a request and reads its answer.
func exchange[R kmsg.Response](c *client, req kmsg.Request, version int16) R {
	c.t.Helper()
	c.send(req, version)
	return c.answer(req).(R)
}

func wantCode(t testing.TB, what string, got int16, want *kerr.Error) {
	t.Helper()
	code := int16(0)
	if want != nil {
		code = want.Code
	}
	if got != code {
		t.Fatalf("%s: code %d, want %d", what, got, code)
	}
}

func joinRequest(group, member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 10_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", (&kmsg.ConsumerMemberMetadata{Topics: []string{"orders"}}).AppendTo(nil)
	req.Protocols = append(req.Protocols, p)
	return req
}

// joined makes a group with one member by JoinGroup and SyncGroup.
func joined(c *client, group string, joinVersion, syncVersion int16) *kmsg.JoinGroupResponse {
	c.t.Helper()
	req := joinRequest(group, "")
	resp := exchange[*kmsg.JoinGroupResponse](c, req, joinVersion)
	if joinVersion >= 4 {
		wantCode(c.t, "first join", resp.ErrorCode, kerr.MemberIDRequired)
		req.MemberID = resp.MemberID
		resp = exchange[*kmsg.JoinGroupResponse](c, req, joinVersion)
	}
	wantCode(c.t, "join", resp.ErrorCode, nil)
	if resp.Generation != 1 || resp.LeaderID != resp.MemberID || *resp.Protocol != "range" || len(resp.Members) != 1 {
		c.t.Fatalf("join: %+v", resp)
	}
	s := kmsg.NewPtrSyncGroupRequest()
	s.Group, s.MemberID, s.Generation = group, resp.MemberID, 1
	s.ProtocolType, s.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	a := kmsg.NewSyncGroupRequestGroupAssignment()
	a.MemberID, a.MemberAssignment = resp.MemberID, []byte("all")
	s.GroupAssignment = append(s.GroupAssignment, a)
	got := exchange[*kmsg.SyncGroupResponse](c, s, syncVersion)
	wantCode(c.t, "sync", got.ErrorCode, nil)
	if string(got.MemberAssignment) != "all" {
		c.t.Fatalf("sync: %+v", got)
	}
	return resp
}

func commitRequest(group, member string, gen int32, topic [16]byte, name string, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = group, member, gen
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.TopicID = name, topic
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset, p.LeaderEpoch, p.Metadata = offset, 0, kmsg.StringPtr("note")
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

// fetched is the offset of partition 0 of a topic.
func fetched(c *client, group, topic string, id [16]byte, version int16) (offset int64, meta string) {
	c.t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	if version < 8 {
		req.Group = group
		t := kmsg.NewOffsetFetchRequestTopic()
		t.Topic, t.Partitions = topic, []int32{0}
		req.Topics = append(req.Topics, t)
		resp := exchange[*kmsg.OffsetFetchResponse](c, req, version)
		wantCode(c.t, "fetch", resp.ErrorCode, nil)
		p := resp.Topics[0].Partitions[0]
		wantCode(c.t, "fetch", p.ErrorCode, nil)
		return p.Offset, *p.Metadata
	}
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	t := kmsg.NewOffsetFetchRequestGroupTopic()
	t.Topic, t.TopicID, t.Partitions = topic, id, []int32{0}
	g.Topics = append(g.Topics, t)
	req.Groups = append(req.Groups, g)
	resp := exchange[*kmsg.OffsetFetchResponse](c, req, version)
	wantCode(c.t, "fetch", resp.Groups[0].ErrorCode, nil)
	p := resp.Groups[0].Topics[0].Partitions[0]
	wantCode(c.t, "fetch", p.ErrorCode, nil)
	return p.Offset, *p.Metadata
}

// at bounds a version to what an API has.
func at(key, v int16) int16 { return max(min(v, apis[key].max), apis[key].min) }

// TestGroupLife takes a group from its first join to its deletion in each version.
func TestGroupLife(t *testing.T) {
	b := newBroker(t, "group.initial.rebalance.delay.ms=0")
	topic := b.topic("orders", 2)
	c := b.connect()
	for v := range int16(11) {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			group := fmt.Sprint("group", v)
			fc := kmsg.NewPtrFindCoordinatorRequest()
			fc.CoordinatorKey, fc.CoordinatorKeys = group, []string{group, ""}
			found := exchange[*kmsg.FindCoordinatorResponse](c, fc, at(10, v))
			wantCode(t, "find", found.ErrorCode, nil)
			if n := len(found.Coordinators); v >= 4 && (n != 2 || found.Coordinators[0].Key != group) {
				t.Fatalf("find: %+v", found)
			}
			if n, _ := fetched(c, group, "orders", topic.ID, at(9, v)); n != -1 {
				t.Fatalf("group that does not exist has offset %d", n)
			}
			m := joined(c, group, at(11, v), at(14, v))
			hb := kmsg.NewPtrHeartbeatRequest()
			hb.Group, hb.MemberID, hb.Generation = group, m.MemberID, 1
			wantCode(t, "heartbeat", exchange[*kmsg.HeartbeatResponse](c, hb, at(12, v)).ErrorCode, nil)
			hb.Generation = 2
			wantCode(t, "heartbeat", exchange[*kmsg.HeartbeatResponse](c, hb, at(12, v)).ErrorCode, kerr.IllegalGeneration)
			commit := commitRequest(group, m.MemberID, 1, topic.ID, "orders", 42)
			wantCode(t, "commit", exchange[*kmsg.OffsetCommitResponse](c, commit, at(8, v)).Topics[0].Partitions[0].ErrorCode, nil)
			commit.Generation = 7
			wantCode(t, "commit", exchange[*kmsg.OffsetCommitResponse](c, commit, at(8, v)).Topics[0].Partitions[0].ErrorCode, kerr.IllegalGeneration)
			if n, meta := fetched(c, group, "orders", topic.ID, at(9, v)); n != 42 || meta != "note" {
				t.Fatalf("fetched %d %q", n, meta)
			}
			endOfGroup(c, group, m.MemberID, v)
		})
	}
}

// endOfGroup describes and lists a stable group, and has it end.
func endOfGroup(c *client, group, member string, v int16) {
	t := c.t
	t.Helper()
	d := kmsg.NewPtrDescribeGroupsRequest()
	d.Groups = []string{group, "none"}
	got := exchange[*kmsg.DescribeGroupsResponse](c, d, at(15, v)).Groups
	if g := got[0]; g.State != "Stable" || g.Protocol != "range" || len(g.Members) != 1 || string(g.Members[0].MemberAssignment) != "all" {
		t.Fatalf("describe: %+v", g)
	}
	if g := got[1]; g.State != "Dead" || (g.ErrorCode != 0) != (at(15, v) >= 6) {
		t.Fatalf("describe of none: %+v", g)
	}
	l := kmsg.NewPtrListGroupsRequest()
	l.StatesFilter, l.TypesFilter = []string{"stable"}, []string{"Classic"}
	if gs := exchange[*kmsg.ListGroupsResponse](c, l, at(16, v)).Groups; len(gs) != 1 && at(16, v) >= 4 {
		t.Fatalf("list: %+v", gs)
	}
	del := kmsg.NewPtrDeleteGroupsRequest()
	del.Groups = []string{group, "none"}
	gone := exchange[*kmsg.DeleteGroupsResponse](c, del, at(42, v)).Groups
	wantCode(t, "delete", gone[0].ErrorCode, kerr.NonEmptyGroup)
	wantCode(t, "delete", gone[1].ErrorCode, kerr.GroupIDNotFound)
	od := kmsg.NewPtrOffsetDeleteRequest()
	od.Group = group
	ot := kmsg.NewOffsetDeleteRequestTopic()
	ot.Topic, ot.Partitions = "orders", []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}
	od.Topics = append(od.Topics, ot)
	wantCode(t, "offset delete", exchange[*kmsg.OffsetDeleteResponse](c, od, 0).Topics[0].Partitions[0].ErrorCode, kerr.GroupSubscribedToTopic)
	lv := kmsg.NewPtrLeaveGroupRequest()
	lv.Group, lv.MemberID = group, member
	lm := kmsg.NewLeaveGroupRequestMember()
	lm.MemberID = member
	lv.Members = append(lv.Members, lm)
	wantCode(t, "leave", exchange[*kmsg.LeaveGroupResponse](c, lv, at(13, v)).ErrorCode, nil)
	wantCode(t, "offset delete", exchange[*kmsg.OffsetDeleteResponse](c, od, 0).Topics[0].Partitions[0].ErrorCode, nil)
	wantCode(t, "delete", exchange[*kmsg.DeleteGroupsResponse](c, del, at(42, v)).Groups[0].ErrorCode, nil)
}

// TestSyncMustNameProtocol: from version 5 on null is a protocol that does not fit.
func TestSyncMustNameProtocol(t *testing.T) {
	c := newBroker(t, "group.initial.rebalance.delay.ms=0").connect()
	m := joined(c, "g", 9, 5)
	s := kmsg.NewPtrSyncGroupRequest()
	s.Group, s.MemberID, s.Generation = "g", m.MemberID, 1
	wantCode(t, "sync 4", exchange[*kmsg.SyncGroupResponse](c, s, 4).ErrorCode, nil)
	wantCode(t, "sync 5", exchange[*kmsg.SyncGroupResponse](c, s, 5).ErrorCode, kerr.InconsistentGroupProtocol)
}

// TestOffsetsByTopicID: an id nobody knows has an error for each of its partitions,
// the rest of the request is served. The empty group id is one as any other here.
func TestOffsetsByTopicID(t *testing.T) {
	b := newBroker(t)
	topic := b.topic("orders", 1)
	c := b.connect()
	req := commitRequest("", "", -1, topic.ID, "", 9)
	other := commitRequest("", "", -1, [16]byte{9}, "", 9)
	req.Topics = append(req.Topics, other.Topics...)
	resp := exchange[*kmsg.OffsetCommitResponse](c, req, 10)
	wantCode(t, "known", resp.Topics[0].Partitions[0].ErrorCode, nil)
	wantCode(t, "unknown", resp.Topics[1].Partitions[0].ErrorCode, kerr.UnknownTopicID)
	if n, _ := fetched(c, "", "orders", topic.ID, 10); n != 9 {
		t.Errorf("fetched %d", n)
	}
}

// TestGroupsSurviveRestart: members, assignment and offsets are there again, what
// was deleted is not.
func TestGroupsSurviveRestart(t *testing.T) {
	mem, config := disk.NewMem(1), testConfig(t, "group.initial.rebalance.delay.ms=0")
	b := newBrokerOn(t, disk.NewFault(mem, 1), config)
	topic := b.topic("orders", 1)
	c := b.connect()
	m := joined(c, "kept", 9, 5)
	for _, group := range []string{"gone", "simple"} {
		req := commitRequest(group, "", -1, topic.ID, "", 7)
		wantCode(t, "commit", exchange[*kmsg.OffsetCommitResponse](c, req, 10).Topics[0].Partitions[0].ErrorCode, nil)
	}
	del := kmsg.NewPtrDeleteGroupsRequest()
	del.Groups = []string{"gone"}
	wantCode(t, "delete", exchange[*kmsg.DeleteGroupsResponse](c, del, 2).Groups[0].ErrorCode, nil)
	if err := b.engine.Close(); err != nil {
		t.Fatal(err)
	}
	// Nothing that was not synced is on the disk of the next one.
	mem = mem.CrashClone(rand.New(rand.NewPCG(1, 1)), disk.CrashOptions{})
	b = newBrokerOn(t, disk.NewFault(mem, 1), config)
	c = b.connect()
	if n, _ := fetched(c, "simple", "orders", topic.ID, 10); n != 7 {
		t.Errorf("offset is %d after the restart", n)
	}
	if list := b.engine.Groups().List(); len(list) != 2 || list[0].Group != "kept" || list[0].State != groups.Stable {
		t.Errorf("groups after the restart: %+v", list)
	}
	s := kmsg.NewPtrSyncGroupRequest()
	s.Group, s.MemberID, s.Generation = "kept", m.MemberID, 1
	s.ProtocolType, s.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	if got := exchange[*kmsg.SyncGroupResponse](c, s, 5); got.ErrorCode != 0 || string(got.MemberAssignment) != "all" {
		t.Errorf("sync after the restart: %+v", got)
	}
}
