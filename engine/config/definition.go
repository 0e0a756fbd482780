package config

import "slices"

// Type is the type of a setting's value. The numbers are those of Kafka's
// DescribeConfigs answer (KIP-569), so protocols can pass them on.
type Type int8

const (
	Boolean  Type = 1
	String   Type = 2
	Int      Type = 3
	Short    Type = 4
	Long     Type = 5
	Double   Type = 6
	List     Type = 7
	Class    Type = 8
	Password Type = 9
)

var typeNames = [...]string{Boolean: "BOOLEAN", String: "STRING", Int: "INT", Short: "SHORT",
	Long: "LONG", Double: "DOUBLE", List: "LIST", Class: "CLASS", Password: "PASSWORD"}

func (t Type) String() string {
	if t > 0 && int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "UNKNOWN"
}

// Source says where a value comes from. The numbers are those of Kafka's
// DescribeConfigs answer.
type Source int8

const (
	FromTopic          Source = 1 // the topic's own override
	FromDynamicBroker  Source = 2 // set at run time for this broker
	FromDynamicDefault Source = 3 // set at run time for all brokers
	FromStatic         Source = 4 // settings file, environment or command line
	FromDefault        Source = 5
)

// Effect says what spate does with a setting.
type Effect uint8

const (
	// Used: the setting changes what spate does.
	Used Effect = iota
	// Ignored: the setting is Kafka's, is accepted and described, and changes
	// nothing because spate has no such part.
	Ignored
)

// Definition describes one setting.
type Definition struct {
	Name string
	Type Type
	// Default is the value when nobody set one; not valid with NoDefault.
	Default   string
	NoDefault bool
	// Doc is one or two sentences for people.
	Doc string
	// Dynamic: a broker setting that may change at run time, for one broker or
	// for all. Topic settings always may.
	Dynamic bool
	Effect  Effect
	// Synonyms are, for a topic setting, the broker settings that give its
	// default, strongest first.
	Synonyms []Synonym
	// check is nil when every value of the type will do.
	check check
	// together: a list's elements are judged together, not each by itself.
	together bool
}

// Synonym is a broker setting that gives a topic setting's default. The topic
// setting's value is the broker's multiplied by Scale (hours to milliseconds).
type Synonym struct {
	Name  string
	Scale int64
}

// Sensitive tells whether the value must never be shown.
func (d *Definition) Sensitive() bool { return d.Type == Password }

// Validate checks a value; the error is an *InvalidValue or a *Conflict.
func (d *Definition) Validate(value string) error {
	_, err := d.parse(value)
	return err
}

// table is a set of definitions by name.
type table struct {
	byName map[string]*Definition
	names  []string // sorted
}

func newTable(groups ...[]Definition) *table {
	t := &table{byName: make(map[string]*Definition)}
	for _, g := range groups {
		for i := range g {
			d := &g[i]
			if t.byName[d.Name] != nil {
				panic("BUG: setting " + d.Name + " is defined twice")
			}
			if !d.NoDefault {
				if err := d.Validate(d.Default); err != nil {
					panic("BUG: default of " + err.Error())
				}
			}
			t.byName[d.Name] = d
			t.names = append(t.names, d.Name)
		}
	}
	slices.Sort(t.names)
	return t
}

// ignored marks settings that change nothing, with one text for all of them.
func ignored(doc string, defs ...Definition) []Definition {
	for i := range defs {
		defs[i].Effect, defs[i].Doc = Ignored, doc
	}
	return defs
}

var topicTable = newTable(topicKafka, topicSpate)

// TopicDefinition returns the definition of a topic setting, nil if there is
// none of that name.
func TopicDefinition(name string) *Definition { return topicTable.byName[name] }

var brokerTable = newTable(brokerNode, brokerLog, brokerNetwork, brokerTLS, brokerGroups, brokerSpate,
	ignoredStorage, ignoredCluster, ignoredGroups, ignoredSecurity, ignoredProcess)

// BrokerDefinition returns the definition of a broker setting, nil if there is
// none of that name.
func BrokerDefinition(name string) *Definition { return brokerTable.byName[name] }

// BrokerNames are the names of all broker settings, sorted. Do not change it.
func BrokerNames() []string { return brokerTable.names }

// TopicNames are the names of all topic settings, sorted. Do not change it.
func TopicNames() []string { return topicTable.names }
