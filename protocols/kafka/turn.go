package kafka

import "sync/atomic"

// turn is a request's time as the one request in work on its connection. It
// ends on any goroutine, before or after the handler has returned to the loop.
type turn struct{ state atomic.Int32 }

// States of a turn.
const (
	turnRunning int32 = iota // the handler has not returned
	turnWaiting              // it has returned without an answer
	turnOver                 // answered or failed
)

// begin starts a turn, for a turn that is used again.
func (t *turn) begin() { t.state.Store(turnRunning) }

// returned is called when the handler has returned; false if the turn is over.
func (t *turn) returned() bool { return t.state.CompareAndSwap(turnRunning, turnWaiting) }

// end ends the turn and lets the session go on; false if it was over already.
func (t *turn) end(s *session) bool {
	was := t.state.Swap(turnOver)
	if was == turnWaiting {
		s.wake()
	}
	return was != turnOver
}

func (t *turn) over() bool { return t.state.Load() == turnOver }
