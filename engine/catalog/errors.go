package catalog

import (
	"errors"
	"fmt"
)

// Kind classifies why a request is refused; protocols map it to their codes.
type Kind uint8

const (
	InvalidTopicName         Kind = iota + 1 // Kafka 17
	TopicExists                              // Kafka 36
	UnknownTopic                             // Kafka 3
	UnknownTopicID                           // Kafka 100
	InvalidPartitions                        // Kafka 37
	InvalidReplicationFactor                 // Kafka 38
	InvalidReplicaAssignment                 // Kafka 39
	InvalidConfig                            // Kafka 40
	InvalidRequest                           // Kafka 42
	PolicyViolation                          // Kafka 44
	TopicDeletionDisabled                    // Kafka 73
	TopicAuthorization                       // Kafka 29; topics of the broker's own
	TooManyPartitions                        // the broker's own limit; Kafka 44
)

// Error is a refused request. Message is for the client.
type Error struct {
	Kind    Kind
	Message string
}

func (e *Error) Error() string { return e.Message }

// KindOf returns the kind of a refused request, 0 if err is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}

func refuse(k Kind, format string, args ...any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}
