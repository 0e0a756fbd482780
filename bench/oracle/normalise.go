package oracle

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kerr"
)

// normaliser replaces what differs between two runs by symbols, in the order in which
// they are first seen. One serves all connections of a scenario.
type normaliser struct {
	scope   *scope
	symbols map[string]string // "kind value" → "kind#n"
	counts  map[string]int
}

func newNormaliser(s *scope) *normaliser {
	return &normaliser{scope: s, symbols: map[string]string{}, counts: map[string]int{}}
}

func (n *normaliser) symbol(kind, val string) string {
	key := kind + " " + val
	if s, ok := n.symbols[key]; ok {
		return s
	}
	n.counts[kind]++
	s := fmt.Sprintf("%s#%d", kind, n.counts[kind])
	n.symbols[key] = s
	return s
}

const (
	runMillis  = 40 * 60 * 1000 // a scenario lasts less
	baseMillis = 60 * 60 * 1000 // the base time lies this long before the start
	// aheadMillis is how far ahead of the start scenarios set times.
	aheadMillis = 24 * 60 * 60 * 1000
)

// scalar renders one field that is no struct and no array of structs.
func (n *normaliser) scalar(name string, v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return n.scalar(name, v.Elem())
	case reflect.String:
		return n.text(name, v.String())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return n.integer(name, v.Int())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Array:
		return n.id(v)
	case reflect.Slice:
		return n.slice(name, v)
	}
	panic("BUG: no rendering for " + v.Type().String())
}

func (n *normaliser) slice(name string, v reflect.Value) string {
	if v.IsNil() {
		return "null"
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return n.bytes(v.Bytes())
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = n.scalar(name, v.Index(i))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func (n *normaliser) id(v reflect.Value) string {
	if v.IsZero() {
		return "0"
	}
	return n.symbol("id", idHex(v))
}

// knownID is the symbol of an id that has been seen, or text that sorts behind it.
func (n *normaliser) knownID(v reflect.Value) string {
	if s, ok := n.symbols["id "+idHex(v)]; ok {
		return s
	}
	return "~"
}

func idHex(v reflect.Value) string {
	b := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(b), v)
	return hex.EncodeToString(b)
}

func (n *normaliser) integer(name string, i int64) string {
	switch {
	case name == "ErrorCode":
		return errorName(int16(i))
	case name == "Port" && i > 0:
		return "<port>"
	case name == "ProducerID" && i >= 0:
		return n.symbol("pid", strconv.FormatInt(i, 10))
	case name == "SessionID" && i > 0:
		return "<session>"
	case name == "FinalizedFeaturesEpoch" && i >= 0:
		return "<epoch>"
	case name == "TotalBytes" || name == "UsableBytes":
		return sizeClass(i)
	case abs(i-n.scope.base) < runMillis/2:
		return "t0" + plus(i-n.scope.base)
	case abs(i-n.scope.start) < runMillis/2:
		return "<now>"
	case i > n.scope.start && i < n.scope.start+aheadMillis:
		return "now" + plus(i-n.scope.start)
	}
	return strconv.FormatInt(i, 10)
}

func sizeClass(i int64) string {
	if i > 0 {
		return "<size>"
	}
	return strconv.FormatInt(i, 10)
}

func abs(i int64) int64 { return max(i, -i) }

func plus(i int64) string {
	if i == 0 {
		return ""
	}
	return fmt.Sprintf("%+d", i)
}

func errorName(code int16) string {
	if code == 0 {
		return "0"
	}
	if e := kerr.TypedErrorForCode(code); e != nil {
		return fmt.Sprintf("%d %s", code, e.Message)
	}
	return strconv.Itoa(int(code))
}

var uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (n *normaliser) text(name, s string) string {
	switch {
	case s == "":
		return `""`
	case name == "ErrorMessage" || name == "Documentation":
		return "<text>"
	case name == "ClusterID":
		return "<cluster>"
	case name == "Dir":
		return "<dir>"
	case name == "ClientHost":
		return s
	}
	s = uuidPattern.ReplaceAllStringFunc(s, func(u string) string { return n.symbol("uuid", u) })
	s = n.own(s)
	if !printable(s) || strings.Contains(s, "\n") || s[0] == '"' || s[0] == '[' {
		return strconv.Quote(s)
	}
	return s
}

// own turns the scenario's prefix back into @.
func (n *normaliser) own(s string) string { return strings.ReplaceAll(s, n.scope.prefix, "@") }

func (n *normaliser) bytes(b []byte) string {
	switch {
	case len(b) == 0:
		return `""`
	case len(b) > 64:
		return fmt.Sprintf("%d bytes %q…", len(b), b[:8])
	case utf8.Valid(b) && printable(string(b)):
		return n.text("", string(b))
	}
	return "hex " + hex.EncodeToString(b)
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
