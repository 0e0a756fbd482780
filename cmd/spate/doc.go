// Command spate is the broker and its tools in one binary.
//
// The client commands (topic, group, produce, consume) are ordinary Kafka
// clients: they speak the Kafka protocol to any broker that serves it and know
// nothing of spate's own storage. Each command lies in a file of its own, named
// after its place in the command tree.
//
// What a command prints is a contract: results go to standard output as a table
// or, with --json, as JSON; everything else (progress, summaries, errors) goes
// to standard error. Exit status:
//
//	0    done
//	1    the broker refused it, or something asked for does not exist
//	2    the command line is wrong; nothing was sent
//	3    no broker could be reached
//	130  interrupted before it was done
package main
