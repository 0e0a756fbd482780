package config

// brokerNode are the settings of the node, its data and its topics.
var brokerNode = []Definition{
	{Name: "node.id", Type: Int, Default: "1", check: atLeast(0),
		Doc: "This node's id in the cluster. It must not change once data has been written."},
	{Name: "broker.id", Type: Int, Default: "-1",
		Doc: "Older name of node.id; -1 means not set."},
	{Name: "process.roles", Type: List, Default: "broker,controller", check: roles,
		Doc: "What a Kafka process does. spate is broker and controller in one, so broker must be among them."},
	{Name: "broker.rack", Type: String, NoDefault: true,
		Doc: "Name of the rack or zone the node stands in, told to clients."},
	{Name: "log.dir", Type: List, Default: "./spate-data",
		Doc: "Directory of the data if log.dirs is not set."},
	{Name: "log.dirs", Type: List, NoDefault: true,
		Doc: "Directories of the data, one for each volume."},
	{Name: "num.partitions", Type: Int, Default: "1", check: atLeast(1),
		Doc: "Partitions of a new topic if its creator does not say."},
	{Name: "auto.create.topics.enable", Type: Boolean, Default: "true",
		Doc: "Whether a topic comes into being when a client asks for its metadata and allows it."},
	{Name: "delete.topic.enable", Type: Boolean, Default: "true",
		Doc: "Whether topics may be deleted."},
	{Name: "producer.id.expiration.ms", Type: Int, Default: "86400000", check: atLeast(1),
		Doc: "Idle time in milliseconds after which a producer's sequence numbers are forgotten."},
}
