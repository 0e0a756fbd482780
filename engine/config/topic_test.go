package config

import (
	"reflect"
	"testing"
)

func TestTopicLayers(t *testing.T) {
	l := Layers{
		Static:  map[string]string{"log.retention.hours": "5", "message.max.bytes": "2000", "spate.durability": "write", "log.roll.ms": "x"},
		Cluster: map[string]string{"message.max.bytes": "3000"},
		Broker:  map[string]string{"log.cleanup.policy": "compact, delete"},
	}
	s := NewTopic(map[string]string{"min.insync.replicas": "2"}, l)
	want := *NewTopic(nil, Layers{})
	want.RetentionMs, want.MaxMessageBytes, want.Durability = 5*hourMs, 3000, Write
	want.CleanupCompact, want.MinInsyncReplicas = true, 2
	if *s != want {
		t.Errorf("got  %+v\nwant %+v", *s, want)
	}
	l.Cluster["log.retention.ms"] = "-1"
	if got := NewTopic(nil, l).RetentionMs; got != -1 {
		t.Errorf("retention.ms %d, want the finer unit to win", got)
	}
	if NewTopic(map[string]string{"cleanup.policy": ""}, l).CleanupDelete {
		t.Error("an empty cleanup.policy deletes")
	}
}

// TestDescribedSources follows a value through the layers as Kafka 4.3 does.
func TestDescribedSources(t *testing.T) {
	l := Layers{Static: map[string]string{"log.retention.hours": "5", "message.max.bytes": "2000000", "ssl.keystore.key": "k", "foo": "x"}}
	check := func(e Entry, value string, from Source, synonyms ...EntrySynonym) {
		t.Helper()
		if e.Value == nil || *e.Value != value || e.Source != from || !reflect.DeepEqual(e.Synonyms, synonyms) {
			t.Errorf("%s: %v from %d, synonyms %+v", e.Name, e.Value, e.Source, e.Synonyms)
		}
	}
	syn := func(name, value string, from Source) EntrySynonym { return EntrySynonym{name, &value, from} }
	topic := func(overrides map[string]string, name string) Entry {
		return DescribeTopic(overrides, l, []string{name})[0]
	}

	check(topic(nil, "segment.ms"), "604800000", FromDefault)
	check(topic(nil, "retention.ms"), "18000000", FromStatic,
		syn("log.retention.hours", "5", FromStatic), syn("log.retention.hours", "168", FromDefault))
	l.Cluster = map[string]string{"log.retention.ms": "77777", "log.cleaner.threads": " 2 "}
	check(topic(nil, "retention.ms"), "77777", FromDynamicDefault, syn("log.retention.ms", "77777", FromDynamicDefault),
		syn("log.retention.hours", "5", FromStatic), syn("log.retention.hours", "168", FromDefault))
	l.Broker = map[string]string{"message.max.bytes": "3000000"}
	check(topic(map[string]string{"max.message.bytes": " 4000000 "}, "max.message.bytes"), "4000000", FromTopic,
		syn("max.message.bytes", "4000000", FromTopic), syn("message.max.bytes", "3000000", FromDynamicBroker),
		syn("message.max.bytes", "2000000", FromStatic), syn("message.max.bytes", "1048588", FromDefault))
	check(topic(map[string]string{"segment.ms": "5"}, "segment.ms"), "5", FromTopic, syn("segment.ms", "5", FromTopic))

	check(DescribeBroker(l, []string{"log.cleaner.threads"})[0], "2", FromDynamicDefault,
		syn("log.cleaner.threads", "2", FromDynamicDefault), syn("log.cleaner.threads", "1", FromDefault))
	if e := DescribeBroker(l, []string{"ssl.keystore.key"})[0]; e.Value != nil || !e.Sensitive || e.Synonyms[0].Value != nil {
		t.Errorf("a secret is told: %+v", e)
	}
	if e := DescribeBroker(l, []string{"foo"})[0]; e.Value != nil || !e.Sensitive || e.Source != FromStatic || e.Type != 0 {
		t.Errorf("an unknown setting is told: %+v", e)
	}
	if got := DescribeBroker(l, []string{"nosuch"}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	defaults := DescribeBrokerDefaults(l, nil)
	if len(defaults) != 2 || defaults[1].Name != "log.retention.ms" || len(defaults[1].Synonyms) != 1 {
		t.Errorf("%+v", defaults)
	}
}

func TestDynamicBrokerSettings(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"log.retention.ms": {"-1", ""},
		"num.io.threads":   {"0", "Invalid value 0 for configuration num.io.threads: Value must be at least 1"},
		"num.partitions":   {"3", "Cannot update these configs dynamically: [num.partitions]"},
		"plugin.setting":   {"x", ""},
		"spate.nonsense":   {"x", "Unknown configuration spate.nonsense."},
		"compression.type": {"foo", "Invalid value foo for configuration compression.type: String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"},
	} {
		got := ""
		if err := ValidateDynamic(map[string]*string{name: &c.text}, map[string]string{name: c.text}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s=%s: got %q, want %q", name, c.text, got, c.want)
		}
	}
}
