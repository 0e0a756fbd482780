package kafka

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
)

// alteration is one resource of AlterConfigs or IncrementalAlterConfigs.
type alteration struct {
	kind kmsg.ConfigResourceType
	name string
	err  error
	// changes are what the request says; set is what that means for the
	// resource's overrides as they are.
	changes []configChange
	set     map[string]*string
}

// configChange is one setting of an alteration.
type configChange struct {
	name  string
	op    kmsg.IncrementalAlterConfigOp
	value *string
}

func (x *alteration) resource() catalog.Resource {
	return catalog.Resource{Type: catalog.ResourceType(x.kind), Name: x.name}
}

// runAlterations validates and applies alterations, each by itself. resolve
// fills in set.
func runAlterations(a admin, all []alteration, validateOnly bool, resolve func(*catalog.Catalog, *alteration) error, done func()) {
	refuseRepeated(all)
	g := newGather(done)
	for i := range all {
		x := &all[i]
		if x.err == nil {
			x.err = planAlteration(a.Catalog(), x, resolve)
		}
		if x.err != nil || validateOnly || len(x.set) == 0 {
			continue
		}
		g.begin()
		a.AlterConfigs(x.resource(), x.set, func(err error) {
			x.err = err
			g.end()
		})
	}
	g.end()
}

// refuseRepeated refuses resources that a request names twice.
func refuseRepeated(all []alteration) {
	type key struct {
		kind kmsg.ConfigResourceType
		name string
	}
	count := make(map[key]int, len(all))
	for i := range all {
		count[key{all[i].kind, all[i].name}]++
	}
	for i := range all {
		if count[key{all[i].kind, all[i].name}] > 1 {
			all[i].err = invalid("Each resource must appear at most once.")
		}
	}
}

func planAlteration(c *catalog.Catalog, x *alteration, resolve func(*catalog.Catalog, *alteration) error) error {
	if err := checkChanges(x.changes); err != nil {
		return err
	}
	switch x.kind {
	case kmsg.ConfigResourceTypeTopic:
	case kmsg.ConfigResourceTypeBroker:
		if err := wantThisNode(c, x.name); err != nil {
			return err
		}
	default:
		return invalid("Unknown resource type " + strconv.Itoa(int(x.kind)))
	}
	// An unknown topic is told before anything about its settings.
	if _, err := c.PlanAlterConfigs(x.resource(), nil); err != nil && x.kind == kmsg.ConfigResourceTypeTopic {
		return err
	}
	if err := resolve(c, x); err != nil {
		return err
	}
	_, err := c.PlanAlterConfigs(x.resource(), x.set)
	return err
}

func wantThisNode(c *catalog.Catalog, name string) error {
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case name == "":
		return nil
	case err != nil:
		return invalid("Node id must be an integer, but it is: " + name)
	case int32(id) != c.NodeID():
		return invalid("Unexpected broker id, expected " + strconv.Itoa(int(c.NodeID())) + ", but received " + name)
	}
	return nil
}

// checkChanges refuses what is wrong whatever the resource.
func checkChanges(changes []configChange) error {
	var nulls []string
	seen := make(map[string]bool, len(changes))
	twice := false
	for _, c := range changes {
		twice = twice || seen[c.name]
		seen[c.name] = true
		if c.value == nil && c.op != kmsg.IncrementalAlterConfigOpDelete {
			nulls = append(nulls, c.name)
		}
	}
	switch {
	case twice:
		return invalid("Error due to duplicate config keys")
	case len(nulls) > 0:
		return invalid("Null value not supported for : " + strings.Join(nulls, ","))
	}
	return nil
}

// overridesOf are a resource's settings made at run time, as they are.
func overridesOf(c *catalog.Catalog, x *alteration) map[string]string {
	if x.kind == kmsg.ConfigResourceTypeTopic {
		if t := c.Topic(x.name); t != nil {
			return t.Config
		}
		return nil
	}
	if x.name == "" {
		return c.BrokerConfig("")
	}
	return c.BrokerConfig(strconv.Itoa(int(c.NodeID())))
}
