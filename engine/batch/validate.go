package batch

// Options of one Validate call.
type Options struct {
	Policy *Policy
	NowMs  int64
	// Internal marks a batch of spate's own: control batches, any base offset and
	// any size are allowed.
	Internal bool
	// RefuseZstd is set for Produce requests below version 7.
	RefuseZstd bool
}

// Result of a successful Validate.
type Result struct {
	// Batch is what to store: the slice given, possibly with a new timestamp and
	// CRC, or a new one if the batch had to be rewritten.
	Batch     Batch
	Rewritten bool
	// MaxTimestamp is that of the batch to store, in ms; -1: none.
	MaxTimestamp int64
	// MaxTimestampDelta is the offset delta of the first record that has it.
	MaxTimestampDelta int32
}

// maxRecordErrors limits how many guilty records are named.
const maxRecordErrors = 10000

// Validate checks a batch that is to be appended and prepares it for the log,
// with the rules and the order of Kafka 4.3. b must be exactly one batch as Next
// returns it. Timestamps and CRC are updated in place in b. An error is an
// *Error and leaves b unchanged.
//
// Every record of every batch is looked at, as Kafka does: the count, the inner
// offsets, the timestamps and the structure are the consumer's contract. Records
// of an uncompressed batch are walked in place; a compressed batch is
// decompressed into a pooled buffer and thrown away again, which costs what its
// consumer pays. Nothing is allocated on either way unless the batch is rewritten.
func Validate(b Batch, o Options) (Result, error) {
	if err := checkHeader(b, &o); err != nil {
		return Result{}, err
	}
	data, buf, err := payload(b, o.Policy.MaxDecompressedBytes)
	if err != nil {
		return Result{}, sentBroken(err)
	}
	if buf != nil {
		defer putBuf(buf)
	}
	w := newWalk(b, &o)
	if err := w.run(data); err != nil {
		return Result{}, err
	}
	if target := o.target(b); target != b.Codec() || w.gaps {
		return rewrite(b, data, target, o)
	}
	res := Result{Batch: b, MaxTimestamp: w.maxTS, MaxTimestampDelta: w.maxTSDelta}
	stamp(&res, &o)
	return res, nil
}

// sentBroken: the CRC was right, so data that do not decompress were sent that way
// and sending them again does not help.
func sentBroken(err error) error {
	if e, ok := err.(*Error); ok && e.Kind == Corrupt {
		e.Kind = InvalidRecord
	}
	return err
}

func (o *Options) target(b Batch) Codec {
	if o.Policy.Codec == Producer || b.Control() {
		return b.Codec()
	}
	return o.Policy.Codec
}

// stamp sets the timestamp type and the batch's maximum timestamp where they are
// not yet what they must be, which needs a new CRC.
func stamp(res *Result, o *Options) {
	b := res.Batch
	if o.Policy.LogAppendTime {
		res.MaxTimestamp, res.MaxTimestampDelta = o.NowMs, 0
		b.StampLogAppendTime(o.NowMs)
		return
	}
	if b.TimestampType() || b.MaxTimestamp() != res.MaxTimestamp {
		b[posAttributes+1] &^= attrLogAppendTime
		put64(b, posMaxTimestamp, res.MaxTimestamp)
		b.UpdateCRC()
	}
}

func checkHeader(b Batch, o *Options) error {
	if len(b) < HeaderBytes || b.LengthBytes() != len(b) {
		return errf(Corrupt, "batch length field does not match the %d bytes given", len(b))
	}
	p := o.Policy
	switch {
	case b.Magic() != 2:
		return errf(UnsupportedFormat, "magic byte %d: only record batches of version 2 are supported", b.Magic())
	case o.RefuseZstd && b.Codec() == Zstd:
		return errf(UnsupportedCompression, "zstd needs a Produce request of version 7 or above")
	case !o.Internal && b.BaseOffset() != 0:
		return errf(InvalidRecord, "base offset must be 0, not %d", b.BaseOffset())
	case !o.Internal && len(b) > p.MaxBytes:
		return errf(TooLarge, "batch of %d bytes exceeds max.message.bytes=%d", len(b), p.MaxBytes)
	case b.CRC() != b.ComputeCRC():
		return errf(Corrupt, "stored CRC %08x is not the content's %08x", b.CRC(), b.ComputeCRC())
	case b.Count() <= 0:
		return errf(InvalidRecord, "record count %d is not positive", b.Count())
	case b.LastOffsetDelta() != b.Count()-1:
		return errf(InvalidRecord, "last offset delta %d does not match the record count %d", b.LastOffsetDelta(), b.Count())
	case !o.Internal && b.Control():
		return errf(InvalidRecord, "clients may not write control batches")
	case !o.Internal && b.ProducerID() > NoProducerID && b.BaseSequence() < 0:
		return errf(InvalidRecord, "producer id %d without a sequence number", b.ProducerID())
	case b.Transactional() && b.ProducerID() <= NoProducerID:
		return errf(InvalidRecord, "transactional batch without a producer id")
	}
	return nil
}
