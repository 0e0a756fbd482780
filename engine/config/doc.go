// Package config is spate's configuration vocabulary: Kafka's broker and topic
// settings under Kafka's names, and spate's own under "spate.".
//
// Every setting is one entry of a table (name, type, default, limits, text for
// people, when it may change). A value's layers, strongest first:
//
//	topic override               retention.ms of the topic
//	dynamic, this broker         log.retention.ms set for broker 1
//	dynamic, all brokers         log.retention.ms set for broker ""
//	static                       --set, then environment, then settings file
//	default                      the table's
//
// A broker setting that gives a topic setting's default is its synonym; where
// there are several (hours, minutes, milliseconds) the finest that is set on
// any layer wins, as in Kafka.
package config
