package groups

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// client is what a random client remembers of its last answers.
type client struct {
	name, id string
	static   bool
	gen      int32
	lead     []string // members to assign to; nil if not the leader
}

// TestRandom has clients of two groups do what they please, with a log that is
// late and fails at times, and restarts. After each step the invariants hold and
// replaying what was written gives the live state; in the end all are answered.
func TestRandom(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			h := newHarness(int64(r.IntN(2)) * 3000)
			var clients []*client
			for i := range 8 {
				clients = append(clients, &client{name: fmt.Sprintf("c%d", i), static: i%3 == 0})
			}
			for i := 0; i < 400 && !t.Failed(); i++ {
				h.random(r, clients)
				h.check(t)
			}
			h.log.fail = false
			h.log.release()
			h.advance(3_600_000)
			h.check(t)
			for tag, n := range h.open {
				if n != 0 {
					t.Errorf("%d requests of %s were never answered", n, tag)
				}
			}
			for id, g := range h.c.groups {
				if len(g.members)+len(g.pending) > 0 {
					t.Errorf("silent members are still in group %s", id)
				}
			}
			if t.Failed() {
				t.Log(h.out.String())
			}
		})
	}
}

// random does one thing.
func (h *harness) random(r *rand.Rand, clients []*client) {
	i := r.IntN(len(clients))
	c := clients[i]
	group := fmt.Sprintf("g=g%d", i%2)
	who := fmt.Sprintf("%s %s gen=%d", c.name, group, c.gen)
	if c.id != "" {
		who += " member=" + c.id
	}
	if c.static {
		who += " inst=" + c.name
	}
	h.print("--")
	switch n := r.IntN(100); {
	case n < 35:
		h.randomJoin(r, c, who)
	case n < 55:
		var assign []string
		for _, id := range c.lead {
			assign = append(assign, fmt.Sprintf("%s:%d", id, r.IntN(100)))
		}
		h.do("sync " + who + " assign=" + strings.Join(assign, ","))
	case n < 65:
		h.do("heartbeat " + who)
	case n < 75:
		h.do(fmt.Sprintf("commit %s offsets=t-%d:%d", who, r.IntN(3), r.IntN(1000)))
	case n < 78:
		h.do(fmt.Sprintf("commit x %s offsets=u-%d:%d", group, r.IntN(3), r.IntN(1000)))
	case n < 81:
		h.do("leave " + who)
	case n < 82:
		h.do("delete x " + group)
	case n < 84:
		h.do(fmt.Sprintf("delete-offsets x %s parts=u-%d", group, r.IntN(3)))
	case n < 90:
		h.do(fmt.Sprintf("advance %dms", r.IntN(12_000)))
	case n < 93:
		h.do("hold")
	case n < 96:
		h.log.fail = false
		h.do("release")
	case n < 97:
		h.do("snapshot x " + group)
	case n < 98 && len(h.log.held) == 0:
		h.do("fail")
	case n < 99:
		h.do("heal")
	case len(h.log.held) == 0 && !h.log.fail:
		h.restart()
	}
}

// restart drops all requests, as their connections are gone.
func (h *harness) restart() {
	h.do("restart")
	clear(h.open)
}

func (h *harness) randomJoin(r *rand.Rand, c *client, who string) {
	_, tag, f := parse("join " + who)
	if c.static && r.IntN(2) == 0 {
		delete(f, "member") // a new incarnation
	}
	q := &JoinRequest{Group: f["g"], MemberID: f["member"], InstanceID: f.inst(), ClientID: tag, SessionMs: 6000 + int64(r.IntN(20_000)),
		RebalMs: int64(r.IntN(20_000)), ProtoType: "consumer", NeedsID: r.IntN(2) == 0, CanSkip: r.IntN(2) == 0}
	for _, name := range []string{"range", "rr"}[r.IntN(2):] {
		q.Protocols = append(q.Protocols, Protocol{name, subscription([]string{"t", "t+u"}[r.IntN(2)])})
	}
	of := h.c
	h.open[tag]++
	h.c.Join(q, func(res JoinResult) {
		if h.c == of {
			h.open[tag]--
		}
		h.print("%s: join %+v", tag, res)
		switch {
		case res.Err == nil:
			c.id, c.gen, c.lead = res.MemberID, res.Generation, nil
			for _, m := range res.Members {
				c.lead = append(c.lead, m.ID)
			}
		case res.Err == ErrMemberIDRequired:
			c.id = res.MemberID
		case res.Err == ErrUnknownMember || res.Err == ErrFencedInstance:
			c.id = ""
		}
	})
}
