// Package groups is the coordinator of consumer groups: membership by Kafka's
// classic rebalance protocol, and committed offsets.
//
// A group is a state machine without clock and I/O: each step gets the time and
// leaves what is to be done outside (answers, records to be written) as effects.
// The Coordinator runs the steps under one lock, performs the effects in order
// after it, and wakes groups at their deadlines.
//
//	        join                  all joined / timeout         leader's sync is durable
//	Empty ───────▶ Preparing ────────────────────▶ Completing ─────────────────▶ Stable
//	  ▲              │  ▲  ▲                            │                          │
//	  └── no member ─┘  │  └── join, leave, expiry ─────┘                          │
//	                    └───────────── join, leave, expiry ────────────────────────┘
//
// A timer with a heap of the groups' deadlines wakes those that are due; all groups
// are only looked at by the sweep for expired offsets. Commits become visible, and
// the leader's assignment is given out, when the log has them; a deletion also
// takes what it deletes out of commits that are still on their way, since it is
// behind them in the log.
//
// Everything durable is records of the topic __consumer_offsets in Kafka's own
// format (OffsetCommitKey 1 / OffsetCommitValue 3, GroupMetadataKey 2 /
// GroupMetadataValue 3, null value: deleted), so that tools which read that topic
// work, and replaying the topic gives the state.
package groups
