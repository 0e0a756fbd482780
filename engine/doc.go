// Package engine is spate's storage engine: topics and partitions on one shared
// commit log per volume, with everything protocol-neutral that must be durable.
// It knows no protocol and no network.
package engine
