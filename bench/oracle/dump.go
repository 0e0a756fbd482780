package oracle

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// dumper turns a decoded answer into lines.
type dumper struct {
	norm    *normaliser
	foreign func(name string) bool // names of other scenarios
	lines   []Line
}

func (d *dumper) add(path, val string) { d.lines = append(d.lines, Line{path, val}) }

// keyFields are the fields that name an array's element, in order of preference.
var keyFields = []string{"Topic", "TopicID", "Partition", "Group", "GroupID", "ApiKey", "ResourceName", "Name", "Key", "NodeID"}

// ordered are the arrays whose order says something. All others are sorted: Kafka gives most of them in the
// order of a hash map, so no client can rely on it.
var ordered = map[string]bool{
	"DescribeTopicPartitionsResponseTopic":          true,
	"DescribeTopicPartitionsResponseTopicPartition": true,
}

// skipped fields tell nothing: the version is known, and nobody is throttled.
var skipped = map[string]bool{"Version": true, "ThrottleMillis": true}

// strct adds the fields of a struct but for the one called except: the key by which it is addressed.
func (d *dumper) strct(path string, v reflect.Value, except string) {
	def := reflect.New(v.Type()).Elem()
	setDefault(def)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		f := v.Field(i)
		if skipped[name] || name == except {
			continue
		}
		p := name
		if path != "" {
			p = path + "." + name
		}
		d.field(p, name, f, def.Field(i))
	}
}

func (d *dumper) field(path, name string, f, def reflect.Value) {
	switch tags, isTags := f.Interface().(kmsg.Tags); {
	case isTags:
		tags.Each(func(k uint32, b []byte) { d.add(fmt.Sprintf("%s.%d", path, k), fmt.Sprintf("%x", b)) })
	case f.Kind() == reflect.Struct:
		d.strct(path, f, "")
	case f.Kind() == reflect.Pointer && f.Type().Elem().Kind() == reflect.Struct:
		if !f.IsNil() {
			d.strct(path, f.Elem(), "")
		}
	case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
		d.array(path, f)
	case name == "RecordBatches":
		d.batches(path, f.Bytes(), f.IsNil())
	case name == "ErrorCode" || !reflect.DeepEqual(f.Interface(), def.Interface()):
		d.add(path, d.norm.scalar(name, f))
	}
}

// order lists the names of an array's elements.
func (d *dumper) order(path string, elems []element) {
	names := make([]string, len(elems))
	for i, e := range elems {
		names[i] = e.name
	}
	d.add(path, "["+strings.Join(names, " ")+"]")
}

// element is one element of an array with the name it goes by.
type element struct {
	name string
	key  string // the field that name comes from
	v    reflect.Value
}

func (d *dumper) array(path string, f reflect.Value) {
	if f.IsNil() {
		return
	}
	elems := d.elements(f)
	isOrdered := ordered[f.Type().Elem().Name()]
	if !isOrdered {
		sort.SliceStable(elems, func(i, j int) bool { return d.sortKey(elems[i]) < d.sortKey(elems[j]) })
	}
	nameElements(elems, d.norm)
	if len(elems) == 0 && f.Len() > 0 {
		return // all of it belongs to others
	}
	if isOrdered || len(elems) == 0 {
		d.order(path, elems)
	}
	for _, e := range elems {
		p := path + "[" + e.name + "]"
		before := len(d.lines)
		d.strct(p, e.v, e.key)
		if len(d.lines) == before {
			d.add(p, "{}")
		}
	}
}

// elements leaves out what belongs to other scenarios.
func (d *dumper) elements(f reflect.Value) []element {
	var out []element
	for i := range f.Len() {
		v := f.Index(i)
		if _, key := keyOf(v); key.IsValid() && key.Kind() == reflect.String && d.foreign(key.String()) {
			continue
		}
		if g, ok := v.Interface().(kmsg.ListGroupsResponseGroup); ok && !strings.HasPrefix(g.Group, d.norm.scope.prefix) {
			continue // groups without a name, of scenarios that test that
		}
		out = append(out, element{v: v})
	}
	return out
}

// keyOf finds the field that names an element; invalid if there is none.
func keyOf(v reflect.Value) (string, reflect.Value) {
	for _, name := range keyFields {
		f := v.FieldByName(name)
		if !f.IsValid() || (name == "Topic" || name == "TopicID") && f.IsZero() {
			continue
		}
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				continue
			}
			f = f.Elem()
		}
		return name, f
	}
	return "", reflect.Value{}
}

// nameElements names elements by key, or by number if keys are missing or not unique.
func nameElements(elems []element, n *normaliser) {
	seen := map[string]bool{}
	unique := true
	for i := range elems {
		field, key := keyOf(elems[i].v)
		if !key.IsValid() {
			unique = false
			break
		}
		elems[i].name, elems[i].key = n.scalar("", key), field
		unique = unique && !seen[elems[i].name]
		seen[elems[i].name] = true
	}
	if unique {
		return
	}
	for i := range elems {
		elems[i].name, elems[i].key = fmt.Sprint(i), ""
	}
}

// memberFields tell members of groups apart; their ids differ from run to run.
var memberFields = []string{"InstanceID", "ClientID", "ProtocolMetadata", "MemberAssignment"}

// sortKey orders elements by what does not differ from run to run.
func (d *dumper) sortKey(e element) string {
	if name, key := keyOf(e.v); key.IsValid() {
		return d.sortable(name, key)
	}
	var parts []string
	for _, name := range memberFields {
		if f := e.v.FieldByName(name); f.IsValid() {
			parts = append(parts, d.norm.scalar("", f))
		}
	}
	return strings.Join(parts, "\x00")
}

// sortable is a key in a form that sorts; ids sort in the order in which they were first seen,
// unseen ones stay as they are behind those.
func (d *dumper) sortable(name string, key reflect.Value) string {
	switch {
	case name == "TopicID":
		return d.norm.knownID(key)
	case key.CanInt():
		return fmt.Sprintf("%020d", key.Int())
	}
	return d.norm.own(fmt.Sprint(key.Interface()))
}
