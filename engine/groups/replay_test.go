package groups

import (
	"fmt"
	"testing"
	"time"
)

// FuzzReplay replays any record, alone and after others; it must give an error or
// a state that the coordinator can go on with.
func FuzzReplay(f *testing.F) {
	h := newHarness(0)
	for _, line := range []string{"join a inst=A", "sync a member=A-1 inst=A assign=A-1:x", "commit x g=s offsets=t-0:1 meta=m",
		"commit x g=s offsets=t-1:1 retention=5", "delete x g=s", "leave a inst=A"} {
		h.do(line)
	}
	for _, r := range h.log.written {
		f.Add(r.Key, r.Value, r.Value == nil)
	}
	f.Add([]byte{0, 9}, []byte{}, false)
	f.Add([]byte{0, 2, 0, 1, 'g'}, []byte{0, 3, 0xff}, false)
	f.Fuzz(func(t *testing.T, key, value []byte, deleted bool) {
		if deleted {
			value = nil
		} else if value == nil {
			value = []byte{}
		}
		h := newHarness(0)
		h.do("commit x g=s offsets=t-0:1")
		h.do("join a")
		h.do("sync a member=a-1 assign=a-1:x")
		h.c = h.replayed()
		_ = h.c.Replay(key, value)
		for i := range value {
			value[i] = 0xaa // the buffer is the caller's
		}
		h.c.begin()
		h.check2(t)
		for _, g := range h.c.List() {
			h.c.Describe(g.Group)
		}
		h.c.Join(&JoinRequest{Group: "g", SessionMs: 6000, ProtoType: "consumer", Protocols: []Protocol{{"range", nil}}}, func(JoinResult) {})
		for range 10 {
			h.advance(1_000_000)
			h.check2(t)
		}
	})
}

// check2 holds for any record, also for what no coordinator has written.
func (h *harness) check2(t *testing.T) {
	for id, g := range h.c.groups {
		if next := g.next(); g.state == Dead || next != 0 && (g.wake == 0 || g.wake > next) {
			t.Errorf("group %s: state %s, timer at %d, deadline %d", id, g.state, g.wake, next)
		}
	}
}

// TestReplayKeepsNoBuffer overwrites each record after it was replayed.
func TestReplayKeepsNoBuffer(t *testing.T) {
	h := newHarness(0)
	h.do("join a inst=A")
	h.do("sync a member=A-1 inst=A assign=A-1:x")
	h.do("commit a member=A-1 gen=1 offsets=t-0:1 meta=m")
	c := New(h.opt)
	for _, r := range h.log.written {
		if err := c.Replay(r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{r.Key, r.Value} {
			for i := range b {
				b[i] = 0xaa
			}
		}
	}
	none := func(string) bool { return false }
	if got, want := durable(c, none), durable(h.c, none); got != want {
		t.Errorf("replayed:\n%s\nlive:\n%s", got, want)
	}
}

// TestIdleGroupsCostNothing has the timer turn with ten thousand idle groups that
// have members: it looks at none of them.
func TestIdleGroupsCostNothing(t *testing.T) {
	h := newHarness(0)
	h.opt.MaxGroups = 20_000
	h.c = New(h.opt)
	h.c.begin()
	h.log.print = func(string, ...any) {}
	for i := range 10_000 {
		id := fmt.Sprintf("g%d", i)
		h.c.Join(&JoinRequest{Group: id, SessionMs: 1_800_000, RebalMs: 1_800_000, ProtoType: "consumer",
			Protocols: []Protocol{{"range", nil}}}, func(r JoinResult) {
			h.c.Sync(&SyncRequest{Group: id, MemberID: r.MemberID, Generation: r.Generation}, func(SyncResult) {})
		})
	}
	if n := len(h.c.timers); n != 10_000 {
		t.Fatalf("heap has %d groups", n)
	}
	if n := testing.AllocsPerRun(100, func() { h.c.tick() }); n > 3 {
		t.Errorf("a turn of the timer allocates %v times", n)
	}
	begin := time.Now()
	for range 1000 {
		h.c.tick()
	}
	// Looking at all groups once takes longer than a millisecond.
	if d := time.Since(begin); d > 500*time.Millisecond {
		t.Errorf("1000 turns took %v", d)
	}
}

// TestTimerRuns has the real timer end a session.
func TestTimerRuns(t *testing.T) {
	h := newHarness(0)
	h.opt.Now, h.opt.MinSessionMs = time.Now, 1
	written := make(chan string, 10)
	h.log.print = func(f string, args ...any) { written <- fmt.Sprintf(f, args...) }
	c := New(h.opt)
	c.Start()
	defer c.Close()
	c.Join(&JoinRequest{Group: "g", ClientID: "a", SessionMs: 20, RebalMs: 1000, ProtoType: "consumer",
		Protocols: []Protocol{{"range", nil}}}, func(JoinResult) {})
	select {
	case got := <-written:
		if want := "write group g gen=2 members=[]"; got != want {
			t.Errorf("written %q, want %q", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the session did not end")
	}
}

// TestCloseWithoutStart must not wait for a timer that never ran.
func TestCloseWithoutStart(t *testing.T) {
	c := New(Options{Partitions: 1})
	c.Close()
	c.Close()
}
