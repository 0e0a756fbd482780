package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// FindCoordinator (KIP-9): a node is the coordinator of every group it is asked for.
//
//	v1  type of coordinator, error message (KIP-98)
//	v4  any number of keys (KIP-699)
//	v6  share groups (KIP-932): not served
//
// Nothing stops the empty group: the oldest clients commit offsets under it.
func init() { register(10, 0, 6, serveFindCoordinator) }

// Types of coordinators; 1 is that of transactions.
const (
	coordinatorGroup = 0
	coordinatorShare = 2
)

// Kafka's texts for the codes that FindCoordinator answers.
const (
	findOK          = "NONE"
	findUnavailable = "The coordinator is not available."
	findInvalid     = "This broker coordinates groups only: the key type is not known or not served."
)

// serveFindCoordinator answers once the topic of committed offsets is there.
// Coordinators of transactions and share groups are not served: that is
// INVALID_REQUEST, which clients do not repeat.
func serveFindCoordinator(r *request) {
	r.srv.engine.EnsureOffsetsTopic(func(err error) {
		req := r.kreq.(*kmsg.FindCoordinatorRequest)
		resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
		if r.version < 4 {
			c, msg := r.coordinator(req.CoordinatorType, req.CoordinatorKey, err)
			resp.ErrorCode, resp.NodeID, resp.Host, resp.Port = c.ErrorCode, c.NodeID, c.Host, c.Port
			if r.version >= 1 {
				resp.ErrorMessage = &msg
			}
			r.reply(resp)
			return
		}
		for _, key := range req.CoordinatorKeys {
			c, msg := r.coordinator(req.CoordinatorType, key, err)
			// From here on Kafka explains only types that do not exist.
			if c.ErrorCode != kerr.InvalidRequest.Code || req.CoordinatorType == coordinatorShare {
				msg = ""
			}
			c.ErrorMessage = &msg
			resp.Coordinators = append(resp.Coordinators, c)
		}
		r.reply(resp)
	})
}

// coordinator is the coordinator of one key, with the text for its code.
func (r *request) coordinator(kind int8, key string, err error) (kmsg.FindCoordinatorResponseCoordinator, string) {
	c := kmsg.NewFindCoordinatorResponseCoordinator()
	c.Key, c.NodeID, c.Port = key, -1, -1
	switch {
	case kind != coordinatorGroup:
		c.ErrorCode = kerr.InvalidRequest.Code
		return c, findInvalid
	case err != nil:
		c.ErrorCode = kerr.CoordinatorNotAvailable.Code
		return c, findUnavailable
	}
	b := r.srv.endpoint(r.conn)
	c.NodeID, c.Host, c.Port = b.node, b.host, b.port
	return c, findOK
}
