package groups

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var errDisk = errors.New("disk is gone")

// fakeLog keeps records in memory; it can hold appends back and fail them.
type fakeLog struct {
	hold, fail bool
	held       []func()
	written    []Record
	at         []int32         // partition of each
	unsaved    map[string]bool // groups whose last metadata was not stored
	print      func(format string, args ...any)
}

func (l *fakeLog) Append(partition int32, records []Record, done func(error)) {
	f := func() {
		for _, r := range records {
			what, group := showRecord(r)
			if l.fail {
				l.print("lost %s", what)
			} else {
				l.print("write %s", what)
				l.at = append(l.at, partition)
				l.written = append(l.written, Record{append([]byte{}, r.Key...), append([]byte(nil), r.Value...)})
			}
			if group != "" {
				l.unsaved[group] = l.fail
			}
		}
		if l.fail {
			done(errDisk)
			return
		}
		done(nil)
	}
	if l.hold {
		l.held = append(l.held, f)
		return
	}
	f()
}

func (l *fakeLog) release() {
	held := l.held
	l.hold, l.held = false, nil
	for _, f := range held {
		f()
	}
}

// showRecord tells a record in words, and the group if it is one of metadata.
func showRecord(r Record) (what, group string) {
	var gk kmsg.GroupMetadataKey
	if r.Key[1] == groupKeyVersion && gk.ReadFrom(r.Key) == nil {
		if r.Value == nil {
			return "group " + gk.Group + " deleted", gk.Group
		}
		var v kmsg.GroupMetadataValue
		if err := v.ReadFrom(r.Value); err != nil {
			panic(err)
		}
		var ms []string
		for _, m := range v.Members {
			ms = append(ms, m.MemberID+":"+string(m.Assignment))
		}
		return fmt.Sprintf("group %s gen=%d members=[%s]", gk.Group, v.Generation, strings.Join(ms, " ")), gk.Group
	}
	var ok kmsg.OffsetCommitKey
	if err := ok.ReadFrom(r.Key); err != nil {
		panic(err)
	}
	what = fmt.Sprintf("offset %s %s-%d ", ok.Group, ok.Topic, ok.Partition)
	if r.Value == nil {
		return what + "deleted", ""
	}
	var v kmsg.OffsetCommitValue
	if err := v.ReadFrom(r.Value); err != nil {
		panic(err)
	}
	return what + fmt.Sprint(v.Offset), ""
}

// harness drives a coordinator by lines of text and notes what comes of it.
type harness struct {
	c     *Coordinator
	log   *fakeLog
	nowMs int64
	ids   int
	out   strings.Builder
	opt   Options
	gone  map[string]bool // deleted topics
	open  map[string]int  // requests without answer, by tag
}

func newHarness(delayMs int64) *harness {
	h := &harness{nowMs: 1_000_000, gone: map[string]bool{"missing": true}, open: map[string]int{}}
	h.log = &fakeLog{unsaved: map[string]bool{}, print: h.print}
	h.opt = Options{
		Log: h.log, Partitions: 50, InitialDelayMs: delayMs, MinSessionMs: 6000, MaxSessionMs: 1_800_000,
		MaxGroupSize: 8, MaxGroups: 100, MaxMetadataBytes: 16, RetentionMs: 3_600_000, SweepMs: 600_000,
		Now:    func() time.Time { return time.UnixMilli(h.nowMs) },
		NewID:  func() string { h.ids++; return strconv.Itoa(h.ids) },
		Exists: func(topic string, p int32) bool { return !h.gone[topic] && p < 10 },
	}
	h.c = New(h.opt)
	h.c.begin()
	return h
}

func (h *harness) print(format string, args ...any) { fmt.Fprintf(&h.out, format+"\n", args...) }

type fields map[string]string

func (f fields) str(k, or string) string {
	if v, ok := f[k]; ok {
		return v
	}
	return or
}

