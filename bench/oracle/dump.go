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

// unordered are arrays whose order Kafka leaves open: it iterates a hash map.
var unordered = map[string]bool{"MetadataResponseTopic": true}

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
	if unordered[f.Type().Elem().Name()] {
		sort.SliceStable(elems, func(i, j int) bool { return sortKey(elems[i]) < sortKey(elems[j]) })
	}
	nameElements(elems, d.norm)
	names := make([]string, len(elems))
	for i, e := range elems {
		names[i] = e.name
	}
	d.add(path, "["+strings.Join(names, " ")+"]")
	for _, e := range elems {
		d.strct(path+"["+e.name+"]", e.v, e.key)
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

// sortKey orders the elements of unordered arrays by what does not differ between runs.
func sortKey(e element) string {
	var parts []string
	for _, name := range append([]string{"InstanceID", "ClientID", "ProtocolMetadata", "MemberAssignment"}, keyFields...) {
		f := e.v.FieldByName(name)
		if !f.IsValid() {
			continue
		}
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		if !f.IsValid() {
			parts = append(parts, "")
			continue
		}
		if f.CanInt() {
			parts = append(parts, fmt.Sprintf("%08d", f.Int()))
			continue
		}
		parts = append(parts, fmt.Sprint(f.Interface()))
	}
	return strings.Join(parts, "\x00")
}
