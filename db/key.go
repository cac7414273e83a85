package db

import (
	"math"
	"reflect"

	"kith/index"
)

// Key identifies a node. It is an integer or a string. 42 and "42" are different keys. A parameter of type any that
// takes a key accepts a Key, a string or an integer of any of Go's types.
type Key = index.Key

// Int returns the key of an integer.
func Int(i int64) Key { return index.Int(i) }

// Str returns the key of a string.
func Str(s string) Key { return index.Str(s) }

// KeyOf returns the key for a Key, a string or an integer of any of Go's types. It returns ErrInput for anything else,
// and for a string that cannot be a key.
func KeyOf(v any) (Key, error) {
	var k Key
	switch v := v.(type) {
	case Key:
		k = v
	case string:
		k = Str(v)
	case int:
		k = Int(int64(v))
	default:
		switch r := reflect.ValueOf(v); {
		case r.IsValid() && r.CanInt():
			k = Int(r.Int())
		case r.IsValid() && r.CanUint() && r.Uint() <= math.MaxInt64:
			k = Int(int64(r.Uint()))
		case r.IsValid() && r.Kind() == reflect.String:
			k = Str(r.String())
		default:
			return k, inputf("%v (%T) is no key, want an integer or a string", v, v)
		}
	}
	if err := k.Valid(); err != nil {
		return k, inputf("%w", err)
	}
	return k, nil
}
