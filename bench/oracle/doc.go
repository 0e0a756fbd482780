// Package oracle compares spate with a real Kafka broker, answer by answer.
//
// A scenario is a text file under testdata: requests in order, on one or more
// connections, good and bad. It runs against a broker and gives a transcript: one
// block for each step, one line for each field of the decoded answer. The
// transcript of the real Kafka is kept beside the scenario (NAME.kafka), so that
// spate can be compared with it where no Kafka is at hand. What differs for a reason
// is listed in testdata/allow.txt, each line with that reason.
//
// # Scenario files
//
//	# A comment.
//	topic @t partitions=2 cleanup.policy=compact as=id
//	for v Fetch                          # each version that spate serves, or Fetch 4..7
//	  Fetch v$v {MaxWaitMillis: 0, MaxBytes: 1000000, Topics: [{Topic: @t, TopicID: $id, Partitions: [
//	      {Partition: 0, PartitionMaxBytes: 1000000}]}]}
//	    -> sid = SessionID
//	end
//
// A statement is a line; lines that are indented deeper than it, or that stand
// within open brackets, continue it. The statements:
//
//	[CONN:] API VERSION [OPTION ...] {FIELDS}   a request and its answer
//	[CONN:] raw [OPTION ...] {FIELDS}           a frame built by hand: key, version, correlation, client, body, bytes
//	[CONN:] recv                                the answer to the oldest request sent with async
//	[CONN:] close                               closes the connection; the next use opens another
//	topic NAME [CONFIG=VALUE ...]               creates a topic, waits until it has leaders, sets $id (or the name after as=)
//	for VAR API [FROM..TO] ... end              repeats the statements for each version
//	sleep DURATION                              lets time pass (session timeouts)
//
// CONN is any name; without one it is "main". VERSION is vN, v$VAR, v~N (N, but no
// more than spate serves), vN..M or "all". API is a name of package kmsg, and FIELDS are the fields
// of its request struct; what is not named has kmsg's default. "@name" stands for a
// name of this scenario's own (NAME-name), so that scenarios share a broker without
// seeing each other; "$x" is a value that an earlier answer gave with "-> x = PATH".
//
// Options: async (send only), noreply (no answer is due), quiet (not part of the
// transcript), client=NAME, as=VERSION (the header names another version than the body
// has), cut=BYTES and pad=BYTES (a body that is too short or too long), time=FROM..TO (the answer
// has to take that long), until=PATH=VALUE (repeats until the answer says so).
//
// Record batches are written batch{codec: gzip, ts: 5, pid: $pid, epoch: 0, seq: 0,
// records: [{k: a, v: b, h: {name: value}, ts: 7}]}; see batchFields. Times are
// milliseconds after a base one hour before the scenario started.
//
// # Transcripts
//
// A block starts with "== CONN API vN (LINE)". A line is PATH = VALUE. Fields that have their
// protocol default are left out, except error codes. Elements of arrays are addressed by their key (topic,
// partition, group, name) where they have one; the array's own line lists the keys
// in the order received. What differs from run to run is replaced by a symbol in order of first
// appearance: id#1 (topic ids), uuid#1 (in member ids), pid#1, and <session>, <now>, <port>,
// <cluster>, <dir>. Of error messages and documentation only the presence is
// kept: <text>.
package oracle
