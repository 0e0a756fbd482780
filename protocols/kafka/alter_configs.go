package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

func init() { register(33, 0, 2, serveAdmin(answerAlterConfigs)) }

// answerAlterConfigs replaces all of a resource's overrides: what the request
// does not name goes back to the layers below.
func answerAlterConfigs(a admin, req *kmsg.AlterConfigsRequest, reply func(response)) {
	all := make([]alteration, len(req.Resources))
	for i, r := range req.Resources {
		all[i] = alteration{kind: r.ResourceType, name: r.ResourceName}
		for _, c := range r.Configs {
			all[i].changes = append(all[i].changes, configChange{c.Name, kmsg.IncrementalAlterConfigOpSet, c.Value})
		}
	}
	runAlterations(a, all, req.ValidateOnly, replaceOverrides, func() {
		resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
		resp.Resources = make([]kmsg.AlterConfigsResponseResource, len(all))
		for i := range all {
			r := &resp.Resources[i]
			*r = kmsg.NewAlterConfigsResponseResource()
			r.ResourceType, r.ResourceName = all[i].kind, all[i].name
			r.ErrorCode, r.ErrorMessage = adminError(all[i].err)
		}
		reply(resp)
	})
}

func replaceOverrides(c *catalog.Catalog, x *alteration) error {
	x.set = make(map[string]*string)
	for name := range overridesOf(c, x) {
		x.set[name] = nil
	}
	for _, ch := range x.changes {
		x.set[ch.name] = ch.value
	}
	return nil
}
