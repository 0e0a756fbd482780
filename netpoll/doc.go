// Package netpoll moves frames between sockets and protocol sessions. It knows
// neither protocols nor the engine; it meets the protocols in interfaces that
// both sides write down for themselves (see package protocols).
//
// # Why a loop of our own on gnet's poller
//
// gnet's engine cannot stop reading a connection, shuts down when the process is
// out of file descriptors, copies what it reads and buffers what it writes
// without bound, and drops unsent output on close. gnet's poller
// (gnet/v2/pkg/netpoll: epoll and a lock-free task queue) has none of these
// traits, so the loops here run on it: they read straight into the frame's own
// buffer, hold output by reference, and leave the socket alone when a
// connection has to wait.
//
// # A connection
//
// Each connection belongs to one loop, and all calls to its session are made
// there. Bytes go through one state machine (framer), the same for plaintext and
// TLS: head, then FrameBytes, then memory from the Budget, then the frame.
//
// Reading stops, and the kernel's window closes, while the session has
// paused, while more than MaxUnsentBytes of answers wait for the client, while
// MaxReplies places are reserved and not filled, or while the Budget has no memory for the
// next frame. Nothing is ever buffered without bound.
//
// Memory for a frame is a claim on the Budget, granted in the order of asking. A
// claim is cancelled when its connection ends, whether it still waits or has
// just been granted.
//
// # The end of a connection
//
//	open --Close, bad frame, Stop--> closing --all answers written--> lingering --> ended
//	  |                                 |                                            ^
//	  +-- error, timeout, panic --------+--------------------------------------------+
//
// A closing connection is not read any more; the answers it owes are written. A
// lingering one has told the client that no more comes, and reads without use
// until the client has done the same: closing a socket at once makes the kernel
// reset the connection if there are unread bytes, and the client would lose the
// last answers. Both together take no longer than LingerTimeout, or while the
// server stops, Stop's context. A client that only closes its own side gets what
// it is owed.
//
// Every reply's release is called once: when the socket has taken the bytes, or at
// the end, when no write can be using them any more.
package netpoll
