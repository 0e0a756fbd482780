package kafka

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteGroups (KIP-229): deletes groups without members, with their offsets.
func init() { register(42, 0, 2, serveDeleteGroups) }

// serveDeleteGroups answers when all deletions are durable. A group named twice is
// answered once.
func serveDeleteGroups(r *request) {
	req := r.kreq.(*kmsg.DeleteGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	seen := make(map[string]bool, len(req.Groups))
	for _, id := range req.Groups {
		if !seen[id] {
			g := kmsg.NewDeleteGroupsResponseGroup()
			g.Group = id
			resp.Groups = append(resp.Groups, g)
		}
		seen[id] = true
	}
	var left atomic.Int32
	left.Store(int32(len(resp.Groups)) + 1)
	done := func() {
		if left.Add(-1) == 0 {
			r.reply(resp)
		}
	}
	for i := range resp.Groups {
		g := &resp.Groups[i]
		r.srv.engine.Groups().Delete(g.Group, func(err error) {
			g.ErrorCode = groupCode(err)
			done()
		})
	}
	done()
}
