package config

// brokerTLS are the settings of listeners with security protocol SSL.
var brokerTLS = []Definition{
	{Name: "ssl.keystore.type", Type: String, Default: "PEM", check: pemOnly,
		Doc: "Format of the key and certificate files. Only PEM is served."},
	{Name: "ssl.keystore.location", Type: String, NoDefault: true,
		Doc: "PEM file with the private key and the certificate chain."},
	{Name: "ssl.keystore.key", Type: Password, NoDefault: true,
		Doc: "Private key in PEM, instead of a file."},
	{Name: "ssl.keystore.certificate.chain", Type: Password, NoDefault: true,
		Doc: "Certificate chain in PEM, instead of a file."},
	{Name: "ssl.truststore.type", Type: String, Default: "PEM", check: pemOnly,
		Doc: "Format of the file of certificate authorities. Only PEM is served."},
	{Name: "ssl.truststore.location", Type: String, NoDefault: true,
		Doc: "PEM file with the authorities that client certificates are checked against."},
	{Name: "ssl.truststore.certificates", Type: Password, NoDefault: true,
		Doc: "Authorities in PEM, instead of a file."},
	{Name: "ssl.client.auth", Type: String, Default: "none", check: oneOf("required", "requested", "none"),
		Doc: "Whether clients need a certificate: required, requested (checked if there is one) or none."},
	{Name: "ssl.enabled.protocols", Type: List, Default: "TLSv1.2,TLSv1.3", check: tlsVersions,
		Doc: "TLS versions that clients may use."},
}
