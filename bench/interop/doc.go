// Package interop runs unmodified clients of others against a spate binary:
// franz-go's own test suites, kcat, and the command-line tools of Apache Kafka.
// Its tests have the build tag interop and are run by "make interop", which also
// installs what they need.
//
// By default the tests start bin/spate (SPATE_BINARY names another) on a free
// port with an empty directory. INTEROP_BOOTSTRAP=HOST:PORT points them at a
// broker that runs already, which may be a real Kafka: every check here holds
// for both.
//
// Downloads (the Kafka tools' jars) are kept in SPATE_CACHE, by default .cache in
// the checkout.
package interop
