package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

func init() { register(12, 0, 4, serveHeartbeat) }

// serveHeartbeat keeps a member alive and tells it of a rebalance. Version 3 has
// static members.
func serveHeartbeat(r *request) {
	req := r.kreq.(*kmsg.HeartbeatRequest)
	resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
	resp.ErrorCode = groupCode(r.srv.engine.Groups().Heartbeat(req.Group, req.MemberID, req.InstanceID, req.Generation))
	r.reply(resp)
}
