package config

import "slices"

// ignoredProcess are Kafka's settings of its process.
var ignoredProcess = slices.Concat(
	ignored("A setting of quotas or queues that spate does not have.",
		Definition{Name: "client.quota.callback.class", Type: Class, NoDefault: true},
		Definition{Name: "max.connection.creation.rate", Type: Int, Default: "2147483647", check: atLeast(0), Dynamic: true},
		Definition{Name: "max.connections.per.ip.overrides", Type: String},
		Definition{Name: "queued.max.request.bytes", Type: Long, Default: "-1"},
		Definition{Name: "queued.max.requests", Type: Int, Default: "500", check: atLeast(1)},
		Definition{Name: "quota.window.num", Type: Int, Default: "11", check: atLeast(1)},
		Definition{Name: "quota.window.size.seconds", Type: Int, Default: "1", check: atLeast(1)},
	),
	ignored("A setting of Kafka's metrics. spate serves its own over HTTP.",
		Definition{Name: "kafka.metrics.polling.interval.secs", Type: Int, Default: "10", check: atLeast(1)},
		Definition{Name: "kafka.metrics.reporters", Type: List},
		Definition{Name: "metric.reporters", Type: List, Default: "org.apache.kafka.common.metrics.JmxReporter", Dynamic: true},
		Definition{Name: "metrics.num.samples", Type: Int, Default: "2", check: atLeast(1)},
		Definition{Name: "metrics.recording.level", Type: String, Default: "INFO"},
		Definition{Name: "metrics.sample.window.ms", Type: Long, Default: "30000", check: atLeast(1)},
		Definition{Name: "telemetry.max.bytes", Type: Int, Default: "1048576", check: atLeast(1)},
	),
	ignored("A setting that loads Java classes. spate has no such plug-ins.",
		Definition{Name: "alter.config.policy.class.name", Type: Class, NoDefault: true},
		Definition{Name: "config.providers", Type: List, Dynamic: true},
		Definition{Name: "create.topic.policy.class.name", Type: Class, NoDefault: true},
	),
	ignored("A setting of Kafka's threads and queues. spate works without it.",
		Definition{Name: "delete.records.purgatory.purge.interval.requests", Type: Int, Default: "1"},
		Definition{Name: "fetch.purgatory.purge.interval.requests", Type: Int, Default: "1000"},
		Definition{Name: "num.io.threads", Type: Int, Default: "8", check: atLeast(1), Dynamic: true},
		Definition{Name: "producer.purgatory.purge.interval.requests", Type: Int, Default: "1000"},
		Definition{Name: "socket.listen.backlog.size", Type: Int, Default: "50", check: atLeast(1)},
	),
)
