package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/groups"
)

func init() { register(14, 0, 5, serveSyncGroup) }

// serveSyncGroup gives a member its assignment once the leader has brought it and
// it is durable. Version 3 has static members, 5 names the protocol (KIP-559).
func serveSyncGroup(r *request) {
	req := r.kreq.(*kmsg.SyncGroupRequest)
	q := &groups.SyncRequest{Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID,
		Generation: req.Generation, ProtoType: req.ProtocolType, Protocol: req.Protocol,
		Assignments: make(map[string][]byte, len(req.GroupAssignment))}
	for _, a := range req.GroupAssignment {
		q.Assignments[a.MemberID] = a.MemberAssignment
	}
	if r.version >= 5 && (q.ProtoType == nil || q.Protocol == nil) {
		// The fields may be null on the wire, but must be told from this version on.
		resp := req.ResponseKind().(*kmsg.SyncGroupResponse)
		resp.ErrorCode, resp.MemberAssignment = groupCode(groups.ErrInconsistentProtocol), []byte{}
		r.reply(resp)
		return
	}
	r.srv.engine.Groups().Sync(q, func(res groups.SyncResult) {
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
	})
}
