package kafka

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// handlerFunc serves one request. It runs on the connection's loop and must not
// block; it calls request.reply once, there or later on any
// goroutine. The request and all it refers to are the handler's own.
type handlerFunc func(r *request)

// frameFunc serves one request straight from its frame, for the paths on which
// decoding into structs would cost too much. It owns f.buf. An error closes the
// connection.
type frameFunc func(s *session, f frame) error

// api is one API key as this broker serves it.
type api struct {
	key, min, max int16
	handle        handlerFunc
	frame         frameFunc // instead of handle
	flexibleFrom  int16     // first version with request header v2
	flexibleReply int16     // first version with response header v1
}

const maxKey = 127

// apis is filled by init functions, one for each API key's file.
var apis [maxKey + 1]*api

// register serves the versions min to max of an API key with h. These are the
// versions that ApiVersions advertises.
func register(key, min, max int16, h handlerFunc) {
	add(&api{key: key, min: min, max: max, handle: h})
}

// registerFrame is register for handlers that decode for themselves.
func registerFrame(key, min, max int16, h frameFunc) {
	add(&api{key: key, min: min, max: max, frame: h})
}

func add(a *api) {
	if a.key < 0 || a.key > maxKey || apis[a.key] != nil || a.min > a.max {
		panic("BUG: API key " + strconv.Itoa(int(a.key)) + " registered twice or out of range")
	}
	a.flexibleFrom = firstFlexible(a.key, a.max)
	a.flexibleReply = a.flexibleFrom
	if a.key == keyApiVersions {
		// A client that asks with too high a version could not know how to read
		// anything else (KIP-511).
		a.flexibleReply = a.max + 1
	}
	apis[a.key] = a
}

// firstFlexible is the first version of an API that has tagged fields; max+1 if
// there is none up to max.
func firstFlexible(key, max int16) int16 {
	k := kmsg.RequestForKey(key)
	if k == nil || k.MaxVersion() < max {
		panic("BUG: no codec for API key " + strconv.Itoa(int(key)) + " up to version " + strconv.Itoa(int(max)))
	}
	for v := int16(0); v <= max; v++ {
		if k.SetVersion(v); k.IsFlexible() {
			return v
		}
	}
	return max + 1
}

// API keys that the core names; other files use numbers in register alone.
const (
	keyProduce     = 0
	keyFetch       = 1
	keyApiVersions = 18
)
