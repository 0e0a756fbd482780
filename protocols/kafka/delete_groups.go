package kafka

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func init() { register(42, 0, 2, serveDeleteGroups) }

// serveDeleteGroups deletes empty groups with their offsets (KIP-229).
func serveDeleteGroups(r *request) {
	req := r.kreq.(*kmsg.DeleteGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	resp.Groups = make([]kmsg.DeleteGroupsResponseGroup, len(req.Groups))
	var left atomic.Int32
	left.Store(int32(len(req.Groups)) + 1)
	done := func() {
		if left.Add(-1) == 0 {
			r.reply(resp)
		}
	}
	for i, id := range req.Groups {
		resp.Groups[i] = kmsg.NewDeleteGroupsResponseGroup()
		resp.Groups[i].Group = id
		r.srv.engine.Groups().Delete(id, func(err error) {
			resp.Groups[i].ErrorCode = groupCode(err)
			done()
		})
	}
	done()
}
