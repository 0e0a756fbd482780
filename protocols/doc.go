// Package protocols holds the contract between spate's event loop and a wire
// protocol. A protocol is a package of its own that implements Protocol and is
// registered by one line in cmd/spate; nothing in netpoll or engine knows which
// protocols exist, and this package imports neither.
//
// # How to write one
//
// Package protocols/example is a whole protocol of two small files: a counter
// that clients add to and wait for.
//
// Start with doc.go: draw the requests and answers. There must be a head of
// fixed size from which the length of a request can be told, since netpoll cuts
// the stream of bytes into frames before the protocol sees any.
//
// Protocol (example.Protocol) is what all connections share; it is made once, in
// cmd/spate. NewSession makes a Session for each connection. Sessions of
// different connections run on different loops at the same time, so what is
// shared needs a lock (example's counter) or must not change.
//
// FrameBytes is where bad clients are turned away: example accepts one length
// only, so another protocol's bytes end the connection before memory is taken
// for them.
//
// Frame takes one request. The buffer belongs to the session until it calls
// Conn.Free, exactly once, on every path; example does it at once, as it copies
// what it needs. Kafka's produce keeps the buffer until the records are written.
//
// An answer has two steps. Conn.Reserve takes the next place in the order of
// answers, on the loop, in the order of requests. Reply.Send fills it, whenever
// and on whatever goroutine: example's '?' is answered by the connection that
// makes the counter high enough. Later answers wait for earlier places, so each
// place has to be filled or skipped at some time, and a request that has no
// answer reserves none (example's '-') or skips.
//
// What has to happen on a session's own loop is sent there with Conn.Execute;
// that is how a wait that has ended leaves its session's list.
//
// Closed is the end: the session lets go of everything that would otherwise
// keep it (example forgets its waiting requests). Answers sent afterwards go
// nowhere, but their release functions are called, so no path needs to ask
// whether the connection is still there.
//
// A session must not block its loop, and must bound what it holds: netpoll bounds
// frames, places and unsent answers and stops reading the connection meanwhile;
// what a protocol queues itself it has to limit (example's maxWaiters), or it
// stops reading with Conn.Pause.
//
// The test shows how to serve it: netpoll.Listener wants a function from its own
// Conn to its own Session, so the two are joined by an adapter of one line.
package protocols
