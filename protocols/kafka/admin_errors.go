package kafka

import (
	"errors"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/catalog"
)

type response = kmsg.Response

var catalogCodes = map[catalog.Kind]int16{
	catalog.InvalidTopicName:         kerr.InvalidTopicException.Code,
	catalog.TopicExists:              kerr.TopicAlreadyExists.Code,
	catalog.UnknownTopic:             kerr.UnknownTopicOrPartition.Code,
	catalog.UnknownTopicID:           kerr.UnknownTopicID.Code,
	catalog.InvalidPartitions:        kerr.InvalidPartitions.Code,
	catalog.InvalidReplicationFactor: kerr.InvalidReplicationFactor.Code,
	catalog.InvalidReplicaAssignment: kerr.InvalidReplicaAssignment.Code,
	catalog.InvalidConfig:            kerr.InvalidConfig.Code,
	catalog.InvalidRequest:           kerr.InvalidRequest.Code,
	catalog.PolicyViolation:          kerr.PolicyViolation.Code,
	catalog.TopicDeletionDisabled:    kerr.TopicDeletionDisabled.Code,
	catalog.TopicAuthorization:       kerr.TopicAuthorizationFailed.Code,
	catalog.TooManyPartitions:        kerr.PolicyViolation.Code,
}

var engineCodes = []struct {
	err  error
	code int16
}{
	{engine.ErrOffsetOutOfRange, kerr.OffsetOutOfRange.Code},
	{engine.ErrPolicy, kerr.PolicyViolation.Code},
	{engine.ErrDeleted, kerr.UnknownTopicOrPartition.Code},
	{engine.ErrStorage, kerr.KafkaStorageError.Code},
	{engine.ErrDiskFull, kerr.KafkaStorageError.Code},
	// Clients look for another controller, and meet this node's successor.
	{engine.ErrShutdown, kerr.NotController.Code},
}

// adminError is an error's code and message for the client; 0 and nil for nil,
// no message for errors without text.
func adminError(err error) (int16, *string) {
	if err == nil {
		return 0, nil
	}
	code := kerr.UnknownServerError.Code
	if c, ok := catalogCodes[catalog.KindOf(err)]; ok {
		code = c
	}
	for _, e := range engineCodes {
		if errors.Is(err, e.err) {
			code = e.code
		}
	}
	if err.Error() == "" {
		return code, nil
	}
	return code, kmsg.StringPtr(err.Error())
}

// invalid is an error with code INVALID_REQUEST.
func invalid(message string) error {
	return &catalog.Error{Kind: catalog.InvalidRequest, Message: message}
}

// gather waits for asynchronous parts: begin each before it starts, end each
// once; when all have ended, done runs on the goroutine of the last.
type gather struct {
	left atomic.Int64
	done func()
}

// newGather holds one part, the caller's own, so that done cannot run before
// the caller has begun all the others.
func newGather(done func()) *gather {
	g := &gather{done: done}
	g.left.Store(1)
	return g
}

func (g *gather) begin() { g.left.Add(1) }

func (g *gather) end() {
	if g.left.Add(-1) == 0 {
		g.done()
	}
}
