package txn

import "errors"

// Errors of Check, to be tested with errors.Is; the error itself names the
// producer and the numbers.
var (
	// ErrOutOfOrderSequence: the batch neither follows the producer's last one
	// nor repeats one of the last five (OUT_OF_ORDER_SEQUENCE_NUMBER, 45).
	ErrOutOfOrderSequence = errors.New("out of order sequence number")
	// ErrInvalidProducerEpoch: a newer incarnation of the producer has been seen
	// (INVALID_PRODUCER_EPOCH, 47).
	ErrInvalidProducerEpoch = errors.New("producer epoch is older than the current one")
	// ErrInvalidTxnState: a batch outside a transaction while the producer has one
	// open (INVALID_TXN_STATE, 48).
	ErrInvalidTxnState = errors.New("producer has an open transaction")
	// ErrCoordinatorFenced: a marker of a transaction coordinator that has been
	// replaced (TRANSACTION_COORDINATOR_FENCED, 52).
	ErrCoordinatorFenced = errors.New("transaction coordinator epoch is older than the current one")
	// ErrTooManyProducers: as many transactions are open on the partition as it
	// may have producers; trying again later may succeed
	// (COORDINATOR_LOAD_IN_PROGRESS is the closest retriable code, 14).
	ErrTooManyProducers = errors.New("too many producers with open transactions")
	// ErrSnapshot: a snapshot is damaged or of an unknown version.
	ErrSnapshot = errors.New("producer snapshot cannot be read")
)
