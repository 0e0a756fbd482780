package kafka

import (
	"log/slog"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/config"
	"github.com/spatemq/spate/protocols"
)

// Options are what the Kafka endpoint needs. All are required.
type Options struct {
	Engine *engine.Engine
	// Config are the broker's settings; Config.Advertised is what Metadata tells
	// the clients of each listener.
	Config *config.Broker
	Log    *slog.Logger
}

// Server is the Kafka endpoint: everything its connections share.
type Server struct {
	engine *engine.Engine
	config *config.Broker
	log    *slog.Logger
	limits limits

	fetchSessions *fetchSessions
	fetchMaxBytes int32
	metadata      metadataCache
	self          []int32 // this node, as the list of replicas of all partitions
}

// limits bound what one connection may hold; see session.
type limits struct {
	frameBytes   int // largest frame of Produce, without its size field
	requestBytes int // largest frame of any other request
	produces     int // Produce requests of one connection in work
	produceBytes int64
	unsentBytes  int // of answers not yet taken by the client
}

// maxRequestBytes bounds requests other than Produce: parsing one takes several
// times its size.
const maxRequestBytes = 16 << 20

// New makes the endpoint of an open engine.
func New(o Options) *Server {
	return &Server{
		engine: o.Engine,
		config: o.Config,
		log:    o.Log,
		limits: limits{
			frameBytes:   int(o.Config.Int("socket.request.max.bytes")),
			requestBytes: min(int(o.Config.Int("socket.request.max.bytes")), maxRequestBytes),
			produces:     maxProducesInFlight,
			produceBytes: maxProduceBytesInFlight,
			unsentBytes:  int(o.Config.Int("spate.connection.unsent.bytes")),
		},
		self:          []int32{o.Config.NodeID},
		fetchSessions: newFetchSessions(int(o.Config.Int("max.incremental.fetch.session.cache.slots"))),
		fetchMaxBytes: int32(min(o.Config.Int("fetch.max.bytes"), maxFetchBytes)),
	}
}

// Name is the protocol's name in settings, logs and metrics.
func (s *Server) Name() string { return "kafka" }

// NewSession begins a connection.
func (s *Server) NewSession(c protocols.Conn) protocols.Session { return newSession(s, c) }
