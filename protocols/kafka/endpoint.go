package kafka

import (
	"encoding/binary"
	"net"
	"strconv"

	"github.com/spatemq/spate/protocols"
)

// endpoint is this node as its clients are to reach it.
type endpoint struct {
	node int32
	host string
	port int32
	rack string // "": none
}

// endpoint is the address for clients of the listener that c came in on. A
// listener without its own in the settings is told as the address the client has
// reached.
func (s *Server) endpoint(c protocols.Conn) endpoint {
	e := endpoint{node: s.config.NodeID, rack: s.config.String("broker.rack")}
	for _, l := range s.config.Advertised {
		if l.Name == c.Listener() {
			e.host, e.port = l.Host, int32(l.Port)
		}
	}
	if e.host == "" || e.port == 0 {
		e.fill(c.LocalAddr())
	}
	return e
}

// fill completes what the settings leave open (any interface, any free port).
func (e *endpoint) fill(local net.Addr) {
	if local == nil {
		return
	}
	host, port, err := net.SplitHostPort(local.String())
	if err != nil {
		return
	}
	if e.host == "" {
		e.host = host
	}
	if e.port == 0 {
		n, _ := strconv.Atoi(port)
		e.port = int32(n)
	}
}

// endpoints writes tagged fields of which the only one, 0, lists one node.
func (w *writer) endpoints(e endpoint) {
	w.b = append(w.b, 1, 0)
	size := 4 + compactLen(e.host) + 4 + compactLen(e.rack) + 1
	w.uvarint(uint64(1 + size))
	w.array(1, true)
	w.i32(e.node)
	w.str(e.host, true)
	w.i32(e.port)
	w.nullStr(e.rack, true)
	w.b = append(w.b, 0)
}

// compactLen is the size of a compact string.
func compactLen(s string) int {
	var b [binary.MaxVarintLen64]byte
	return binary.PutUvarint(b[:], uint64(len(s))+1) + len(s)
}

func (e *endpoint) rackPtr() *string {
	if e.rack == "" {
		return nil
	}
	return &e.rack
}
