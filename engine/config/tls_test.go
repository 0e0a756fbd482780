package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func selfSigned(t *testing.T) (key, chain string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	p8, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: p8})),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestTLSListener(t *testing.T) {
	key, chain := selfSigned(t)
	file := filepath.Join(t.TempDir(), "broker.pem")
	if err := os.WriteFile(file, []byte(key+chain), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, settings := range map[string][]string{
		"file":   {"ssl.keystore.location=" + file},
		"inline": {"ssl.keystore.key=" + key, "ssl.keystore.certificate.chain=" + chain},
		"mutual": {"ssl.keystore.location=" + file, "ssl.truststore.location=" + file, "ssl.client.auth=required", "ssl.enabled.protocols=TLSv1.3"},
	} {
		b, err := NewBroker(Input{Set: append(settings, "listeners=PLAINTEXT://:9092,SSL://:9093"), Hostname: "h"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b.Listeners[0].TLS || !b.Listeners[1].TLS {
			t.Errorf("%s: %+v", name, b.Listeners)
		}
		c, err := b.TLS.Config(os.ReadFile)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if mutual := name == "mutual"; mutual != (c.ClientAuth == tls.RequireAndVerifyClientCert && c.ClientCAs != nil && c.MinVersion == tls.VersionTLS13) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestWrongTLSSettings(t *testing.T) {
	for want, settings := range map[string][]string{
		"not both":                       {"ssl.keystore.location=f", "ssl.keystore.key=k"},
		"ssl.truststore.location":        {"ssl.keystore.location=f", "ssl.client.auth=required"},
		"ssl.keystore.location no-such:": {"ssl.keystore.location=no-such"},
	} {
		b, err := NewBroker(Input{Set: append(settings, "listeners=SSL://:9093"), Hostname: "h"})
		if err == nil {
			_, err = b.TLS.Config(func(string) ([]byte, error) { return []byte("nothing"), nil })
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", settings, err)
		}
	}
}
