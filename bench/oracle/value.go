package oracle

import (
	"fmt"
	"strings"
	"unicode"
)

// value is one node of a scenario's field expression: word, text, list or object.
type value interface{}

// word is a bare token; the field it is put into decides whether it is a number, a
// name or a boolean.
type word string

// text is a quoted string.
type text string

type list []value

// object is {k: v} or name{k: v}.
type object struct {
	name   string
	fields []field
}

type field struct {
	name  string
	value value
}

func (o *object) get(name string) (value, bool) {
	for _, f := range o.fields {
		if f.name == name {
			return f.value, true
		}
	}
	return nil, false
}

type lexer struct {
	src string
	pos int
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-+@$~/#*=", r)
}

func (l *lexer) skip() {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n,", l.src[l.pos]) >= 0 {
		l.pos++
	}
}

func (l *lexer) errorf(format string, args ...any) error {
	rest := l.src[l.pos:]
	if len(rest) > 30 {
		rest = rest[:30]
	}
	return fmt.Errorf("at %q: %s", rest, fmt.Sprintf(format, args...))
}

// parseValue reads one value and says where it ended.
func parseValue(src string) (value, error) {
	l := &lexer{src: src}
	v, err := l.value()
	if err != nil {
		return nil, err
	}
	if l.skip(); l.pos < len(src) {
		return nil, l.errorf("text after the value")
	}
	return v, nil
}

func (l *lexer) value() (value, error) {
	l.skip()
	if l.pos >= len(l.src) {
		return nil, l.errorf("value expected")
	}
	switch c := l.src[l.pos]; {
	case c == '{':
		return l.object("")
	case c == '[':
		return l.list()
	case c == '"':
		return l.quoted()
	}
	w := l.word()
	if w == "" {
		return nil, l.errorf("value expected")
	}
	if l.pos < len(l.src) && l.src[l.pos] == '{' {
		return l.object(w)
	}
	return word(w), nil
}

func (l *lexer) word() string {
	start := l.pos
	for i, r := range l.src[start:] {
		if !isWordRune(r) {
			l.pos = start + i
			return l.src[start:l.pos]
		}
	}
	l.pos = len(l.src)
	return l.src[start:]
}

func (l *lexer) quoted() (value, error) {
	end := strings.IndexByte(l.src[l.pos+1:], '"')
	if end < 0 {
		return nil, l.errorf("quote not closed")
	}
	s := l.src[l.pos+1 : l.pos+1+end]
	l.pos += end + 2
	return text(s), nil
}

func (l *lexer) list() (value, error) {
	l.pos++
	out := list{}
	for {
		l.skip()
		if l.pos >= len(l.src) {
			return nil, l.errorf("] expected")
		}
		if l.src[l.pos] == ']' {
			l.pos++
			return out, nil
		}
		v, err := l.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

func (l *lexer) object(name string) (value, error) {
	l.pos++
	out := &object{name: name}
	for {
		l.skip()
		if l.pos >= len(l.src) {
			return nil, l.errorf("} expected")
		}
		if l.src[l.pos] == '}' {
			l.pos++
			return out, nil
		}
		key := l.word()
		l.skip()
		if key == "" || l.pos >= len(l.src) || l.src[l.pos] != ':' {
			return nil, l.errorf("name: expected")
		}
		l.pos++
		v, err := l.value()
		if err != nil {
			return nil, err
		}
		out.fields = append(out.fields, field{key, v})
	}
}
