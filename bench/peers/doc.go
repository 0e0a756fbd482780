// Package peers starts the brokers that spate is compared and measured with, and spate itself, as
// processes on the loopback interface: pinned versions, a configuration of our own that is printed, and an
// end by process id.
//
// Kafka's jars come from the Maven registry through the ordinary client mvn, once, into the cache directory:
// $SPATE_CACHE, or .cache in the module's root.
package peers
