package kafka

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/config"
)

func init() { register(44, 0, 1, serveAdmin(answerIncrementalAlterConfigs)) }

// answerIncrementalAlterConfigs changes the overrides that the request names
// and leaves the others (KIP-339).
func answerIncrementalAlterConfigs(a admin, req *kmsg.IncrementalAlterConfigsRequest, reply func(response)) {
	all := make([]alteration, len(req.Resources))
	for i, r := range req.Resources {
		all[i] = alteration{kind: r.ResourceType, name: r.ResourceName}
		for _, c := range r.Configs {
			all[i].changes = append(all[i].changes, configChange{c.Name, c.Op, c.Value})
		}
		if r.ResourceType == kmsg.ConfigResourceTypeBrokerLogger && len(r.Configs) > 0 {
			all[i].err = &catalog.Error{Kind: catalog.InvalidConfig, Message: "Logger " + r.Configs[0].Name + " does not exist!"}
		}
	}
	runAlterations(a, all, req.ValidateOnly, resolveChanges, func() {
		resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
		resp.Resources = make([]kmsg.IncrementalAlterConfigsResponseResource, len(all))
		for i := range all {
			r := &resp.Resources[i]
			*r = kmsg.NewIncrementalAlterConfigsResponseResource()
			r.ResourceType, r.ResourceName = all[i].kind, all[i].name
			r.ErrorCode, r.ErrorMessage = adminError(all[i].err)
		}
		reply(resp)
	})
}

func resolveChanges(c *catalog.Catalog, x *alteration) error {
	x.set = make(map[string]*string, len(x.changes))
	for _, ch := range x.changes {
		switch ch.op {
		case kmsg.IncrementalAlterConfigOpSet:
			x.set[ch.name] = ch.value
		case kmsg.IncrementalAlterConfigOpDelete:
			x.set[ch.name] = nil
		case kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract:
			text, err := changeList(c, x, ch)
			if err != nil {
				return err
			}
			x.set[ch.name] = &text
		default:
			return invalid("Unknown config operation type " + strconv.Itoa(int(ch.op)))
		}
	}
	return nil
}

// changeList adds to or takes from the list that a setting is now.
func changeList(c *catalog.Catalog, x *alteration, ch configChange) (string, error) {
	list, ok := currentList(c, x, ch.name)
	if !ok {
		op := "APPEND"
		if ch.op == kmsg.IncrementalAlterConfigOpSubtract {
			op = "SUBTRACT"
		}
		return "", &catalog.Error{Kind: catalog.InvalidConfig, Message: "Can't " + op + " to key " + ch.name + " because its type is not LIST."}
	}
	for _, w := range config.SplitList(*ch.value) {
		i := slices.Index(list, w)
		switch {
		case ch.op == kmsg.IncrementalAlterConfigOpAppend && i < 0:
			list = append(list, w)
		case ch.op == kmsg.IncrementalAlterConfigOpSubtract && i >= 0:
			list = slices.Delete(list, i, i+1)
		}
	}
	return strings.Join(list, ","), nil
}

// currentList is a list setting's effective value; false if it is no list.
func currentList(c *catalog.Catalog, x *alteration, name string) ([]string, bool) {
	var entries []config.Entry
	if x.kind == kmsg.ConfigResourceTypeTopic {
		entries = config.DescribeTopic(overridesOf(c, x), c.Layers(), []string{name})
	} else if config.BrokerDefinition(name) != nil {
		layers := c.Layers()
		if x.name == "" {
			layers.Broker = nil
		}
		entries = config.DescribeBroker(layers, []string{name})
	}
	if len(entries) == 0 || entries[0].Type != config.List {
		return nil, false
	}
	if entries[0].Value == nil {
		return nil, true
	}
	return config.SplitList(*entries[0].Value), true
}
