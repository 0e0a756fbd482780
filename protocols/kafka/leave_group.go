package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/groups"
)

func init() { register(13, 0, 5, serveLeaveGroup) }

// serveLeaveGroup takes members out: one up to version 2, any number from 3 on,
// static ones by instance id (KIP-345). The reason of version 5 (KIP-800) is not kept.
func serveLeaveGroup(r *request) {
	req := r.kreq.(*kmsg.LeaveGroupRequest)
	resp := req.ResponseKind().(*kmsg.LeaveGroupResponse)
	members := []groups.LeaveMember{{MemberID: req.MemberID}}
	if r.version >= 3 {
		members = members[:0]
		for _, m := range req.Members {
			members = append(members, groups.LeaveMember{MemberID: m.MemberID, InstanceID: m.InstanceID})
		}
	}
	errs, err := r.srv.engine.Groups().Leave(req.Group, members)
	resp.ErrorCode = groupCode(err)
	if r.version < 3 && err == nil {
		resp.ErrorCode = groupCode(errs[0])
	}
	if r.version >= 3 && err == nil {
		for i, m := range req.Members {
			x := kmsg.NewLeaveGroupResponseMember()
			x.MemberID, x.InstanceID, x.ErrorCode = m.MemberID, m.InstanceID, groupCode(errs[i])
			resp.Members = append(resp.Members, x)
		}
	}
	r.reply(resp)
}
