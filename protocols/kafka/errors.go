package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/batch"
)

// batchCodes are the codes for refused batches.
var batchCodes = map[batch.Kind]int16{
	batch.Corrupt:                kerr.CorruptMessage.Code,
	batch.InvalidRecord:          kerr.InvalidRecord.Code,
	batch.InvalidTimestamp:       kerr.InvalidTimestamp.Code,
	batch.TooLarge:               kerr.MessageTooLarge.Code,
	batch.UnsupportedCompression: kerr.UnsupportedCompressionType.Code,
	batch.UnsupportedFormat:      kerr.InvalidRecord.Code,
}

// nextCode is the code for bytes that hold no batch.
func nextCode(err error) int16 {
	var e *batch.Error
	if errors.As(err, &e) {
		return batchCodes[e.Kind]
	}
	return kerr.CorruptMessage.Code
}

// partitionCodes are the codes for what can happen to any operation on a
// partition. Fetch may use no others: Java's consumer dies of a code that it
// does not expect there.
var partitionCodes = []struct {
	err  error
	code int16
}{
	{engine.ErrOffsetOutOfRange, kerr.OffsetOutOfRange.Code},
	{engine.ErrCorrupt, kerr.CorruptMessage.Code},
	{engine.ErrDeleted, kerr.UnknownTopicOrPartition.Code},
	{engine.ErrStorage, kerr.KafkaStorageError.Code},
	{engine.ErrDiskFull, kerr.KafkaStorageError.Code},
	// Clients look for another leader, and meet this node's successor.
	{engine.ErrShutdown, kerr.NotLeaderForPartition.Code},
}

// engineCode is the code of an engine's error, 0 for none.
func engineCode(err error) int16 {
	if err == nil {
		return 0
	}
	for _, c := range partitionCodes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return kerr.UnknownServerError.Code
}