func (f fields) num(k string, or int64) int64 {
	v, ok := f[k]
	if !ok {
		return or
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (f fields) inst() *string {
	if v, ok := f["inst"]; ok {
		return &v
	}
	return nil
}

func (f fields) has(k string) bool { _, ok := f[k]; return ok }

// parse splits "verb tag key=value flag".
func parse(line string) (verb, tag string, f fields) {
	f = fields{}
	for i, w := range strings.Fields(line) {
		k, v, _ := strings.Cut(w, "=")
		switch {
		case i == 0:
			verb = w
		case i == 1 && !strings.Contains(w, "="):
			tag = w
		default:
			f[k] = v
		}
	}
	return verb, tag, f
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func subscription(topics string) []byte {
	m := kmsg.ConsumerMemberMetadata{}
	if topics != "" {
		m.Topics = strings.Split(topics, "+")
	}
	return m.AppendTo(nil)
}

func tps(s string) []TopicPartition {
	out := []TopicPartition{}
	for _, x := range list(s) {
		i := strings.LastIndexByte(x, '-')
		p, err := strconv.Atoi(x[i+1:])
		if err != nil {
			panic(err)
		}
		out = append(out, TopicPartition{x[:i], int32(p)})
	}
	return out
}

// do runs one line.
func (h *harness) do(line string) {
	verb, tag, f := parse(line)
	group := f.str("g", "g")
	switch verb {
	case "join":
		h.join(tag, group, f)
	case "sync":
		h.sync(tag, group, f)
	case "heartbeat":
		h.print("%s: heartbeat %v", tag, h.c.Heartbeat(group, f.str("member", ""), f.inst(), int32(f.num("gen", 1))))
	case "leave":
		errs, err := h.c.Leave(group, []LeaveMember{{f.str("member", ""), f.inst()}})
		h.print("%s: leave %v %v", tag, errs, err)
	case "commit":
		h.commit(tag, group, f)
	case "fetch":
		var parts []TopicPartition
		if f.has("parts") {
			parts = tps(f["parts"])
		}
		for _, o := range h.c.Fetch(group, parts) {
			h.print("%s-%d %d epoch=%d %q", o.Topic, o.Partition, o.Offset.Offset, o.LeaderEpoch, o.Metadata)
		}
	case "delete":
		h.c.Delete(group, func(err error) { h.print("%s: delete %v", tag, err) })
	case "delete-offsets":
		h.c.DeleteOffsets(group, tps(f["parts"]), func(errs []error, err error) {
			h.print("%s: delete-offsets %v %v", tag, errs, err)
		})
	case "topic-deleted":
		h.gone[tag] = true
		h.c.TopicDeleted(tag)
	case "advance":
		d, err := time.ParseDuration(tag)
		if err != nil {
			panic(err)
		}
		h.advance(d.Milliseconds())
	case "hold":
		h.log.hold = true
	case "release":
		h.log.release()
	case "fail":
		h.log.fail = true
	case "heal":
		h.log.fail = false
	case "restart":
		h.c = h.replayed()
		h.c.begin()
	case "snapshot":
		h.snapshot(group)
	case "describe":
		d, ok := h.c.Describe(group)
		h.print("%s exists=%v %s type=%s protocol=%s", d.Group, ok, d.State, d.ProtoType, d.Protocol)
		for _, m := range d.Members {
			h.print("  %s %s %s", m.ID, topicsOf(m.Metadata), m.Assignment)
		}
	case "list":
		for _, l := range h.c.List() {
			h.print("%s %s %s", l.Group, l.State, l.ProtoType)
		}
	default:
		panic("no such command: " + line)
	}
}

// snapshot has the log of a group's partition begin with a snapshot.
func (h *harness) snapshot(group string) {
	p := h.c.PartitionFor(group)
	ok := h.c.Snapshot(p, func(records []Record) {
		var written []Record
		var at []int32
		for i, r := range h.log.written {
			if h.log.at[i] != p {
				written, at = append(written, r), append(at, h.log.at[i])
			}
		}
		for _, r := range records {
			what, id := showRecord(r)
			h.print("snapshot %s", what)
			written, at = append(written, r), append(at, p)
			if id != "" {
				h.log.unsaved[id] = false
			}
		}
		h.log.written, h.log.at = written, at
	})
	h.print("snapshot %v", ok)
}

// advance moves the clock, and wakes the coordinator whenever it wants to be.
func (h *harness) advance(ms int64) {
	for end := h.nowMs + ms; h.nowMs < end; {
		h.nowMs += min(max(h.c.tick(), 1), end-h.nowMs)
	}
	h.c.tick()
}

func topicsOf(b []byte) string {
	var m kmsg.ConsumerMemberMetadata
	if len(b) == 0 || m.ReadFrom(b) != nil {
		return "-"
	}
	return strings.Join(m.Topics, "+")
}

func (h *harness) join(tag, group string, f fields) {
	q := &JoinRequest{Group: group, MemberID: f.str("member", ""), InstanceID: f.inst(), ClientID: tag,
		SessionMs: f.num("session", 10_000), RebalMs: f.num("rebal", 30_000), ProtoType: f.str("type", "consumer"),
		NeedsID: f.has("id"), CanSkip: f.has("skip")}
	for _, p := range list(f.str("proto", "range:t")) {
		name, topics, _ := strings.Cut(p, ":")
		q.Protocols = append(q.Protocols, Protocol{name, subscription(topics)})
	}
	h.open[tag]++
	h.c.Join(q, func(r JoinResult) {
		h.open[tag]--
		if r.Err != nil {
			h.print("%s: join %q %v", tag, r.MemberID, r.Err)
			return
		}
		var ms []string
		for _, m := range r.Members {
			ms = append(ms, m.ID+":"+topicsOf(m.Metadata))
		}
		skip := ""
		if r.Skip {
			skip = " skip"
		}
		h.print("%s: join ok gen=%d %s member=%s leader=%s members=[%s]%s", tag, r.Generation, r.Protocol, r.MemberID, r.Leader, strings.Join(ms, " "), skip)
	})
}

func (h *harness) sync(tag, group string, f fields) {
	q := &SyncRequest{Group: group, MemberID: f.str("member", ""), InstanceID: f.inst(),
		Generation: int32(f.num("gen", 1)), Assignments: map[string][]byte{}}
	if p, ok := f["proto"]; ok {
		q.Protocol = &p
	}
	for _, a := range list(f["assign"]) {
		id, what, _ := strings.Cut(a, ":")
		q.Assignments[id] = []byte(what)
	}
	h.open[tag]++
	h.c.Sync(q, func(r SyncResult) {
		h.open[tag]--
		if r.Err != nil {
			h.print("%s: sync %v", tag, r.Err)
			return
		}
		h.print("%s: sync ok %s %q", tag, r.Protocol, r.Assignment)
	})
}

func (h *harness) commit(tag, group string, f fields) {
	q := &CommitRequest{Group: group, MemberID: f.str("member", ""), InstanceID: f.inst(), Generation: int32(f.num("gen", -1))}
	for _, x := range list(f["offsets"]) {
		tp, n, _ := strings.Cut(x, ":")
		offset, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			panic(err)
		}
		q.Offsets = append(q.Offsets, Commit{TopicPartition: tps(tp)[0], Offset: offset, LeaderEpoch: int32(f.num("epoch", -1)),
			Metadata: f.str("meta", ""), RetentionMs: f.num("retention", -1)})
	}
	h.c.Commit(q, func(err error) {
		for _, o := range q.Offsets {
			if o.Err != nil {
				h.print("%s: commit %s-%d %v", tag, o.Topic, o.Partition, o.Err)
			}
		}
		h.print("%s: commit %v", tag, err)
	})
}
