package kafka

import "math"

// Authorized operations as Kafka tells them without an authorizer, where all is
// allowed: bits by operation number, of those that the resource knows (KIP-430).
const (
	topicOperations   = 0xdf8  // read, write, create, delete, alter, describe, describe and alter configs
	clusterOperations = 0x1fa0 // create, alter, describe, cluster action, describe and alter configs, idempotent write
	noOperations      = math.MinInt32
)
