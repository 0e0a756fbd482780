package txn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// scenario runs the commands of one file in testdata against one partition.
type scenario struct {
	p    *Producers
	next int64 // offset
	now  int64
}

func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &scenario{p: NewProducers(DefaultMaxProducers)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	if d.HasArg("now") {
		d.ScanArgs(t, "now", &s.now)
	}
	switch d.Cmd {
	case "new":
		var limit int
		d.ScanArgs(t, "max", &limit)
		*s = scenario{p: NewProducers(limit)}
		return ""
	case "produce", "check", "replay":
		return s.produce(t, d)
	case "marker":
		return s.submit(BatchMeta{ProducerID: int64(arg(t, d, "pid", 1)), Epoch: int16(arg(t, d, "epoch", 0)), Count: 1,
			Marker: true, CoordinatorEpoch: int32(arg(t, d, "coordinator", 0))}, true)
	case "produce-many":
		for i := range arg(t, d, "count", 0) {
			s.submit(BatchMeta{ProducerID: int64(arg(t, d, "from", 0) + i), Count: 1}, true)
			s.now++
		}
		return s.state()
	case "expire":
		return fmt.Sprintf("forgot %d\n", s.p.Expire(s.now, int64(arg(t, d, "after", 0))))
	case "restart":
		snap := s.p.Encode(nil)
		p, err := Decode(snap, s.p.max)
		if err != nil {
			return err.Error()
		}
		if string(p.Encode(nil)) != string(snap) {
			return "decoding and encoding again gives another snapshot\n"
		}
		s.p = p
		return fmt.Sprintf("%d bytes\n", len(snap))
	case "state":
		return s.state()
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

func arg(t *testing.T, d *datadriven.TestData, name string, def int) int {
	if d.HasArg(name) {
		d.ScanArgs(t, name, &def)
	}
	return def
}

func (s *scenario) produce(t *testing.T, d *datadriven.TestData) string {
	m := BatchMeta{ProducerID: int64(arg(t, d, "pid", 1)), Epoch: int16(arg(t, d, "epoch", 0)),
		BaseSequence: int32(arg(t, d, "seq", 0)), Count: int32(arg(t, d, "count", 1)), Transactional: d.HasArg("txn")}
	if d.Cmd == "replay" { // as recovery does, without asking
		m.BaseOffset, m.Timestamp, m.NowMs = s.next, s.now, s.now
		s.next += int64(m.Count)
		s.p.Append(m)
		return "replayed\n"
	}
	return s.submit(m, d.Cmd == "produce")
}

func (s *scenario) submit(m BatchMeta, doAppend bool) string {
	v := s.p.Check(m)
	switch v.Outcome {
	case Refuse:
		return "refused: " + v.Err.Error() + "\n"
	case Duplicate:
		return fmt.Sprintf("duplicate of offset %d, timestamp %d\n", v.BaseOffset, v.Timestamp)
	}
	if !doAppend {
		return "would accept\n"
	}
	m.BaseOffset, m.Timestamp, m.NowMs = s.next, s.now, s.now
	s.p.Append(m)
	s.next += int64(m.Count)
	return fmt.Sprintf("accepted at %d\n", m.BaseOffset)
}

func (s *scenario) state() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d producers, oldest open transaction %d\n", s.p.Len(), s.p.OldestOpenTxn())
	for i := range s.p.entries {
		e := &s.p.entries[i]
		if i == 6 {
			fmt.Fprintf(&b, "  and %d more\n", s.p.Len()-i)
			break
		}
		fmt.Fprintf(&b, "  pid %d epoch %d used %d txn %d coordinator %d:", e.id, e.epoch, e.lastUsed, e.txnFirst, e.coordinatorEpoch)
		for j := range int(e.batches) {
			w := &e.newest
			if j > 0 {
				w = &e.older[j-1]
			}
			fmt.Fprintf(&b, " [%d-%d]@%d", w.firstSequence(), w.lastSequence, w.baseOffset)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
