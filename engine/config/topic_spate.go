package config

// topicSpate are the topic settings that only spate has.
var topicSpate = []Definition{
	{Name: "spate.durability", Type: String, Default: "fsync", check: oneOf("fsync", "write", "memory"),
		Synonyms: same("spate.durability"),
		Doc:      "When an append is acknowledged: after fdatasync (fsync: survives a power cut), after write (survives a killed process) or at once (memory: may lose the last moments)."},
}
