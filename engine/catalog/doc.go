// Package catalog is the cluster's metadata (topics, partitions, settings,
// reserved ids) as a pure state machine over a log of events. It does no I/O:
// the engine stores the events in the topic __cluster_metadata and feeds them
// back with Apply. Replication later replaces only that part.
//
// A change is made in three steps: a Plan method validates the request against
// the state and returns events; the engine makes them durable; Apply changes
// the state. Plans and Applies come one at a time. To plan ahead of durability
// the engine may keep two catalogs that are given the same events: one to plan
// on, applied at once, and one that readers see, applied when durable.
//
// # Format
//
// An event is one record of __cluster_metadata, log stream 1, partition 0. Key
// and value are JSON, so that any consumer can read the topic and later
// versions can add fields:
//
//	key    {"type":"topic-created","version":1}
//	value  {"name":"orders","id":"u1t8Qb3cQpaVpJ3cB1nVXA","streams":[7,8],"config":{"retention.ms":"1000"}}
//
//	key field   meaning, and why it is there
//	type        which body the value has
//	version     of the body; raised when an older reader would misread it
//	snapshot    part of a snapshot: builds a new state instead of changing
//	            the current one. On the event, so that a torn snapshot can
//	            never be mistaken for changes
//	ignorable   a reader that does not know type or version may pass over the
//	            event; without it such a reader refuses to start, because its
//	            state would differ from its writer's
//
// Value fields are on the body types (event.go). Topic ids are the 22
// characters of Kafka's Uuid. Log streams are numbers that the engine's log
// files a partition's batches under; they are never used twice, so that a
// leftover of a deleted topic can never be read as another's.
//
// A snapshot is snapshot-begin, events marked snapshot, snapshot-end with the
// number of events in between. It counts only when complete and undisturbed:
// a change inside voids it. Once it is durable, all before snapshot-begin may
// be dropped from the log.
package catalog
