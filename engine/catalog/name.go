package catalog

import "strings"

const maxTopicName = 249

// ValidateTopicName checks a topic's name by Kafka's rules.
func ValidateTopicName(name string) error {
	switch {
	case name == "":
		return refuse(InvalidTopicName, "Topic name is invalid: the empty string is not allowed")
	case name == "." || name == "..":
		return refuse(InvalidTopicName, "Topic name is invalid: '%s' is not allowed", name)
	case len(name) > maxTopicName:
		return refuse(InvalidTopicName, "Topic name is invalid: the length of '%s' is longer than the max allowed length %d", name, maxTopicName)
	}
	for i := 0; i < len(name); i++ {
		if !legalNameByte(name[i]) {
			return refuse(InvalidTopicName, "Topic name is invalid: '%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", name)
		}
	}
	return nil
}

func legalNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// collisionKey is equal for names that metrics cannot tell apart, since they
// write '.' as '_'.
func collisionKey(name string) string {
	if strings.IndexByte(name, '.') < 0 {
		return name
	}
	return strings.ReplaceAll(name, ".", "_")
}
