//go:build race

package netpoll

// raceEnabled: the race detector allocates itself.
const raceEnabled = true
