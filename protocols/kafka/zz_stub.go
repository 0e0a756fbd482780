package kafka

import (
	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/protocols"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type Server struct{ engine *engine.Engine }
type request struct {
	kreq    kmsg.Request
	version int16
	client  string
	conn    protocols.Conn
	srv     *Server
}

func (r *request) reply(kmsg.Response) {}

type handlerFunc func(r *request)

func register(key, lo, hi int16, h handlerFunc) {}
