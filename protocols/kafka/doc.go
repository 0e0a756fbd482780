// Package kafka serves the Kafka protocol: the APIs and versions of Kafka 4.3
// that the engine can back, answered as Kafka answers them.
//
// # Frames
//
//	size      i32   of what follows
//	key       i16   which API
//	version   i16   of the API's schema
//	corr id   i32   comes back in the answer
//	client    str   client id; i16 length even in flexible versions, -1 is null
//	tags            tagged fields, in flexible versions (request header v2)
//	body            as the API's schema says
//
// An answer is size, correlation id, tagged fields in flexible versions (never
// for ApiVersions, whose reader does not know the version yet) and body.
//
// # How an API is added
//
// One file for each API key. Its init calls register with the key, the versions
// served (they are what ApiVersions advertises) and a handler. The handler gets
// a request with the decoded kmsg message and answers it with request.reply,
// once, from any goroutine. It runs on the connection's event loop, so it must
// not block: what waits, waits in a callback. While a request is unanswered,
// the session starts no other of the same connection.
//
// Produce and Fetch are decoded from and encoded to bytes by hand (produce*.go,
// fetch*.go), because their cost is the broker's cost.
package kafka
