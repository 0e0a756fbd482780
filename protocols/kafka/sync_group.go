package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/groups"
)

// SyncGroup (KIP-9): the leader brings the assignments, everybody gets its own.
//
//	v3  static members (KIP-345)
//	v5  type and name of the protocol, which must be the group's (KIP-559)
func init() { register(14, 0, 5, serveSyncGroup) }

// serveSyncGroup answers when the leader's assignments are durable.
func serveSyncGroup(r *request) {
	req := r.kreq.(*kmsg.SyncGroupRequest)
	done := func(res groups.SyncResult) {
		resp := req.ResponseKind().(*kmsg.SyncGroupResponse)
		resp.ErrorCode = groupCode(res.Err)
		resp.MemberAssignment = res.Assignment
		if resp.MemberAssignment == nil {
			resp.MemberAssignment = []byte{}
		}
		if res.Err == nil {
			resp.ProtocolType, resp.Protocol = &res.ProtoType, &res.Protocol
		}
		r.reply(resp)
	}
	if req.Group != "" && r.version >= 5 && (req.ProtocolType == nil || req.Protocol == nil) {
		// Nullable for the sake of the schema only.
		done(groups.SyncResult{Err: groups.ErrInconsistentProtocol})
		return
	}
	q := &groups.SyncRequest{Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID,
		Generation: req.Generation, ProtoType: req.ProtocolType, Protocol: req.Protocol,
		Assignments: make(map[string][]byte, len(req.GroupAssignment))}
	for _, a := range req.GroupAssignment {
		q.Assignments[a.MemberID] = a.MemberAssignment
	}
	r.srv.engine.Groups().Sync(q, done)
}
