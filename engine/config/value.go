package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// InvalidValue says that a setting cannot have a value and what would be right.
type InvalidValue struct {
	Name   string
	Value  string
	Reason string
	secret bool
}

func (e *InvalidValue) Error() string {
	v := e.Value
	if e.secret {
		v = "[hidden]"
	}
	return fmt.Sprintf("Invalid value %s for configuration %s: %s", v, e.Name, e.Reason)
}

// value is a parsed value; which field counts depends on the type.
type value struct {
	raw  string // trimmed
	num  int64
	real float64
	flag bool
	list []string
}

// parse turns text into a value of d's type as Kafka's ConfigDef does: white
// space around it does not count, a list is separated by commas.
func (d *Definition) parse(text string) (value, error) {
	v := value{raw: strings.TrimSpace(text)}
	if reason := v.fill(d.Type); reason != "" {
		return v, d.invalid(text, reason)
	}
	if slices.Contains(v.list, "") {
		return v, &Conflict{"Configuration '" + d.Name + "' values must not be empty."}
	}
	if d.check != nil {
		if reason := d.check(v); reason != "" {
			return v, d.invalid(d.culprit(text, v), reason)
		}
	}
	return v, nil
}

// culprit is what a message calls the wrong value: of a list the element that
// is wrong by itself, else the text.
func (d *Definition) culprit(text string, v value) string {
	if d.Type != List {
		return text
	}
	if !d.together {
		for _, w := range v.list {
			if d.check(value{raw: w, list: []string{w}}) != "" {
				return w
			}
		}
	}
	return "[" + strings.Join(v.list, ", ") + "]"
}

func (d *Definition) invalid(text, reason string) error {
	return &InvalidValue{Name: d.Name, Value: text, Reason: reason, secret: d.Sensitive()}
}

func (v *value) fill(t Type) (reason string) {
	var err error
	switch t {
	case Boolean:
		switch strings.ToLower(v.raw) {
		case "true":
			v.flag = true
		case "false":
		default:
			return "Expected value to be either true or false"
		}
	case Short:
		v.num, err = strconv.ParseInt(v.raw, 10, 16)
	case Int:
		v.num, err = strconv.ParseInt(v.raw, 10, 32)
	case Long:
		v.num, err = strconv.ParseInt(v.raw, 10, 64)
	case Double:
		v.real, err = strconv.ParseFloat(v.raw, 64)
	case List:
		v.list = SplitList(v.raw)
	}
	if err != nil {
		return "Not a number of type " + t.String()
	}
	return ""
}

// SplitList reads the value of a list setting: words separated by commas, without
// the space around them. The empty text is the empty list.
func SplitList(text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// format is the value in the form that Kafka describes it in: trimmed, lists
// without spaces, true and false in lower case.
func (v value) format(t Type) string {
	switch t {
	case Boolean:
		return strconv.FormatBool(v.flag)
	case Short, Int, Long:
		return strconv.FormatInt(v.num, 10)
	case List:
		return strings.Join(v.list, ",")
	}
	return v.raw
}

// check returns why a value of the right type is refused, "" if it is not.
type check func(value) string

func atLeast(n int64) check {
	return func(v value) string {
		if v.num < n {
			return "Value must be at least " + strconv.FormatInt(n, 10)
		}
		return ""
	}
}

func between(lo, hi int64) check {
	return func(v value) string {
		if v.num < lo {
			return "Value must be at least " + strconv.FormatInt(lo, 10)
		}
		if v.num > hi {
			return "Value must be no more than " + strconv.FormatInt(hi, 10)
		}
		return ""
	}
}

// ratio allows 0 to 1. Kafka lets NaN through; spate does not, since nothing
// can be compared with it.
func ratio(v value) string {
	switch {
	case v.real > 1:
		return "Value must be no more than 1"
	case v.real >= 0:
		return ""
	}
	return "Value must be at least 0"
}

func oneOf(allowed ...string) check {
	return func(v value) string {
		for _, a := range allowed {
			if v.raw == a {
				return ""
			}
		}
		return "String must be one of: " + strings.Join(allowed, ", ")
	}
}

// eachOf allows lists of the given words, the empty list too.
func eachOf(allowed ...string) check {
	one := oneOf(allowed...)
	return func(v value) string {
		for _, w := range v.list {
			if reason := one(value{raw: w}); reason != "" {
				return reason
			}
		}
		return ""
	}
}

// anyCase is oneOf without regard to case.
func anyCase(allowed ...string) check {
	return func(v value) string {
		for _, a := range allowed {
			if strings.EqualFold(v.raw, a) {
				return ""
			}
		}
		return "String must be one of (case insensitive): " + strings.Join(allowed, ", ")
	}
}

func notEmpty(v value) string {
	if v.raw == "" {
		return "String must be non-empty"
	}
	return ""
}
