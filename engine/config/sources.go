package config

import (
	"fmt"
	"strings"

	"github.com/magiconair/properties"
)

// readFile reads a Java .properties file. References like ${x} are not
// expanded: Kafka leaves them to its config providers.
func (b *Broker) readFile(in Input) error {
	if in.File == nil {
		return nil
	}
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	p, err := loader.LoadBytes(in.File)
	if err != nil {
		return fmt.Errorf("settings file %s: %w", in.FileName, err)
	}
	for _, name := range p.Keys() {
		text, _ := p.Get(name)
		b.set(name, text, in.FileName)
	}
	return nil
}

const envPrefix = "SPATE_"

// envNames maps the variable of each setting to its name.
var envNames = func() map[string]string {
	m := make(map[string]string)
	for _, name := range brokerTable.names {
		m[EnvName(name)] = name
	}
	return m
}()

// EnvName is the environment variable of a setting.
func EnvName(name string) string {
	name = strings.TrimPrefix(name, "spate.")
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}

// clientVariables are those of the client commands, which share an environment
// with the broker.
var clientVariables = map[string]bool{"SPATE_BOOTSTRAP": true, "SPATE_PASSWORD": true}

// readEnviron takes the variables of known settings; others that begin with
// SPATE_ may belong to something else and are only named in the warning.
func (b *Broker) readEnviron(environ []string) {
	for _, kv := range environ {
		variable, text, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(variable, envPrefix) {
			continue
		}
		if name, ok := envNames[variable]; ok {
			b.set(name, text, "environment variable "+variable)
		} else if !clientVariables[variable] {
			b.Unknown = append(b.Unknown, variable)
		}
	}
}

func (b *Broker) readSet(set []string) error {
	for _, kv := range set {
		name, text, ok := strings.Cut(kv, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return fmt.Errorf("--set %q: want name=value", kv)
		}
		if BrokerDefinition(name) == nil {
			return fmt.Errorf("--set %q: there is no setting %s%s", kv, name, didYouMean(name))
		}
		b.set(name, text, "--set "+name)
	}
	return nil
}

// didYouMean names the topic setting's broker synonym, the usual mix-up.
func didYouMean(name string) string {
	if d := TopicDefinition(name); d != nil && len(d.Synonyms) > 0 {
		return "; the broker's is " + d.Synonyms[0].Name
	}
	return ""
}
