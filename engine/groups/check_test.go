package groups

import (
	"fmt"
	"sort"
	"strings"
	"testing"
)

// replayed is a new coordinator that has read all that was written.
func (h *harness) replayed() *Coordinator {
	c := New(h.opt)
	for _, r := range h.log.written {
		if err := c.Replay(r.Key, r.Value); err != nil {
			panic(err)
		}
	}
	return c
}

// durable is what of a coordinator's state must survive; metadata only of groups
// that are not amid a rebalance, as only settled ones are stored.
func durable(c *Coordinator, skip func(id string) bool) string {
	var out []string
	for id, g := range c.groups {
		if g.hasMeta && !skip(id) {
			out = append(out, fmt.Sprintf("%s %s %s %q %d %q", id, g.state, g.protoType, g.protocol, g.gen, g.leader))
			for _, m := range g.byOrder() {
				out = append(out, fmt.Sprintf("%s %s %d %d %x %x", id, m.id, m.sessionMs, m.rebalMs, m.metadata(g.protocol), m.assignment))
			}
			if g.state == Empty {
				out = append(out, fmt.Sprintf("%s since %d", id, g.sinceMs))
			}
		}
		for tp, o := range g.offsets {
			out = append(out, fmt.Sprintf("%s %v %+v", id, tp, o))
		}
	}
	sort.Strings(out)
	return strings.Join(out, "\n")
}

// check compares the live state with the replayed one, and the invariants.
func (h *harness) check(t testing.TB) {
	t.Helper()
	if len(h.log.held) == 0 {
		skip := func(id string) bool {
			g := h.c.groups[id]
			return h.log.unsaved[id] || g != nil && g.state != Stable && g.state != Empty
		}
		if live, again := durable(h.c, skip), durable(h.replayed(), skip); live != again {
			t.Errorf("state after replay differs\nlive:\n%s\nreplayed:\n%s", live, again)
		}
	}
	for i, g := range h.c.timers {
		if g.index != i || g.wake == 0 || h.c.groups[g.id] != g {
			t.Errorf("heap entry %d: group %s index=%d wake=%d", i, g.id, g.index, g.wake)
		}
	}
	for id, g := range h.c.groups {
		h.checkGroup(t, id, g)
	}
}

func (h *harness) checkGroup(t testing.TB, id string, g *group) {
	t.Helper()
	fail := func(what string) { t.Errorf("group %s (%s): %s", id, g.state, what) }
	if next := g.next(); next != 0 && (g.wake == 0 || g.wake > next) {
		fail(fmt.Sprintf("timer at %d does not come for deadline %d", g.wake, next))
	}
	if g.state == Dead {
		fail("dead group is listed")
	}
	if (g.state == Empty) != (len(g.members) == 0) && g.state != Preparing {
		fail("state does not fit its members")
	}
	for mid, m := range g.members {
		if m.id != mid {
			fail("member has another id than its key")
		}
		if m.instance != nil && g.static[*m.instance] != mid {
			fail("static member " + mid + " is not named by its instance")
		}
		if m.join != nil && g.state != Preparing || m.sync != nil && g.state != Completing {
			fail("request of " + mid + " waits in the wrong state")
		}
		if g.state == Completing || g.state == Stable {
			if !g.common(g.protocol, "") {
				fail("protocol is not that of " + mid)
			}
		}
	}
	if n := len(g.static); n > len(g.members) {
		fail("instance without member")
	}
	if g.state == Stable || g.state == Completing {
		if g.members[g.leader] == nil {
			fail("leader is no member")
		}
	}
}
