package batch

import "fmt"

// Kind classifies why a batch is refused. Protocols map it to their codes.
type Kind uint8

// Kinds of refusal, with Kafka's error code for each.
const (
	// Corrupt: bytes damaged on the way: length, magic, CRC (CORRUPT_MESSAGE, 2);
	// clients send the batch again.
	Corrupt Kind = iota + 1
	// InvalidRecord: arrived as sent, but its content is wrong or not allowed
	// (INVALID_RECORD, 87); clients give up.
	InvalidRecord
	// InvalidTimestamp: a record's timestamp is outside the topic's bounds
	// (INVALID_TIMESTAMP, 32).
	InvalidTimestamp
	// TooLarge: larger than max.message.bytes, or than the cap once
	// decompressed; clients answer by splitting the batch (MESSAGE_TOO_LARGE, 10).
	TooLarge
	// UnsupportedCompression: a codec that does not exist or that the request's
	// version does not allow (UNSUPPORTED_COMPRESSION_TYPE, 76).
	UnsupportedCompression
	// UnsupportedFormat: magic 0 or 1 (INVALID_RECORD, 87, as Kafka 4 answers).
	UnsupportedFormat
)

var kindNames = [...]string{"", "corrupt batch", "invalid record", "invalid timestamp",
	"batch too large", "unsupported compression", "unsupported message format"}

// String is the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Error says why a batch is refused.
type Error struct {
	Kind    Kind
	Message string
	// Records names the guilty records where single records are the reason. The
	// whole batch is refused all the same. At most maxRecordErrors are listed.
	Records []RecordError
}

// RecordError names one record and what is wrong with it.
type RecordError struct {
	Index   int32 // position in the batch, from 0
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Kind.String() + ": " + e.Message }

func errf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}
