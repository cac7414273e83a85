package record

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"

	"kith/index"
)

// KeyOf returns the key for a Key, a string or an integer of any of Go's types, and whether v is
// one of these. The key need not be valid.
func KeyOf(v any) (k index.Key, ok bool) {
	switch v := v.(type) {
	case index.Key:
		return v, true
	case string:
		return index.Str(v), true
	case int:
		return index.Int(int64(v)), true
	}
	switch r := reflect.ValueOf(v); {
	case r.IsValid() && r.CanInt():
		return index.Int(r.Int()), true
	case r.IsValid() && r.CanUint() && r.Uint() <= math.MaxInt64:
		return index.Int(int64(r.Uint())), true
	case r.IsValid() && r.Kind() == reflect.String:
		return index.Str(r.String()), true
	}
	return k, false
}

// maxName is the maximal length of the name of a model, in bytes.
const maxName = 128

// CheckName returns an error for a name that no model can have.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || strings.IndexByte(name, 0) >= 0 || !utf8.ValidString(name) {
		return fmt.Errorf("model name %q: want 1 to %d bytes of UTF-8 without a zero byte", name, maxName)
	}
	return nil
}
