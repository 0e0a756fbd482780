package config

import "slices"

// Entry is one setting as DescribeConfigs tells it.
type Entry struct {
	Name     string
	Value    *string // nil: none, or sensitive
	Source   Source
	Type     Type // 0 for names that are not spate's
	ReadOnly bool
	// Sensitive values are never told.
	Sensitive bool
	Doc       string
	// Synonyms is every place the value could come from, the strongest first.
	Synonyms []EntrySynonym
}

// EntrySynonym is one place a value could come from.
type EntrySynonym struct {
	Name   string
	Value  *string
	Source Source
}

// DescribeTopic tells a topic's effective settings, sorted by name; all of
// them, or those in names.
func DescribeTopic(overrides map[string]string, l Layers, names []string) []Entry {
	entries := make([]Entry, 0, len(topicTable.names))
	for _, name := range wanted(names, topicTable.names) {
		if d := TopicDefinition(name); d != nil {
			entries = append(entries, describeTopicEntry(d, overrides, l))
		}
	}
	return entries
}

func describeTopicEntry(d *Definition, overrides map[string]string, l Layers) Entry {
	v, from := effectiveTopic(d, overrides, l)
	text := v.format(d.Type)
	e := Entry{Name: d.Name, Value: &text, Source: from, Type: d.Type, Doc: d.Doc}
	if own, ok := overrides[d.Name]; ok {
		e.Synonyms = append(e.Synonyms, d.synonym(d.Name, own, FromTopic))
	}
	if len(d.Synonyms) == 0 {
		return e
	}
	names := make([]string, len(d.Synonyms))
	for i, s := range d.Synonyms {
		names[i] = s.Name
	}
	all := places(names, l)
	if known := fromName(all, names[0]); len(known) > 0 {
		all = known
	} else if from == FromDefault || from == FromTopic {
		all = nil
	}
	e.Synonyms = append(e.Synonyms, all...)
	return e
}

// places lists where the settings of those names are set: by layer, strongest
// first, in each layer the finest unit first, as Kafka does.
func places(names []string, l Layers) []EntrySynonym {
	var found []EntrySynonym
	for _, layer := range l.all() {
		for _, name := range names {
			if text, ok := layer.values[name]; ok {
				found = append(found, BrokerDefinition(name).synonym(name, text, layer.source))
			}
		}
	}
	for _, name := range names {
		if d := BrokerDefinition(name); !d.NoDefault {
			found = append(found, d.synonym(name, d.Default, FromDefault))
		}
	}
	return found
}

// fromName drops what stands before the first place of that name.
func fromName(all []EntrySynonym, name string) []EntrySynonym {
	i := slices.IndexFunc(all, func(s EntrySynonym) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return all[i:]
}

// siblings are the broker settings that mean the same in other units.
var siblings = func() map[string][]string {
	m := make(map[string][]string)
	for _, d := range topicTable.byName {
		if len(d.Synonyms) < 2 {
			continue
		}
		var names []string
		for _, s := range d.Synonyms {
			names = append(names, s.Name)
		}
		for _, n := range names {
			m[n] = names
		}
	}
	delete(m, "log.flush.scheduler.interval.ms") // not a unit of its own
	return m
}()

func (d *Definition) places(l Layers) []EntrySynonym {
	names, ok := siblings[d.Name]
	if !ok {
		names = []string{d.Name}
	}
	return fromName(places(names, l), d.Name)
}

func (d *Definition) synonym(name, text string, from Source) EntrySynonym {
	s := EntrySynonym{Name: name, Source: from}
	if !d.Sensitive() {
		if v, err := d.parse(text); err == nil {
			text = v.format(d.Type)
		}
		s.Value = &text
	}
	return s
}

// DescribeBroker tells a broker's effective settings, sorted by name; all of
// them, or those in names. Settings that are set but not known are told
// without their values, since they may be secrets.
func DescribeBroker(l Layers, names []string) []Entry {
	all := brokerTable.names
	for _, layer := range l.all() {
		for _, name := range sortedKeys(layer.values) {
			if BrokerDefinition(name) == nil {
				all = append(all[:len(all):len(all)], name)
			}
		}
	}
	entries := make([]Entry, 0, len(all))
	seen := make(map[string]bool, len(all))
	for _, name := range wanted(names, all) {
		if e, ok := describeBrokerEntry(name, l); ok && !seen[name] {
			seen[name] = true
			entries = append(entries, e)
		}
	}
	return entries
}

// DescribeBrokerDefaults tells the settings made at run time for all brokers.
func DescribeBrokerDefaults(l Layers, names []string) []Entry {
	only := Layers{Cluster: l.Cluster}
	var entries []Entry
	for _, name := range wanted(names, sortedKeys(l.Cluster)) {
		if _, ok := l.Cluster[name]; !ok {
			continue
		}
		e, _ := describeBrokerEntry(name, only)
		e.Synonyms = e.Synonyms[:1] // without those below
		entries = append(entries, e)
	}
	return entries
}

func describeBrokerEntry(name string, l Layers) (Entry, bool) {
	d := BrokerDefinition(name)
	if d == nil {
		return describeUnknown(name, l)
	}
	v, from, ok := d.effective(l)
	e := Entry{Name: name, Source: from, Type: d.Type, ReadOnly: !d.Dynamic, Sensitive: d.Sensitive(),
		Doc: d.Doc, Synonyms: d.places(l)}
	if ok && !e.Sensitive {
		text := v.format(d.Type)
		e.Value = &text
	}
	return e, true
}

func describeUnknown(name string, l Layers) (Entry, bool) {
	e := Entry{Name: name, ReadOnly: true, Sensitive: true}
	for _, layer := range l.all() {
		if _, ok := layer.values[name]; ok {
			e.Synonyms = append(e.Synonyms, EntrySynonym{Name: name, Source: layer.source})
		}
	}
	if len(e.Synonyms) == 0 {
		return e, false
	}
	e.Source = e.Synonyms[0].Source
	return e, true
}

// wanted is names, or all if there are none.
func wanted(names, all []string) []string {
	if len(names) == 0 {
		return all
	}
	return names
}
