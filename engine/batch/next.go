package batch

// minLengthField is the smallest batchLength any format version can have (a
// version 0 message without key and value); less is damage, not an old format.
const minLengthField = 14

// Next takes the first batch off buf, a sequence of whole batches such as the
// records field of a request, a fetch response or a stretch of the log, and
// returns it with what follows. Both share buf's memory. It checks the length
// and the magic byte, not the content; the batch it returns is safe for all
// getters. An empty buf is an error: test for it first.
func Next(buf []byte) (b Batch, rest []byte, err error) {
	if len(buf) < posMagic+1 {
		return nil, buf, errf(InvalidRecord, "%d bytes are too few for a record batch", len(buf))
	}
	n := be32(buf, posLength)
	magic := int8(buf[posMagic])
	switch {
	case n < minLengthField:
		return nil, buf, errf(Corrupt, "batch length field %d is below the minimum of %d", n, minLengthField)
	case magic < 0 || magic > 2:
		return nil, buf, errf(Corrupt, "magic byte %d is none of 0, 1, 2", magic)
	case int64(n)+PrefixBytes > int64(len(buf)):
		return nil, buf, errf(InvalidRecord, "batch of %d bytes is cut off after %d", int64(n)+PrefixBytes, len(buf))
	case magic < 2:
		return nil, buf, errf(UnsupportedFormat, "magic byte %d: only record batches of version 2 are supported", magic)
	case n < HeaderBytes-PrefixBytes:
		return nil, buf, errf(Corrupt, "batch length field %d is below a batch header's %d", n, HeaderBytes-PrefixBytes)
	}
	size := int(n) + PrefixBytes
	return Batch(buf[:size:size]), buf[size:], nil
}

// Only is Next for a field that must hold exactly one batch, such as the
// records of a partition in a Produce request. As in Kafka, what follows is
// refused if it is another batch or damaged, and dropped if it is too short to be
// either.
func Only(buf []byte) (Batch, error) {
	b, rest, err := Next(buf)
	if err != nil || len(rest) == 0 {
		return b, err
	}
	_, _, err = Next(rest)
	if e, bad := err.(*Error); bad && e.Kind == InvalidRecord {
		return b, nil
	} else if bad && e.Kind == Corrupt {
		return nil, err
	}
	return nil, errf(InvalidRecord, "more than one record batch for a partition")
}
