package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func init() { register(10, 0, 6, serveFindCoordinator) }

const coordinatorGroup = 0

// serveFindCoordinator names this node for every group. Version 4 asks for
// several keys at once (KIP-699). Coordinators of transactions and share groups
// are not served: their clients learn that from the code.
func serveFindCoordinator(r *request) {
	r.srv.engine.EnsureOffsetsTopic(func(err error) {
		req := r.kreq.(*kmsg.FindCoordinatorRequest)
		resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
		keys := req.CoordinatorKeys
		if r.version < 4 {
			keys = []string{req.CoordinatorKey}
		}
		for _, key := range keys {
			c := kmsg.NewFindCoordinatorResponseCoordinator()
			c.Key, c.NodeID, c.Port = key, -1, -1
			msg := ""
			switch {
			case req.CoordinatorType != coordinatorGroup:
				c.ErrorCode = kerr.InvalidRequest.Code
				msg = "Only group coordinators are served."
			case err != nil:
				c.ErrorCode = kerr.CoordinatorNotAvailable.Code
			}
			if c.ErrorCode == 0 {
				b := r.srv.endpoint(r.conn)
				c.NodeID, c.Host, c.Port = b.node, b.host, b.port
			}
			if msg != "" {
				c.ErrorMessage = &msg
			}
			resp.Coordinators = append(resp.Coordinators, c)
		}
		if r.version < 4 {
			c := resp.Coordinators[0]
			resp.ErrorCode, resp.ErrorMessage, resp.NodeID, resp.Host, resp.Port = c.ErrorCode, c.ErrorMessage, c.NodeID, c.Host, c.Port
			resp.Coordinators = nil
		}
		r.reply(resp)
	})
}
