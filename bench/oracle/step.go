package oracle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// step is one request as it goes out, with what is expected of its answer.
type step struct {
	req          kmsg.Request
	key, version int16
	as           int16 // the version in the header
	client       string
	async        bool
	noreply      bool
	quiet        bool
	cut, pad     int
	from, to     time.Duration // how long the answer takes, if to > 0
	until        string        // PATH=VALUE
}

func (s *step) title(st *stmt) string {
	t := fmt.Sprintf("%s %s v%d", st.conn, st.verb, s.version)
	if s.as != s.version {
		t += fmt.Sprintf(" as v%d", s.as)
	}
	return t
}

// newStep builds the request of a statement at one version.
func newStep(sc *scope, st *stmt, version int16) (*step, error) {
	req, err := requestByName(st.verb)
	if err != nil {
		return nil, err
	}
	req.SetVersion(version)
	s := &step{req: req, key: req.Key(), version: version, as: version, client: "oracle"}
	setDefault(reflect.ValueOf(req).Elem())
	req.SetVersion(version)
	if len(st.args) > 0 {
		if err := s.options(sc, st.args[1:]); err != nil {
			return nil, err
		}
	}
	if st.body == nil {
		return s, nil
	}
	return s, sc.fill(reflect.ValueOf(req).Elem(), st.body)
}

func (s *step) options(sc *scope, args []string) error {
	for _, a := range args {
		name, val, _ := strings.Cut(a, "=")
		names := *sc
		if name == "until" {
			names.prefix = "@" // it is compared with a transcript
		}
		val, err := names.expand(val)
		if err != nil {
			return err
		}
		if err := s.option(name, val); err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
	}
	return nil
}

func (s *step) option(name, val string) (err error) {
	switch name {
	case "async":
		s.async = true
	case "noreply":
		s.noreply = true
	case "quiet":
		s.quiet = true
	case "client":
		s.client = val
	case "cut":
		s.cut, err = strconv.Atoi(val)
	case "pad":
		s.pad, err = strconv.Atoi(val)
	case "until":
		s.until = val
	case "as":
		var n int
		n, err = strconv.Atoi(val)
		s.as = int16(n)
	case "time":
		from, to, ok := strings.Cut(val, "..")
		if !ok {
			return errors.New("FROM..TO expected")
		}
		if s.from, err = time.ParseDuration(from); err != nil {
			return err
		}
		s.to, err = time.ParseDuration(to)
	default:
		return errors.New("no such option")
	}
	return err
}

// frame encodes header and body.
func (s *step) frame(corr int32) []byte {
	out := binary.BigEndian.AppendUint16(nil, uint16(s.key))
	out = binary.BigEndian.AppendUint16(out, uint16(s.as))
	out = binary.BigEndian.AppendUint32(out, uint32(corr))
	out = binary.BigEndian.AppendUint16(out, uint16(len(s.client)))
	out = append(out, s.client...)
	if s.req.IsFlexible() {
		out = append(out, 0)
	}
	out = s.req.AppendTo(out)
	if s.cut > 0 {
		out = out[:len(out)-s.cut]
	}
	return append(out, make([]byte, s.pad)...)
}

const (
	apiVersionsKey     = 18
	unsupportedVersion = 35
)

// decode parses an answer's frame.
func (s *step) decode(corr int32, frame []byte) (kmsg.Response, error) {
	if len(frame) < 4 {
		return nil, fmt.Errorf("a frame of %d bytes", len(frame))
	}
	if got := int32(binary.BigEndian.Uint32(frame)); got != corr {
		return nil, fmt.Errorf("correlation id %d past the one expected", got-corr)
	}
	body := frame[4:]
	resp := s.req.ResponseKind()
	resp.SetVersion(s.as)
	if s.key == apiVersionsKey {
		// KIP-511: an unknown version is answered in version 0.
		if len(body) >= 2 && binary.BigEndian.Uint16(body) == unsupportedVersion {
			resp.SetVersion(0)
		}
	} else if resp.IsFlexible() {
		if len(body) == 0 || body[0] != 0 {
			return nil, errors.New("tags in the answer's header")
		}
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		return nil, err
	}
	if again := resp.AppendTo(nil); !bytes.Equal(again, body) && len(again) != len(body) {
		return resp, fmt.Errorf("%d bytes where the decoded answer has %d", len(body), len(again))
	}
	return resp, nil
}
