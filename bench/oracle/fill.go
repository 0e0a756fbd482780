package oracle

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// scope resolves names in words and texts, and builds bytes from objects.
type scope struct {
	prefix string            // what @ stands for
	vars   map[string]string // what $name stands for
	base   int64             // the time that ts fields count from, Unix ms
	start  int64             // when the scenario started, Unix ms
}

// expand puts in the values of @ and $name.
func (s *scope) expand(in string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(in); {
		switch in[i] {
		case '@':
			out.WriteString(s.prefix)
			i++
		case '$':
			n := 1
			for i+n < len(in) && isNameByte(in[i+n]) {
				n++
			}
			v, ok := s.vars[in[i+1:i+n]]
			if !ok {
				return "", fmt.Errorf("no value for %s", in[i:i+n])
			}
			out.WriteString(v)
			i += n
		default:
			out.WriteByte(in[i])
			i++
		}
	}
	return out.String(), nil
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// literal gives the expanded text of a word or text.
func (s *scope) literal(v value) (string, error) {
	switch v := v.(type) {
	case word:
		return s.expand(string(v))
	case text:
		return s.expand(string(v))
	}
	return "", fmt.Errorf("a word or a text expected, not %T", v)
}

func isNull(v value) bool { w, ok := v.(word); return ok && w == "null" }

// defaulter is implemented by every struct of package kmsg.
type defaulter interface{ Default() }

// fill puts v into dst, which is addressable. Objects fill structs by field name.
func (s *scope) fill(dst reflect.Value, v value) error {
	switch dst.Kind() {
	case reflect.Pointer:
		if isNull(v) {
			dst.SetZero()
			return nil
		}
		dst.Set(reflect.New(dst.Type().Elem()))
		setDefault(dst.Elem())
		return s.fill(dst.Elem(), v)
	case reflect.Struct:
		return s.fillStruct(dst, v)
	case reflect.Slice:
		if dst.Type().Elem().Kind() == reflect.Uint8 {
			b, err := s.bytes(v)
			if err == nil {
				dst.SetBytes(b)
			}
			return err
		}
		return s.fillSlice(dst, v)
	}
	return s.fillScalar(dst, v)
}

func setDefault(v reflect.Value) {
	if d, ok := v.Addr().Interface().(defaulter); ok {
		d.Default()
	}
}

func (s *scope) fillStruct(dst reflect.Value, v value) error {
	o, ok := v.(*object)
	if !ok {
		return fmt.Errorf("{…} expected for %s", dst.Type().Name())
	}
	for _, f := range o.fields {
		if f.name == "UnknownTags" {
			if err := s.fillTags(dst.FieldByName(f.name), f.value); err != nil {
				return err
			}
			continue
		}
		fv := dst.FieldByName(f.name)
		if !fv.IsValid() {
			return fmt.Errorf("%s has no field %s", dst.Type().Name(), f.name)
		}
		if err := s.fill(fv, f.value); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// fillTags sets tagged fields that the receiver does not know: {100: hex{ab}}.
func (s *scope) fillTags(dst reflect.Value, v value) error {
	o, ok := v.(*object)
	if !ok {
		return fmt.Errorf("UnknownTags: {number: bytes} expected")
	}
	set, ok := dst.Addr().Interface().(interface{ Set(uint32, []byte) })
	if !ok {
		return fmt.Errorf("no unknown tags here")
	}
	for _, f := range o.fields {
		n, err := strconv.ParseUint(f.name, 10, 32)
		if err != nil {
			return err
		}
		b, err := s.bytes(f.value)
		if err != nil {
			return err
		}
		set.Set(uint32(n), b)
	}
	return nil
}

func (s *scope) fillSlice(dst reflect.Value, v value) error {
	if isNull(v) {
		dst.SetZero()
		return nil
	}
	items, ok := v.(list)
	if !ok {
		return fmt.Errorf("[…] expected")
	}
	out := reflect.MakeSlice(dst.Type(), 0, len(items))
	for i, item := range items {
		n, item, err := s.repeat(item)
		if err != nil {
			return err
		}
		for k := range n {
			s.vars["i"] = strconv.Itoa(k)
			elem := reflect.New(dst.Type().Elem()).Elem()
			setDefault(elem)
			if err := s.fill(elem, item); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
			out = reflect.Append(out, elem)
		}
	}
	dst.Set(out)
	return nil
}

// repeat unfolds times{n: 3, of: {…}}, in which $i counts from 0.
func (s *scope) repeat(v value) (int, value, error) {
	o, ok := v.(*object)
	if !ok || o.name != "times" {
		return 1, v, nil
	}
	n, err := s.int(o, "n", 0)
	if err != nil {
		return 0, nil, err
	}
	of, ok := o.get("of")
	if !ok {
		return 0, nil, fmt.Errorf("times{n: …, of: …} expected")
	}
	return int(n), of, nil
}

func (s *scope) fillScalar(dst reflect.Value, v value) error {
	if o, ok := v.(*object); ok && o.name == "repeat" {
		b, err := s.bytes(v)
		if err != nil {
			return err
		}
		v = text(b)
	}
	lit, err := s.literal(v)
	if err != nil {
		return err
	}
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(lit)
	case reflect.Bool:
		b, err := strconv.ParseBool(lit)
		if err != nil {
			return err
		}
		dst.SetBool(b)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := s.number(lit)
		if err != nil || dst.OverflowInt(n) {
			return fmt.Errorf("%q is not an %s", lit, dst.Type())
		}
		dst.SetInt(n)
	case reflect.Float64:
		f, err := strconv.ParseFloat(lit, 64)
		if err != nil {
			return err
		}
		dst.SetFloat(f)
	case reflect.Array:
		return fillID(dst, lit)
	default:
		return fmt.Errorf("cannot fill a %s", dst.Type())
	}
	return nil
}

// number reads an integer; t0+N counts from the scenario's base time, now+N from its start.
func (s *scope) number(lit string) (int64, error) {
	for name, base := range map[string]int64{"t0": s.base, "now": s.start} {
		if rest, ok := strings.CutPrefix(lit, name); ok {
			if rest == "" {
				return base, nil
			}
			n, err := strconv.ParseInt(rest, 10, 64)
			return base + n, err
		}
	}
	return strconv.ParseInt(lit, 0, 64)
}

// fillID reads a topic id: 32 hexadecimal digits, or Kafka's 22 characters.
func fillID(dst reflect.Value, lit string) error {
	b, err := hex.DecodeString(lit)
	if err != nil || len(b) != 16 {
		b, err = base64.RawURLEncoding.DecodeString(lit)
	}
	if err != nil || len(b) != dst.Len() {
		return fmt.Errorf("%q is not an id", lit)
	}
	reflect.Copy(dst, reflect.ValueOf(b))
	return nil
}

// bytes builds the content of a bytes field: text, hex{…}, batch{…}, msgset{…},
// repeat{of: x, n: 5}, or a list of them.
func (s *scope) bytes(v value) ([]byte, error) {
	if isNull(v) {
		return nil, nil
	}
	switch v := v.(type) {
	case word, text:
		lit, err := s.literal(v)
		return append([]byte{}, lit...), err
	case list:
		out := []byte{}
		for _, part := range v {
			b, err := s.bytes(part)
			if err != nil {
				return nil, err
			}
			out = append(out, b...)
		}
		return out, nil
	case *object:
		return s.built(v)
	}
	return nil, fmt.Errorf("bytes expected")
}

func (s *scope) built(o *object) ([]byte, error) {
	switch o.name {
	case "hex":
		return s.hex(o)
	case "repeat":
		n, err := s.int(o, "n", 1)
		if err != nil {
			return nil, err
		}
		of, _ := o.get("of")
		b, err := s.bytes(of)
		return []byte(strings.Repeat(string(b), int(n))), err
	case "batch":
		return s.batch(o)
	case "msgset":
		return s.messageSet(o)
	}
	return nil, fmt.Errorf("nothing builds %s{…}", o.name)
}

func (s *scope) hex(o *object) ([]byte, error) {
	of, ok := o.get("of")
	if !ok {
		return nil, fmt.Errorf("hex{of: …} expected")
	}
	lit, err := s.literal(of)
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(strings.ReplaceAll(lit, " ", ""))
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// int reads an integer field of an object.
func (s *scope) int(o *object, name string, otherwise int64) (int64, error) {
	v, ok := o.get(name)
	if !ok {
		return otherwise, nil
	}
	lit, err := s.literal(v)
	if err != nil {
		return 0, err
	}
	n, err := s.number(lit)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// str reads a text field of an object.
func (s *scope) str(o *object, name, otherwise string) (string, error) {
	v, ok := o.get(name)
	if !ok {
		return otherwise, nil
	}
	return s.literal(v)
}
