package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeGroups (KIP-40): state and members.
//
//	v3  authorized operations on demand (KIP-430)
//	v4  instance ids (KIP-345)
//	v6  a group that does not exist is an error (KIP-1043); before, it is "Dead"
func init() { register(15, 0, 6, serveDescribeGroups) }

// groupOperations are Kafka's operations on a group, as bits by operation code,
// all allowed to everybody: read (3), delete (6), describe (8), describe and alter
// configs (10, 11).
const groupOperations = 1<<3 | 1<<6 | 1<<8 | 1<<10 | 1<<11

func serveDescribeGroups(r *request) {
	req := r.kreq.(*kmsg.DescribeGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	for _, id := range req.Groups {
		resp.Groups = append(resp.Groups, r.describeGroup(id, req.IncludeAuthorizedOperations))
	}
	r.reply(resp)
}

func (r *request) describeGroup(id string, operations bool) kmsg.DescribeGroupsResponseGroup {
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group = id
	d, ok := r.srv.engine.Groups().Describe(id)
	g.State, g.ProtocolType, g.Protocol = d.State.String(), d.ProtoType, d.Protocol
	if !ok && r.version >= 6 {
		msg := fmt.Sprintf("Group %s not found.", id)
		g.ErrorCode, g.ErrorMessage = kerr.GroupIDNotFound.Code, &msg
	}
	if operations && g.ErrorCode == 0 {
		g.AuthorizedOperations = groupOperations
	}
	for _, m := range d.Members {
		x := kmsg.NewDescribeGroupsResponseGroupMember()
		x.MemberID, x.InstanceID, x.ClientID, x.ClientHost = m.ID, m.InstanceID, m.ClientID, m.ClientHost
		x.ProtocolMetadata, x.MemberAssignment = m.Metadata, m.Assignment
		g.Members = append(g.Members, x)
	}
	return g
}
