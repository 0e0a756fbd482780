package kafka

import (
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/groups"
)

func init() { register(11, 0, 9, serveJoinGroup) }

// serveJoinGroup joins a classic group. Version 1 has a rebalance timeout of its
// own, 4 the second join with the id given (KIP-394), 5 static members
// (KIP-345), 7 tells the protocol type (KIP-559), 9 lets a returning leader skip the
// assignment (KIP-814).
func serveJoinGroup(r *request) {
	req := r.kreq.(*kmsg.JoinGroupRequest)
	q := &groups.JoinRequest{
		Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID, ClientID: r.client,
		ClientHost: clientHost(r.conn.RemoteAddr()), SessionMs: int64(req.SessionTimeoutMillis),
		RebalMs: int64(req.RebalanceTimeoutMillis), ProtoType: req.ProtocolType,
		NeedsID: r.version >= 4, CanSkip: r.version >= 9,
	}
	if r.version < 1 {
		q.RebalMs = q.SessionMs
	}
	for _, p := range req.Protocols {
		q.Protocols = append(q.Protocols, groups.Protocol{Name: p.Name, Metadata: p.Metadata})
	}
	r.srv.engine.Groups().Join(q, func(res groups.JoinResult) {
		resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
		resp.ErrorCode = groupCode(res.Err)
		resp.Generation, resp.LeaderID, resp.MemberID = res.Generation, res.Leader, res.MemberID
		resp.SkipAssignment = res.Skip
		if r.version >= 7 && res.Err == nil {
			resp.ProtocolType, resp.Protocol = &res.ProtoType, &res.Protocol
		} else {
			name := res.Protocol
			if r.version < 7 || res.Err == nil {
				resp.Protocol = &name
			}
		}
		for _, m := range res.Members {
			x := kmsg.NewJoinGroupResponseMember()
			x.MemberID, x.InstanceID, x.ProtocolMetadata = m.ID, m.InstanceID, m.Metadata
			resp.Members = append(resp.Members, x)
		}
		r.reply(resp)
	})
}

// clientHost is how Kafka shows a client's address.
func clientHost(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		host = a.String()
	}
	return "/" + host
}
