package kafka

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func init() { register(16, 0, 5, serveListGroups) }

// serveListGroups lists groups. Version 4 filters by state (KIP-518), 5 by type
// (KIP-848); all groups here are classic ones.
func serveListGroups(r *request) {
	req := r.kreq.(*kmsg.ListGroupsRequest)
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	for _, g := range r.srv.engine.Groups().List() {
		if !allows(req.StatesFilter, g.State.String()) || !allows(req.TypesFilter, "classic") {
			continue
		}
		x := kmsg.NewListGroupsResponseGroup()
		x.Group, x.ProtocolType, x.GroupState, x.GroupType = g.Group, g.ProtoType, g.State.String(), "classic"
		resp.Groups = append(resp.Groups, x)
	}
	r.reply(resp)
}

// allows tells whether an empty filter or one of its words fits.
func allows(filter []string, value string) bool {
	for _, f := range filter {
		if strings.EqualFold(f, value) {
			return true
		}
	}
	return len(filter) == 0
}
