package engine

import (
	"fmt"
	"testing"

	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/engine/groups"
)

// TestOldOffsetsDoNotKeepSegments: a group commits all the time while data comes
// and is deleted; the segments must go, and the offsets stay.
func TestOldOffsetsDoNotKeepSegments(t *testing.T) {
	dir := disk.NewMem(3)
	e := openEngine(t, dir)
	createTopic(t, e, "a", 1, nil)
	p := e.Partition("a", 0)
	commit := func(group string, at int64) {
		t.Helper()
		ch := make(chan error, 1)
		e.Groups().Commit(&groups.CommitRequest{Group: group, Generation: -1, Offsets: []groups.Commit{
			{TopicPartition: groups.TopicPartition{Topic: "a"}, Offset: at, LeaderEpoch: -1, RetentionMs: -1}}},
			func(err error) { ch <- err })
		if err := await(t, ch); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 80 {
		mustAppend(t, p, makeBatch(1, 100<<10, "x"))
		commit(fmt.Sprint("g", i%7), int64(i))
	}
	if n := e.Stats().Segments; n < 8 {
		t.Fatalf("only %d segments", n)
	}
	done := make(chan error, 1)
	p.DeleteRecords(-1, func(_ int64, err error) { done <- err })
	if err := await(t, done); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { e.janitor.poke(); return e.Stats().Segments <= 4 })
	check := func() {
		t.Helper()
		for i := 73; i < 80; i++ {
			got := e.Groups().Fetch(fmt.Sprint("g", i%7), []groups.TopicPartition{{Topic: "a"}})
			if got[0].Offset.Offset != int64(i) {
				t.Fatalf("g%d has %d, want %d", i%7, got[0].Offset.Offset, i)
			}
		}
		if e.Partition("a", 0).LogStart() != 80 || e.Partition("a", 0).HighWatermark() != 80 {
			t.Fatalf("log start %d, high watermark %d, want 80", e.Partition("a", 0).LogStart(), e.Partition("a", 0).HighWatermark())
		}
	}
	check()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	dir = dir.CrashClone(nil, disk.CrashOptions{})
	e = openEngine(t, dir)
	check()
	if r, err := verifyDir(t, e, dir); err != nil || r.Count != 0 {
		t.Fatalf("verify: %v %v", err, r.Problems)
	}
}

func verifyDir(t *testing.T, e *Engine, dir *disk.Mem) (VerifyReport, error) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return Verify(dir.CrashClone(nil, disk.CrashOptions{}), nil)
}
