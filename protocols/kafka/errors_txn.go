package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/spatemq/spate/engine/txn"
)

var sequenceCodes = []struct {
	err  error
	code int16
}{
	{txn.ErrOutOfOrderSequence, kerr.OutOfOrderSequenceNumber.Code},
	{txn.ErrInvalidProducerEpoch, kerr.InvalidProducerEpoch.Code},
	{txn.ErrInvalidTxnState, kerr.InvalidTxnState.Code},
	{txn.ErrTooManyProducers, kerr.CoordinatorLoadInProgress.Code},
}

// sequenceCode is the code of a producer's refused sequence number.
func sequenceCode(err error) (code int16, ok bool) {
	for _, c := range sequenceCodes {
		if errors.Is(err, c.err) {
			return c.code, true
		}
	}
	return 0, false
}
