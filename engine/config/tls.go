package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
)

// TLS are the settings of TLS listeners. Files are named, not read.
type TLS struct {
	KeystoreFile   string // PEM file with key and chain, or
	Key            string // PEM
	Chain          string // PEM
	TruststoreFile string // PEM file, or
	Truststore     string // PEM; both empty: no authorities
	ClientAuth     tls.ClientAuthType
	MinVersion     uint16
	MaxVersion     uint16
}

func (b *Broker) resolveTLS() (*TLS, error) {
	t := &TLS{
		KeystoreFile: b.String("ssl.keystore.location"), Key: b.String("ssl.keystore.key"),
		Chain:          b.String("ssl.keystore.certificate.chain"),
		TruststoreFile: b.String("ssl.truststore.location"), Truststore: b.String("ssl.truststore.certificates"),
	}
	switch {
	case t.KeystoreFile != "" && t.Key+t.Chain != "":
		return nil, b.wrong("ssl.keystore.location", "want either a file or ssl.keystore.key and ssl.keystore.certificate.chain, not both")
	case t.KeystoreFile == "" && (t.Key == "" || t.Chain == ""):
		return nil, b.wrong("ssl.keystore.location", "a listener uses SSL: want a PEM file with private key and certificate chain")
	case t.TruststoreFile != "" && t.Truststore != "":
		return nil, b.wrong("ssl.truststore.location", "want either a file or ssl.truststore.certificates, not both")
	}
	switch b.String("ssl.client.auth") {
	case "required":
		t.ClientAuth = tls.RequireAndVerifyClientCert
	case "requested":
		t.ClientAuth = tls.VerifyClientCertIfGiven
	}
	if t.ClientAuth != tls.NoClientCert && t.TruststoreFile+t.Truststore == "" {
		return nil, b.wrong("ssl.client.auth", "want ssl.truststore.location or ssl.truststore.certificates to check client certificates against")
	}
	t.MinVersion, t.MaxVersion = tls.VersionTLS13, tls.VersionTLS12
	for _, v := range b.List("ssl.enabled.protocols") {
		number := map[string]uint16{"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}[v]
		t.MinVersion, t.MaxVersion = min(t.MinVersion, number), max(t.MaxVersion, number)
	}
	return t, nil
}

// Config reads the files by way of read (os.ReadFile) and makes the
// configuration of a TLS server.
func (t *TLS) Config(read func(name string) ([]byte, error)) (*tls.Config, error) {
	key, chain := []byte(t.Key), []byte(t.Chain)
	if t.KeystoreFile != "" {
		pem, err := read(t.KeystoreFile)
		if err != nil {
			return nil, fmt.Errorf("ssl.keystore.location: %w", err)
		}
		key, chain = pem, pem
	}
	certificate, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("%s: want a private key (not encrypted) and its certificate chain in PEM: %w", t.keystoreSetting(), err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: t.ClientAuth,
		MinVersion: t.MinVersion, MaxVersion: t.MaxVersion}
	if t.ClientAuth == tls.NoClientCert {
		return c, nil
	}
	c.ClientCAs, err = t.authorities(read)
	return c, err
}

func (t *TLS) keystoreSetting() string {
	if t.KeystoreFile != "" {
		return "ssl.keystore.location " + t.KeystoreFile
	}
	return "ssl.keystore.key and ssl.keystore.certificate.chain"
}

func (t *TLS) authorities(read func(string) ([]byte, error)) (*x509.CertPool, error) {
	pem, setting := []byte(t.Truststore), "ssl.truststore.certificates"
	if t.TruststoreFile != "" {
		setting = "ssl.truststore.location " + t.TruststoreFile
		var err error
		if pem, err = read(t.TruststoreFile); err != nil {
			return nil, fmt.Errorf("ssl.truststore.location: %w", err)
		}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(strings.TrimSpace(string(pem)))) {
		return nil, fmt.Errorf("%s: want certificates in PEM, found none", setting)
	}
	return pool, nil
}
