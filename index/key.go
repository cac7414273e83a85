package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxKeyLen is the maximum length of a string key in bytes.
const MaxKeyLen = 1024

// Key is the name that users give a node: an integer or a string. 42 and "42" are different keys, and integers sort
// before strings. The zero Key is the integer 0. Keys are comparable.
type Key struct {
	str   string
	num   int64
	isStr bool
}

// Int returns the integer key i.
func Int(i int64) Key { return Key{num: i} }

// Str returns the string key s. The caller must not use a key for which Valid returns an error.
func Str(s string) Key { return Key{str: s, isStr: true} }

// Int returns the integer of an integer key.
func (k Key) Int() (i int64, ok bool) { return k.num, !k.isStr }

// Str returns the string of a string key.
func (k Key) Str() (s string, ok bool) { return k.str, k.isStr }

// Value returns the key as an int64 or a string.
func (k Key) Value() any {
	if k.isStr {
		return k.str
	}
	return k.num
}

// String returns the key in the syntax of the query language, 42 or 'alice'. A quote in a string is doubled.
func (k Key) String() string {
	if k.isStr {
		return "'" + strings.ReplaceAll(k.str, "'", "''") + "'"
	}
	return strconv.FormatInt(k.num, 10)
}

// Valid returns an error for a string key that is empty, too long, not UTF-8 or contains a zero byte.
func (k Key) Valid() error {
	switch {
	case !k.isStr:
		return nil
	case k.str == "":
		return fmt.Errorf("index: the empty string is not a key")
	case len(k.str) > MaxKeyLen:
		return fmt.Errorf("index: key of %d bytes, at most %d", len(k.str), MaxKeyLen)
	case !utf8.ValidString(k.str):
		return fmt.Errorf("index: key %q is not valid UTF-8", k.str)
	case strings.IndexByte(k.str, 0) >= 0:
		return fmt.Errorf("index: key %q holds a zero byte", k.str)
	}
	return nil
}

// Compare orders keys: integers by value, then strings by bytes.
func (k Key) Compare(l Key) int {
	switch {
	case k.isStr != l.isStr:
		if k.isStr {
			return 1
		}
		return -1
	case k.isStr:
		return strings.Compare(k.str, l.str)
	}
	return cmp.Compare(k.num, l.num)
}

// Kind byte of a stored key. It is followed by the difference to the previous integer key as a varint, or by the
// string.
const (
	keyInt = iota
	keyStr
)

func appendKey(b []byte, k Key, lastInt *int64) []byte {
	if k.isStr {
		return appendBytes(append(b, keyStr), k.str)
	}
	b = binary.AppendVarint(append(b, keyInt), k.num-*lastInt)
	*lastInt = k.num
	return b
}

func (d *decoder) key(lastInt *int64) Key {
	switch d.byte() {
	case keyInt:
		*lastInt += d.varint()
		return Int(*lastInt)
	case keyStr:
		k := Str(string(d.bytes()))
		if err := k.Valid(); err != nil && d.err == nil {
			d.err = fmt.Errorf("%w: %v", ErrCorrupt, err)
		}
		return k
	default:
		d.fail("a key")
		return Key{}
	}
}
