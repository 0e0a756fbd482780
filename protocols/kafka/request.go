package kafka

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/protocols"
)

// request is one decoded request and the way to answer it.
type request struct {
	kreq    kmsg.Request // of the API key's type, its version set
	key     int16
	version int16
	corrID  int32
	client  string // client id, "" if null
	conn    protocols.Conn
	srv     *Server

	sess  *session
	place protocols.Reply
	turn  turn
	// unsupported: see frame.
	unsupported bool
}

// reply answers the request. It is called once, on any goroutine; resp is
// encoded before it returns.
func (r *request) reply(resp kmsg.Response) {
	resp.SetVersion(r.version)
	w := getWriter(r.sess)
	w.begin(r.corrID, r.version >= apis[r.key].flexibleReply)
	w.b = resp.AppendTo(w.b)
	w.send(r.place)
	r.finish()
}

func (r *request) finish() {
	if !r.turn.end(r.sess) {
		panic(fmt.Sprintf("BUG: API key %d answered twice", r.key))
	}
}

var errMalformed = errors.New("malformed request")

// replyBody is reply with a body already encoded, which must never change.
func (r *request) replyBody(body []byte) {
	w := getWriter(r.sess)
	w.begin(r.corrID, r.version >= apis[r.key].flexibleReply)
	w.reference([][]byte{body})
	w.send(r.place)
	r.finish()
}
