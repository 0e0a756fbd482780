package groups

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScenarios runs testdata: each line of input is one call, each line of output
// an answer or a record written. A file starts with a new coordinator; so does
// "reset", which can set the initial rebalance delay.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		h := newHarness(0)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			h.out.Reset()
			switch d.Cmd {
			case "reset":
				var delay int64
				d.MaybeScanArgs(t, "delay", &delay)
				h = newHarness(delay)
			case "run":
				for _, line := range strings.Split(d.Input, "\n") {
					h.do(line)
					h.check(t)
				}
			default:
				d.Fatalf(t, "no such command")
			}
			return h.out.String()
		})
	})
}
