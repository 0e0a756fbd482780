package config

import (
	"fmt"
	"strings"
)

// BrokerValue is a broker setting's effective value in the form Kafka
// describes it in, and where it comes from; ok is false if it has none.
func BrokerValue(name string, l Layers) (text string, from Source, ok bool) {
	d := BrokerDefinition(name)
	if d == nil {
		panic("BUG: no broker setting " + name)
	}
	v, from, ok := d.effective(l)
	return v.format(d.Type), from, ok
}

// effective finds the value that counts for a broker setting. A stored value
// that is not valid is passed over.
func (d *Definition) effective(l Layers) (value, Source, bool) {
	for _, layer := range l.all() {
		if text, ok := layer.values[d.Name]; ok {
			if v, err := d.parse(text); err == nil {
				return v, layer.source, true
			}
		}
	}
	if d.NoDefault {
		return value{}, FromDefault, false
	}
	v, err := d.parse(d.Default)
	if err != nil {
		panic("BUG: default of " + err.Error())
	}
	return v, FromDefault, true
}

// DefaultPartitions is num.partitions, the partitions of a topic whose creator
// does not say.
func DefaultPartitions(l Layers) int32 {
	v, _, _ := BrokerDefinition("num.partitions").effective(l)
	return int32(v.num)
}

// DeleteTopicEnabled is delete.topic.enable.
func DeleteTopicEnabled(l Layers) bool {
	v, _, _ := BrokerDefinition("delete.topic.enable").effective(l)
	return v.flag
}

// ValidateDynamic checks a change of a broker's settings at run time: set are
// the changed settings (nil: back to the layer below), after is what the
// layer becomes. Names that are not spate's are stored as they are, as Kafka
// does for its plug-ins.
func ValidateDynamic(set map[string]*string, after map[string]string) error {
	var fixed []string
	for _, name := range sortedKeys(set) {
		d := BrokerDefinition(name)
		switch {
		case d != nil && !d.Dynamic:
			fixed = append(fixed, name)
		case d == nil && strings.HasPrefix(name, "spate."):
			return &Conflict{fmt.Sprintf("Unknown configuration %s.", name)}
		}
	}
	if len(fixed) > 0 {
		return &Conflict{"Cannot update these configs dynamically: [" + strings.Join(fixed, ", ") + "]"}
	}
	for _, name := range sortedKeys(after) {
		if d := BrokerDefinition(name); d != nil {
			if err := d.Validate(after[name]); err != nil {
				return err
			}
		}
	}
	return nil
}
