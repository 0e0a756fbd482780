package config

import (
	"fmt"
	"slices"
	"strings"
)

// Input are the places broker settings come from, weakest first.
type Input struct {
	// File is the content of a .properties file, FileName its name for messages.
	File     []byte
	FileName string
	// Environ is as os.Environ gives it; names that begin with SPATE_ count:
	// SPATE_LOG_RETENTION_MS is log.retention.ms, SPATE_IO_BACKEND is
	// spate.io.backend.
	Environ []string
	// Set are settings of the command line, "name=value".
	Set []string
	// Hostname is told to clients where a listener names no host.
	Hostname string
}

// Broker are the static settings of one broker, validated.
type Broker struct {
	static map[string]string
	origin map[string]string

	// Ignored and Unknown are settings that were given and change nothing:
	// Kafka's that spate has no part for, and names nobody knows. Sorted.
	Ignored []string
	Unknown []string

	NodeID int32
	// Listeners are the addresses to listen on, without controllers'.
	Listeners []Listener
	// Advertised are the addresses to tell clients, one for each of Listeners
	// in their order.
	Advertised []Listener
	// DataDirs are the directories of the data, at least one.
	DataDirs []string
	// TLS is nil if no listener uses it.
	TLS *TLS
}

// NewBroker merges the inputs and validates them. An error names the setting,
// where it was set, its value and what would be right.
func NewBroker(in Input) (*Broker, error) {
	b := &Broker{static: make(map[string]string), origin: make(map[string]string)}
	if err := b.readFile(in); err != nil {
		return nil, err
	}
	b.readEnviron(in.Environ)
	if err := b.readSet(in.Set); err != nil {
		return nil, err
	}
	if err := b.validate(); err != nil {
		return nil, err
	}
	return b, b.resolve(in.Hostname)
}

func (b *Broker) set(name, value, origin string) {
	b.static[name], b.origin[name] = value, origin
}

func (b *Broker) validate() error {
	for _, name := range sortedKeys(b.static) {
		d := BrokerDefinition(name)
		switch {
		case d == nil && strings.HasPrefix(name, "spate."):
			return fmt.Errorf("%s: there is no setting %s", b.origin[name], name)
		case d == nil:
			b.Unknown = append(b.Unknown, name)
			continue
		case d.Effect == Ignored:
			b.Ignored = append(b.Ignored, name)
		}
		if err := d.Validate(b.static[name]); err != nil {
			return fmt.Errorf("%s: %w", b.origin[name], err)
		}
	}
	return nil
}

func (b *Broker) resolve(hostname string) (err error) {
	if b.NodeID, err = b.nodeID(); err != nil {
		return err
	}
	if b.Listeners, b.Advertised, err = b.resolveListeners(hostname); err != nil {
		return err
	}
	b.DataDirs = b.List("log.dirs")
	if len(b.DataDirs) == 0 {
		b.DataDirs = b.List("log.dir")
	}
	if len(b.DataDirs) == 0 {
		return b.wrong("log.dirs", "want at least one directory")
	}
	if lo, hi := b.Int("group.min.session.timeout.ms"), b.Int("group.max.session.timeout.ms"); lo > hi {
		return b.wrong("group.min.session.timeout.ms", fmt.Sprintf("want at most group.max.session.timeout.ms, which is %d", hi))
	}
	if slices.ContainsFunc(b.Listeners, func(l Listener) bool { return l.TLS }) {
		b.TLS, err = b.resolveTLS()
	}
	return err
}

// nodeID takes node.id or its older name.
func (b *Broker) nodeID() (int32, error) {
	old := b.Int("broker.id")
	if _, set := b.static["node.id"]; !set && old >= 0 {
		return int32(old), nil
	}
	id := b.Int("node.id")
	if old >= 0 && old != id {
		return 0, b.wrong("broker.id", fmt.Sprintf("want the same as node.id, which is %d, or leave it out", id))
	}
	return int32(id), nil
}

// wrong is the error for a value that its own definition allows.
func (b *Broker) wrong(name, reason string) error {
	d := BrokerDefinition(name)
	text, set := b.static[name]
	err := d.invalid(text, reason)
	if !set {
		return err
	}
	return fmt.Errorf("%s: %w", b.origin[name], err)
}

// Static are all settings that were given, by name. Do not change it.
func (b *Broker) Static() map[string]string { return b.static }

// Warning is one line about settings that change nothing, "" if there are none.
func (b *Broker) Warning() string {
	var parts []string
	if len(b.Ignored) > 0 {
		parts = append(parts, "without effect in spate: "+strings.Join(b.Ignored, ", "))
	}
	if len(b.Unknown) > 0 {
		parts = append(parts, "unknown: "+strings.Join(b.Unknown, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return "settings " + strings.Join(parts, "; ")
}

// Int returns a numeric setting; Bool, Float, String and List those of other
// types. A setting without value is zero.
func (b *Broker) Int(name string) int64 { return b.value(name).num }

func (b *Broker) Bool(name string) bool     { return b.value(name).flag }
func (b *Broker) Float(name string) float64 { return b.value(name).real }
func (b *Broker) String(name string) string { return b.value(name).raw }
func (b *Broker) List(name string) []string { return b.value(name).list }

func (b *Broker) value(name string) value {
	d := BrokerDefinition(name)
	if d == nil {
		panic("BUG: no broker setting " + name)
	}
	v, _, _ := d.effective(Layers{Static: b.static})
	return v
}
