// Package txn holds what idempotent and transactional producers need. Producers
// is the state that one partition keeps of the producers that write to it: it tells
// a new batch from a retried one and from one out of order. It is a pure state
// machine: no clock, no I/O, no locks; the partition's owner calls it in append
// order and hands in the time.
//
// # Rules
//
// They are those of Kafka 4.3 (KIP-98, KIP-360, KIP-890).
//
//   - A producer numbers the records of a partition from 0 for each epoch; after
//     2^31-1 comes 0. A batch carries the number of its first record.
//   - A batch with the epoch and the first and last number of one of the last five
//     is a retry: it is acknowledged with the offset it got then, not stored again.
//     Five, because that is how many requests a client may have in flight.
//   - Otherwise it must follow the last one, or start at 0 with a higher epoch.
//   - A lower epoch is a fenced producer.
//   - A producer of which nothing is known (new, expired, evicted) may start
//     anywhere: clients that have been idle for longer than the state lives go on
//     where they were.
//
// Check decides and changes nothing, so that a refused batch leaves no trace;
// Append records a batch that has been given its offset. Between the two no other
// batch of the partition may come. Both happen when a batch is queued, not when it
// is durable: several batches of one producer can be on their way to the disk.
//
// # Memory
//
// A producer on a partition takes 64 bytes, and 96 more from its second
// batch on; a partition without producers takes a pointer's worth. The number of
// producers for each partition is limited; past the limit the longest unused are
// forgotten.
//
// # Snapshot
//
// Encode writes the state next to an offset that the caller keeps, so that
// recovery replays only what comes after it. Integers are zigzag varints unless a
// size is given; producers come in the order of their ids, so that equal states
// give equal bytes.
//
//	magic "spps"      4 bytes   tells a snapshot from anything else
//	version           1 byte    1
//	producer count
//	  producer id               difference to the one before
//	  epoch
//	  coordinator epoch         of the last transaction marker; -1: none
//	  last used                 ms; expiry counts from it
//	  transaction start         first offset of the open transaction; -1: none
//	  batch count               0 to 5
//	    last sequence           newest batch first
//	    record count            with it, the first sequence and last offset follow
//	    base offset             what a retry is answered with
//	    timestamp               ms, what a retry is answered with; -1: none
//	CRC-32C           4 bytes   big-endian, of everything before it
package txn
