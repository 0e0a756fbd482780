//go:build race

package kafka

// raceEnabled: the race detector makes pools forget on purpose.
const raceEnabled = true
