package oracle

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Runner runs scenarios against one broker.
type Runner struct {
	Addr string
	// Scenarios are the names of all scenarios that the broker sees, so that one does not see
	// the topics and groups of another.
	Scenarios []string
}

// run is the state of one scenario that runs.
type run struct {
	*Runner
	scope *scope
	norm  *normaliser
	conns map[string]*conn
	order []string // of conns
	out   Transcript
}

// Run runs one scenario. An error means that the scenario itself is wrong, or that the
// broker cannot be reached; whatever the broker answers is in the transcript.
func (r *Runner) Run(s *Scenario) (Transcript, error) {
	now := time.Now().UnixMilli()
	// The time makes the names new on a broker that has seen the scenario before.
	sc := &scope{prefix: s.Name + "." + strconv.FormatInt(now, 36) + ".", vars: map[string]string{}, start: now, base: now - baseMillis}
	x := &run{Runner: r, scope: sc, norm: newNormaliser(sc), conns: map[string]*conn{}}
	defer x.closeAll()
	if err := x.stmts(s.stmts); err != nil {
		return x.out, fmt.Errorf("%s: %w", s.Name, err)
	}
	x.unread()
	return x.out, nil
}

func (x *run) stmts(list []stmt) error {
	for i := range list {
		if err := x.stmt(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) stmt(st *stmt) error {
	err := x.dispatch(st)
	if err != nil && !strings.HasPrefix(err.Error(), "line ") {
		return fmt.Errorf("line %d: %w", st.line, err)
	}
	return err
}

func (x *run) dispatch(st *stmt) error {
	switch st.verb {
	case "for":
		return x.loop(st)
	case "topic":
		return x.topic(st)
	case "sleep":
		return x.sleep(st)
	case "close":
		x.drop(st.conn)
		return nil
	case "recv":
		return x.recv(st)
	case "raw":
		return x.raw(st)
	}
	return x.request(st)
}

// loop is: for VAR API [FROM..TO].
func (x *run) loop(st *stmt) error {
	if len(st.args) < 2 {
		return errors.New("for VAR API [FROM..TO] expected")
	}
	spec := "all"
	if len(st.args) > 2 {
		spec = st.args[2]
	}
	versions, err := parseVersions(st.args[1], spec)
	if err != nil {
		return err
	}
	for _, v := range versions {
		x.scope.vars[st.args[0]] = fmt.Sprint(v)
		if err := x.stmts(st.block); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) sleep(st *stmt) error {
	if len(st.args) != 1 {
		return errors.New("sleep DURATION expected")
	}
	d, err := time.ParseDuration(st.args[0])
	time.Sleep(d)
	return err
}

func (x *run) conn(name string) (*conn, error) {
	if c, ok := x.conns[name]; ok {
		return c, nil
	}
	c, err := dial(x.Addr)
	if err != nil {
		return nil, err
	}
	x.conns[name] = c
	x.order = append(x.order, name)
	return c, nil
}

func (x *run) drop(name string) {
	if c, ok := x.conns[name]; ok {
		c.c.Close()
		delete(x.conns, name)
	}
}

func (x *run) closeAll() {
	for name := range x.conns {
		x.drop(name)
	}
}

func (x *run) request(st *stmt) error {
	spec := ""
	if len(st.args) > 0 {
		var err error
		if spec, err = x.scope.expand(st.args[0]); err != nil {
			return err
		}
	}
	versions, err := parseVersions(st.verb, spec)
	if err != nil {
		return err
	}
	for _, v := range versions {
		if err := x.requestAt(st, v); err != nil {
			return fmt.Errorf("line %d: v%d: %w", st.line, v, err)
		}
	}
	return nil
}

const untilTimeout = 15 * time.Second

func (x *run) requestAt(st *stmt, version int16) error {
	step, err := newStep(x.scope, st, version)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(untilTimeout)
	for {
		c, err := x.conn(st.conn)
		if err != nil {
			return err
		}
		if len(c.pending) > 0 && !step.async && !step.noreply {
			return errors.New("earlier answers of this connection have not been received")
		}
		c.corr++
		s := &sent{stmt: st, step: *step, corr: c.corr, at: time.Now()}
		s.failure = c.write(step.frame(c.corr))
		if step.noreply {
			return nil
		}
		c.pending = append(c.pending, s)
		if step.async {
			return nil
		}
		block, resp := x.answer(st.conn, c)
		done := step.until == "" || x.reached(step.until, block.Lines)
		if !done && time.Now().After(deadline) {
			block.Lines = append(block.Lines, Line{"until", "not reached"})
			done = true
		}
		if done {
			return x.settle(s, st.captures, block, resp)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (x *run) reached(until string, lines []Line) bool {
	path, want, _ := strings.Cut(until, "=")
	for _, l := range lines {
		if l.Path == path {
			return l.Value == want || strings.HasPrefix(l.Value, want+" ")
		}
	}
	return want == absent
}

func (x *run) recv(st *stmt) error {
	c := x.conns[st.conn]
	if c == nil { // the broker closed it before this answer
		x.out = append(x.out, Block{Title: st.conn + " recv", Line: st.line, Lines: []Line{{"connection", errClosed.Error()}}})
		return nil
	}
	if len(c.pending) == 0 {
		return errors.New("no answer is due")
	}
	s := c.pending[0]
	block, resp := x.answer(st.conn, c)
	return x.settle(s, st.captures, block, resp)
}

// answer reads the answer to the oldest request of a connection.
func (x *run) answer(name string, c *conn) (Block, kmsg.Response) {
	s := c.pending[0]
	c.pending = c.pending[1:]
	b := Block{Title: s.step.title(s.stmt), Line: s.stmt.line}
	frame, err := c.read(answerTimeout)
	if s.failure != nil {
		err = s.failure
	}
	if err != nil {
		x.drop(name)
		b.Lines = []Line{{"connection", err.Error()}}
		return b, nil
	}
	took := time.Since(s.at)
	resp, err := s.step.decode(s.corr, frame)
	if resp != nil {
		d := dumper{norm: x.norm, foreign: x.foreign}
		d.strct("", reflect.ValueOf(resp).Elem(), "")
		b.Lines = d.lines
	}
	if err != nil {
		b.Lines = append(b.Lines, Line{"wire", err.Error()})
	}
	if s.step.to > 0 {
		b.Lines = append(b.Lines, Line{"time", timeClass(took, s.step.from, s.step.to)})
	}
	return b, resp
}

func timeClass(took, from, to time.Duration) string {
	if took >= from && took <= to {
		return fmt.Sprintf("%s..%s", from, to)
	}
	return took.String()
}

// settle adds the block to the transcript and takes the captures.
func (x *run) settle(s *sent, captures []capture, b Block, resp kmsg.Response) error {
	if !s.step.quiet {
		x.out = append(x.out, b)
	}
	for _, c := range captures {
		if resp == nil {
			x.scope.vars[c.name] = ""
			continue
		}
		v, err := lookup(reflect.ValueOf(resp).Elem(), c.path)
		if err != nil {
			// The broker's answer lacks it: the transcript shows that, later steps go on with nothing.
			v = ""
		}
		x.scope.vars[c.name] = v
	}
	return nil
}

func (x *run) foreign(name string) bool {
	if strings.HasPrefix(name, x.scope.prefix) {
		return false
	}
	for _, s := range x.Scenarios {
		if strings.HasPrefix(name, s+".") {
			return true
		}
	}
	return strings.HasPrefix(name, warmUpGroup)
}

// unread looks for answers that nobody was due.
func (x *run) unread() {
	for _, name := range x.order {
		c := x.conns[name]
		if c == nil {
			continue
		}
		frame, err := c.read(50 * time.Millisecond)
		if errors.Is(err, errSilent) {
			continue
		}
		what := fmt.Sprintf("%d bytes without a request", len(frame))
		if err != nil {
			what = err.Error()
		}
		x.out = append(x.out, Block{Title: name + " end", Lines: []Line{{"connection", what}}})
		x.drop(name)
	}
}
