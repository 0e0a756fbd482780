package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func init() { register(22, 0, 5, serveInitProducerID) }

// serveInitProducerID gives an idempotent producer its id. One that comes back
// with an id and an epoch (KIP-360) gets a new id, as from Kafka: its old
// sequence numbers end with the old id.
//
// Transactional producers are refused with the one code that every client takes
// for final. Those that mean "not now" would have them try for ever.
func serveInitProducerID(r *request) {
	req := r.kreq.(*kmsg.InitProducerIDRequest)
	resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	switch {
	case (req.ProducerID < 0) != (req.ProducerEpoch < 0),
		req.TransactionalID != nil && *req.TransactionalID == "":
		resp.ErrorCode = kerr.InvalidRequest.Code
	case req.TransactionalID != nil:
		resp.ErrorCode = kerr.TransactionalIDAuthorizationFailed.Code
	default:
		r.srv.engine.AllocateProducerID(func(id int64, err error) {
			if err != nil {
				// Clients try again after a while.
				resp.ErrorCode = kerr.CoordinatorLoadInProgress.Code
			} else {
				resp.ProducerID, resp.ProducerEpoch = id, 0
			}
			r.reply(resp)
		})
		return
	}
	r.reply(resp)
}
