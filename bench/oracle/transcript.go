package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// Line is one field of an answer.
type Line struct{ Path, Value string }

// Block is what one step gave.
type Block struct {
	Title string // CONN API vN
	Line  int    // in the scenario file
	Lines []Line
}

// Transcript is what one scenario gave.
type Transcript []Block

// sameLine stands for the lines of the block before: most versions answer as the one below.
const sameLine = "as above"

func (t Transcript) String() string {
	var out strings.Builder
	for i, b := range t {
		fmt.Fprintf(&out, "== %s (%d)\n", b.Title, b.Line)
		if i > 0 && len(b.Lines) > 2 && slices.Equal(b.Lines, t[i-1].Lines) {
			out.WriteString(sameLine + "\n\n")
			continue
		}
		for _, l := range b.Lines {
			fmt.Fprintf(&out, "%s = %s\n", l.Path, l.Value)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// ParseTranscript reads what Transcript.String wrote.
func ParseTranscript(src string) (Transcript, error) {
	var out Transcript
	for i, line := range strings.Split(src, "\n") {
		if line == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "== "); ok {
			b, err := parseTitle(rest)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			out = append(out, b)
			continue
		}
		if line == sameLine && len(out) > 1 {
			out[len(out)-1].Lines = out[len(out)-2].Lines
			continue
		}
		path, val, ok := strings.Cut(line, " = ")
		if !ok || len(out) == 0 {
			return nil, fmt.Errorf("line %d: PATH = VALUE expected", i+1)
		}
		last := &out[len(out)-1]
		last.Lines = append(last.Lines, Line{path, val})
	}
	return out, nil
}

func parseTitle(s string) (Block, error) {
	open := strings.LastIndex(s, " (")
	if open < 0 {
		return Block{}, fmt.Errorf("title without a line number")
	}
	b := Block{Title: s[:open]}
	_, err := fmt.Sscanf(s[open:], " (%d)", &b.Line)
	return b, err
}

// Diff is one field that differs.
type Diff struct {
	Scenario, Title string
	Line            int
	Path            string
	Kafka, Spate    string // <absent>: the field has its default, or the element is not there
}

func (d Diff) String() string {
	return fmt.Sprintf("%s:%d: %s: %s\n    kafka: %s\n    spate: %s", d.Scenario, d.Line, d.Title, d.Path, d.Kafka, d.Spate)
}

const absent = "<absent>"

// Compare lists the fields in which got differs from want.
func Compare(scenario string, want, got Transcript) []Diff {
	var out []Diff
	for i, w := range want {
		if i >= len(got) || got[i].Title != w.Title {
			have := "the scenario ended"
			if i < len(got) {
				have = got[i].Title
			}
			return append(out, Diff{scenario, w.Title, w.Line, "step", w.Title, have})
		}
		out = append(out, compareBlock(scenario, w, got[i])...)
	}
	if len(got) > len(want) {
		extra := got[len(want)]
		out = append(out, Diff{scenario, extra.Title, extra.Line, "step", "not recorded: run make oracle", extra.Title})
	}
	return out
}

func compareBlock(scenario string, want, got Block) []Diff {
	kafka, spate := fieldsOf(want), fieldsOf(got)
	var out []Diff
	seen := map[string]bool{}
	for _, l := range slices.Concat(want.Lines, got.Lines) {
		path := l.Path
		if p := missing(path, kafka, spate); p != "" {
			path = p
		}
		if seen[path] || kafka[path] == spate[path] {
			continue
		}
		seen[path] = true
		if followsFrom(path, kafka, spate) {
			continue
		}
		out = append(out, Diff{scenario, want.Title, want.Line, path, side(path, kafka), side(path, spate)})
	}
	return out
}

// fieldsOf gives the values by path, and "" for the elements that hold them.
func fieldsOf(b Block) map[string]string {
	out := map[string]string{}
	for _, l := range b.Lines {
		for i := range l.Path {
			if l.Path[i] == ']' {
				if _, ok := out[l.Path[:i+1]]; !ok {
					out[l.Path[:i+1]] = present
				}
			}
		}
		out[l.Path] = l.Value
	}
	return out
}

// present is the value of an element that has fields.
const present = "present"

func side(path string, fields map[string]string) string {
	if v, ok := fields[path]; ok {
		return v
	}
	return absent
}

// missing is the outermost element around path that only one of the two has; "" if both have all of them.
func missing(path string, a, b map[string]string) string {
	for i := range path {
		if path[i] != ']' {
			continue
		}
		_, inA := a[path[:i+1]]
		_, inB := b[path[:i+1]]
		if inA != inB {
			return path[:i+1]
		}
	}
	return ""
}

// followsFrom tells whether a field is there on one side only because the error beside or above it
// differs, which is reported.
func followsFrom(path string, a, b map[string]string) bool {
	_, inA := a[path]
	_, inB := b[path]
	if inA && inB {
		return false
	}
	for end := len(path); end > 0; {
		end = strings.LastIndexAny(path[:end], ".]")
		if end < 0 {
			break
		}
		above := path[:end]
		if path[end] == ']' {
			above = path[:end+1]
		}
		code := above + ".ErrorCode"
		if code != path && a[code] != b[code] {
			return true
		}
	}
	return path != "ErrorCode" && a["ErrorCode"] != b["ErrorCode"]
}
