package kafka

import (
	"errors"
	"fmt"
)

// frame is one request whose header has been read.
type frame struct {
	buf     []byte // the whole frame
	body    []byte // of buf, after the header
	client  []byte // of buf; client id, nil if null
	api     *api
	version int16
	corrID  int32
	// unsupported marks an ApiVersions request of a version that is not served;
	// its body cannot be read.
	unsupported bool
}

var errUnsupported = errors.New("API key or version is not served")

// parseFrame reads a request's header. Kafka answers no request that it does
// not serve; the only exception is ApiVersions, by which a client finds out
// what is served.
func parseFrame(buf []byte) (frame, error) {
	r := reader{b: buf[4:]}
	key, version, corrID := r.i16(), r.i16(), r.i32()
	if r.bad {
		return frame{}, errMalformed
	}
	f := frame{buf: buf, version: version, corrID: corrID}
	if key >= 0 && key <= maxKey {
		f.api = apis[key]
	}
	if f.api == nil || version < f.api.min || version > f.api.max {
		if key != keyApiVersions || f.api == nil {
			return frame{}, fmt.Errorf("%w: key %d, version %d", errUnsupported, key, version)
		}
		f.unsupported = true
	}
	f.client = r.nullStr()
	r.flexible = version >= f.api.flexibleFrom
	r.tags()
	f.body = r.b
	if r.bad {
		return frame{}, errMalformed
	}
	return f, nil
}
