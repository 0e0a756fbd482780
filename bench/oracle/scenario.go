package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Scenario is one parsed scenario file.
type Scenario struct {
	// Name is the file's name without its extension; it prefixes the names of topics and groups.
	Name  string
	stmts []stmt
}

// stmt is one statement with its line number.
type stmt struct {
	line     int
	conn     string
	verb     string   // an API's name, or raw, recv, close, topic, sleep, for
	args     []string // version, options
	body     value    // nil without {…}
	captures []capture
	block    []stmt // of a for
}

// capture is "-> name = path".
type capture struct{ name, path string }

// Load reads the scenario file at path.
func Load(path string) (*Scenario, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	stmts, err := parseScenario(string(src))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Scenario{Name: name, stmts: stmts}, nil
}

// logical is a statement's text with its continuation lines.
type logical struct {
	line int
	text string
	caps []string
}

func logicalLines(src string) []logical {
	var out []logical
	depth := 0
	indent := 0
	for i, raw := range strings.Split(src, "\n") {
		line := stripComment(raw)
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		in := len(line) - len(strings.TrimLeft(line, " "))
		continues := len(out) > 0 && (depth > 0 || in > indent && !isOpener(out[len(out)-1].text))
		switch {
		case continues && depth == 0 && strings.HasPrefix(trimmed, "->"):
			last := &out[len(out)-1]
			last.caps = append(last.caps, strings.TrimSpace(trimmed[2:]))
		case continues:
			out[len(out)-1].text += " " + trimmed
		default:
			indent = in
			out = append(out, logical{line: i + 1, text: trimmed})
		}
		depth += brackets(trimmed)
	}
	return out
}

func isOpener(text string) bool { return strings.HasPrefix(text, "for ") }

// stripComment cuts a line at a # that starts it or follows two spaces.
func stripComment(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	if i := strings.Index(line, "  # "); i >= 0 {
		return line[:i]
	}
	return line
}

func brackets(s string) int {
	depth, quoted := 0, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '{' || r == '[':
			depth++
		case r == '}' || r == ']':
			depth--
		}
	}
	return depth
}

func parseScenario(src string) ([]stmt, error) {
	stack := [][]stmt{nil}
	var loops []stmt
	for _, l := range logicalLines(src) {
		if l.text == "end" {
			if len(loops) == 0 {
				return nil, fmt.Errorf("line %d: end without for", l.line)
			}
			loop := loops[len(loops)-1]
			loop.block = stack[len(stack)-1]
			loops, stack = loops[:len(loops)-1], stack[:len(stack)-1]
			stack[len(stack)-1] = append(stack[len(stack)-1], loop)
			continue
		}
		s, err := parseStmt(l)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.line, err)
		}
		if s.verb == "for" {
			loops, stack = append(loops, s), append(stack, nil)
			continue
		}
		stack[len(stack)-1] = append(stack[len(stack)-1], s)
	}
	if len(loops) > 0 {
		return nil, fmt.Errorf("line %d: for without end", loops[0].line)
	}
	return stack[0], nil
}

func parseStmt(l logical) (stmt, error) {
	s := stmt{line: l.line, conn: "main"}
	head := l.text
	if i := strings.IndexByte(head, '{'); i >= 0 {
		body, err := parseValue(head[i:])
		if err != nil {
			return s, err
		}
		s.body, head = body, head[:i]
	}
	words := strings.Fields(head)
	if len(words) > 0 && strings.HasSuffix(words[0], ":") {
		s.conn, words = strings.TrimSuffix(words[0], ":"), words[1:]
	}
	if len(words) == 0 {
		return s, fmt.Errorf("a statement expected")
	}
	s.verb, s.args = words[0], words[1:]
	for _, c := range l.caps {
		name, path, ok := strings.Cut(c, "=")
		if !ok {
			return s, fmt.Errorf("-> %s: name = path expected", c)
		}
		s.captures = append(s.captures, capture{strings.TrimSpace(name), strings.TrimSpace(path)})
	}
	return s, nil
}
