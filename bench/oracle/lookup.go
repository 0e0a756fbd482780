package oracle

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// lookup finds a field by its path (Topics[0].TopicID) and gives it in the form that
// scenarios write.
func lookup(v reflect.Value, path string) (string, error) {
	for _, part := range strings.Split(path, ".") {
		name, index, indexed := strings.Cut(strings.TrimSuffix(part, "]"), "[")
		v = reflect.Indirect(v)
		if v.Kind() != reflect.Struct {
			return "", fmt.Errorf("%s: no struct before %s", path, part)
		}
		if v = v.FieldByName(name); !v.IsValid() {
			return "", fmt.Errorf("%s: no field %s", path, name)
		}
		if !indexed {
			continue
		}
		n, err := strconv.Atoi(index)
		if err != nil || n >= v.Len() {
			return "", fmt.Errorf("%s: no element %s", path, index)
		}
		v = v.Index(n)
	}
	v = reflect.Indirect(v)
	switch {
	case !v.IsValid():
		return "", fmt.Errorf("%s is null", path)
	case v.Kind() == reflect.Array:
		return idHex(v), nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return string(v.Bytes()), nil
	}
	return fmt.Sprint(v.Interface()), nil
}
