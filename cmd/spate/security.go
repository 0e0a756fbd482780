package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// security is how a client command proves who it is and whom it trusts.
type security struct {
	tls       bool
	caFile    string
	certFile  string
	keyFile   string
	mechanism string
	user      string
}

func (s *security) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&s.tls, "tls", false, "connect with TLS")
	f.StringVar(&s.caFile, "tls-ca", "", "trust the certificate authorities in this PEM `FILE` instead of the system's")
	f.StringVar(&s.certFile, "tls-cert", "", "client certificate, PEM `FILE`")
	f.StringVar(&s.keyFile, "tls-key", "", "private key of --tls-cert, PEM `FILE`")
	f.StringVar(&s.mechanism, "sasl", "", "log in with this `MECHANISM`: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
	f.StringVar(&s.user, "user", "", "user for --sasl; the password is read from the environment variable SPATE_PASSWORD")
}

func (s *security) options() ([]kgo.Opt, error) {
	var opts []kgo.Opt
	if s.tls || s.caFile != "" || s.certFile != "" {
		cfg, err := s.tlsConfig()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(cfg))
	}
	if s.mechanism != "" {
		m, err := s.saslMechanism()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	return opts, nil
}

func (s *security) tlsConfig() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.caFile != "" {
		pem, err := os.ReadFile(s.caFile)
		if err != nil {
			return nil, usageError("--tls-ca: %v", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usageError("--tls-ca %s: no PEM certificate in this file", quote(s.caFile))
		}
	}
	if s.certFile != "" || s.keyFile != "" {
		cert, err := tls.LoadX509KeyPair(s.certFile, s.keyFile)
		if err != nil {
			return nil, usageError("--tls-cert %s, --tls-key %s: %v", quote(s.certFile), quote(s.keyFile), err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	return cfg, nil
}

func (s *security) saslMechanism() (sasl.Mechanism, error) {
	password, ok := os.LookupEnv("SPATE_PASSWORD")
	if s.user == "" || !ok {
		return nil, usageError("--sasl needs --user and the password in the environment variable SPATE_PASSWORD")
	}
	switch strings.ToUpper(s.mechanism) {
	case "PLAIN":
		return plain.Auth{User: s.user, Pass: password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: s.user, Pass: password}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: s.user, Pass: password}.AsSha512Mechanism(), nil
	}
	return nil, usageError("--sasl %s: expected PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", quote(s.mechanism))
}
