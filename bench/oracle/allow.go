package oracle

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Allowed is one line of the allow-list: differences that have a reason.
type Allowed struct {
	Text   string // the line
	Reason string
	Used   int

	scenario, title, path, kafka, spate *regexp.Regexp
}

func (a *Allowed) matches(d Diff) bool {
	return a.scenario.MatchString(d.Scenario) && a.title.MatchString(d.Title) && a.path.MatchString(d.Path) &&
		a.kafka.MatchString(d.Kafka) && a.spate.MatchString(d.Spate)
}

// LoadAllowed reads an allow-list. Its lines are SCENARIO | API VERSION | PATH | KAFKA | SPATE | REASON: which
// fields, and which two values they may have. A * stands for any text, and {a,b} for one of several.
func LoadAllowed(path string) ([]*Allowed, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []*Allowed
	for i, line := range strings.Split(string(src), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, "|")
		if len(parts) != 6 || strings.TrimSpace(parts[5]) == "" {
			return nil, fmt.Errorf("%s:%d: SCENARIO | API VERSION | PATH | KAFKA | SPATE | REASON expected", path, i+1)
		}
		a := &Allowed{Text: line, Reason: strings.TrimSpace(parts[5])}
		a.scenario, a.title, a.path = glob(parts[0]), glob("* "+strings.TrimSpace(parts[1])), glob(parts[2])
		a.kafka, a.spate = glob(parts[3]), glob(parts[4])
		out = append(out, a)
	}
	return out, nil
}

func glob(s string) *regexp.Regexp {
	var out strings.Builder
	braces := false
	for _, r := range strings.TrimSpace(s) {
		switch {
		case r == '*':
			out.WriteString(".*")
		case r == '{':
			braces = true
			out.WriteByte('(')
		case r == '}' && braces:
			braces = false
			out.WriteByte(')')
		case r == ',' && braces:
			out.WriteByte('|')
		default:
			out.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile("^" + out.String() + "$")
}

// Unexplained gives the differences that no line allows, and counts the uses of the lines.
func Unexplained(diffs []Diff, allowed []*Allowed) []Diff {
	var out []Diff
next:
	for _, d := range diffs {
		for _, a := range allowed {
			if a.matches(d) {
				a.Used++
				continue next
			}
		}
		out = append(out, d)
	}
	return out
}
