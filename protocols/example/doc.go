// Package example is the smallest complete wire protocol: a counter that clients
// add to and wait for. It is here to be read; the documentation of package
// protocols walks through it.
//
// # Requests
//
//	0      2    3          11
//	+------+----+----------+
//	| size | op | argument |
//	+------+----+----------+
//
// size (2 bytes, big-endian) is the length of what follows, always 9: it tells
// where the next request begins, and other protocols' bytes apart. op (1 byte)
// tells what to do. argument is an integer of 8 bytes, big-endian, signed.
//
//	op  argument  effect                                    answer
//	'+' n         adds n to the counter                     the counter
//	'?' n         waits until the counter is n or more      the counter
//	'-' n         adds n                                    none
//	'.' 0         ends the connection                       none
//
// # Answers
//
// 8 bytes, big-endian: the counter. Answers come in the order of requests, so
// that no number is needed to match them.
package example
