package kafka

// sequenceCode is the code of a refused sequence number.
func sequenceCode(err error) (int16, bool) { return 0, false }
