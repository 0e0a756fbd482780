package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func init() { register(15, 0, 6, serveDescribeGroups) }

// groupOperations are the operations on a group that are allowed to everybody:
// read, delete, describe, describe and alter configs (KIP-430).
const groupOperations = 1<<3 | 1<<6 | 1<<8

// serveDescribeGroups describes groups. One that does not exist is "Dead" up to
// version 5, an error from 6 on (KIP-1043).
func serveDescribeGroups(r *request) {
	req := r.kreq.(*kmsg.DescribeGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	for _, id := range req.Groups {
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group = id
		d, ok := r.srv.engine.Groups().Describe(id)
		g.State, g.ProtocolType, g.Protocol = d.State.String(), d.ProtoType, d.Protocol
		if !ok && r.version >= 6 {
			msg := fmt.Sprintf("Group %s not found.", id)
			g.ErrorCode, g.ErrorMessage = kerr.GroupIDNotFound.Code, &msg
		}
		if req.IncludeAuthorizedOperations && g.ErrorCode == 0 {
			g.AuthorizedOperations = groupOperations
		}
		for _, m := range d.Members {
			x := kmsg.NewDescribeGroupsResponseGroupMember()
			x.MemberID, x.InstanceID, x.ClientID, x.ClientHost = m.ID, m.InstanceID, m.ClientID, m.ClientHost
			x.ProtocolMetadata, x.MemberAssignment = m.Metadata, m.Assignment
			g.Members = append(g.Members, x)
		}
		resp.Groups = append(resp.Groups, g)
	}
	r.reply(resp)
}
