package config

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// kafkaRows reads a table of Kafka's own answers.
func kafkaRows(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]string
	for s := bufio.NewScanner(f); s.Scan(); {
		if !strings.HasPrefix(s.Text(), "#") {
			rows = append(rows, strings.Split(s.Text(), "\t"))
		}
	}
	return rows
}

func row(e Entry, def string) []string {
	access, secret := "rw", "-"
	if e.ReadOnly {
		access = "ro"
	}
	if e.Sensitive {
		secret = "sensitive"
	}
	var names []string
	for _, s := range e.Synonyms {
		if s.Source == FromDefault {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	return []string{e.Name, e.Type.String(), def, access, secret, strings.Join(names, ",")}
}

func compare(t *testing.T, kafka [][]string, ours []Entry, allowed map[string]string) {
	t.Helper()
	byName := make(map[string]Entry)
	for _, e := range ours {
		byName[e.Name] = e
		if e.Doc == "" {
			t.Errorf("%s has no documentation", e.Name)
		}
	}
	used := make(map[string]bool)
	for _, want := range kafka {
		e, ok := byName[want[0]]
		delete(byName, want[0])
		def := "<null>"
		if ok && e.Value != nil {
			def = *e.Value
		}
		if got := row(e, def); fmt.Sprint(got) != fmt.Sprint(want) {
			if allowed[want[0]] == "" {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			used[want[0]] = true
		}
	}
	for name := range byName {
		if !strings.HasPrefix(name, "spate.") {
			t.Errorf("Kafka has no setting %s", name)
		}
	}
	for name, reason := range allowed {
		if !used[name] {
			t.Errorf("%s is like Kafka's; the exception %q is out of date", name, reason)
		}
	}
}

func TestTopicSettingsAreKafkas(t *testing.T) {
	compare(t, kafkaRows(t, "testdata/kafka-4.3.1-topic.tsv"), DescribeTopic(nil, Layers{}, nil), nil)
}

func TestBrokerSettingsAreKafkas(t *testing.T) {
	const (
		atStart = "spate reads it at start only and refuses a change that would do nothing"
		pem     = "spate reads PEM only"
	)
	compare(t, kafkaRows(t, "testdata/kafka-4.3.1-broker.tsv"), DescribeBroker(Layers{}, nil), map[string]string{
		"listeners":         "loopback by default, and " + atStart,
		"log.dir":           "spate's own default",
		"node.id":           "has a default, so that an empty file starts",
		"process.roles":     "has a default, so that an empty file starts",
		"ssl.keystore.type": pem, "ssl.truststore.type": pem,

		"cordoned.log.dirs": atStart, "listener.security.protocol.map": atStart, "max.connections": atStart,
		"max.connections.per.ip": atStart, "max.connections.per.ip.overrides": atStart, "num.network.threads": atStart,
		"principal.builder.class": atStart, "producer.id.expiration.ms": atStart, "sasl.enabled.mechanisms": atStart,
		"sasl.jaas.config": atStart, "sasl.kerberos.kinit.cmd": atStart, "sasl.kerberos.min.time.before.relogin": atStart,
		"sasl.kerberos.principal.to.local.rules": atStart, "sasl.kerberos.service.name": atStart,
		"sasl.kerberos.ticket.renew.jitter": atStart, "sasl.kerberos.ticket.renew.window.factor": atStart,
		"sasl.login.refresh.buffer.seconds": atStart, "sasl.login.refresh.min.period.seconds": atStart,
		"sasl.login.refresh.window.factor": atStart, "sasl.login.refresh.window.jitter": atStart,
		"sasl.mechanism.inter.broker.protocol": atStart, "ssl.cipher.suites": atStart, "ssl.client.auth": atStart,
		"ssl.enabled.protocols": atStart, "ssl.endpoint.identification.algorithm": atStart, "ssl.engine.factory.class": atStart,
		"ssl.key.password": atStart, "ssl.keymanager.algorithm": atStart, "ssl.keystore.certificate.chain": atStart,
		"ssl.keystore.key": atStart, "ssl.keystore.location": atStart, "ssl.keystore.password": atStart,
		"ssl.protocol": atStart, "ssl.provider": atStart, "ssl.secure.random.implementation": atStart,
		"ssl.trustmanager.algorithm": atStart, "ssl.truststore.certificates": atStart, "ssl.truststore.location": atStart,
		"ssl.truststore.password": atStart,
	})
}

// TestTopicValuesAreJudgedAsKafkaDoes gives spate what Kafka was given.
func TestTopicValuesAreJudgedAsKafkaDoes(t *testing.T) {
	allowed := map[string]string{
		"min.cleanable.dirty.ratio=NaN": "nothing can be compared with NaN",
	}
	n := 0
	for _, r := range kafkaRows(t, "testdata/kafka-4.3.1-topic-values.txt") {
		setting, want, _ := strings.Cut(r[0], " => ")
		name, text, _ := strings.Cut(setting, "=")
		got := "0 "
		if err := ValidateTopicSet(map[string]string{name: text}, Layers{}); err != nil {
			got = "40 " + err.Error()
		}
		if got != want && allowed[setting] == "" {
			t.Errorf("%q: got %s, want %s", setting, got, want)
		}
		n++
	}
	if n < 80 {
		t.Errorf("only %d values", n)
	}
}
