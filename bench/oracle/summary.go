package oracle

import (
	"fmt"
	"strings"
)

// Summary lists differences for a reader: what a request's versions have in common is said once.
func Summary(diffs []Diff) string {
	type key struct{ scenario, line, what, path, kafka, spate string }
	versions := map[key][]string{}
	var order []key
	for _, d := range diffs {
		what, version := d.Title, ""
		if i := strings.Index(d.Title, " v"); i >= 0 {
			what, version = d.Title[:i], d.Title[i+2:]
		}
		k := key{d.Scenario, fmt.Sprint(d.Line), what, d.Path, d.Kafka, d.Spate}
		if versions[k] == nil {
			order = append(order, k)
		}
		versions[k] = append(versions[k], version)
	}
	var out strings.Builder
	for _, k := range order {
		fmt.Fprintf(&out, "%s:%s: %s v%s: %s\n    kafka: %s\n    spate: %s\n", k.scenario, k.line, k.what, span(versions[k]), k.path, k.kafka, k.spate)
	}
	return out.String()
}

// span shortens a list of versions that follow each other.
func span(v []string) string {
	if len(v) < 3 {
		return strings.Join(v, ",")
	}
	return v[0] + ".." + v[len(v)-1]
}
