package block

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxKeyLen is the maximum length of a string key in bytes.
const MaxKeyLen = 1024

// Key is the name that users give a node: an integer or a string. 42 and "42" are different keys,
// and integers sort before strings. The zero Key is the integer 0. Keys are comparable.
type Key struct {
	str   string
	num   int64
	isStr bool
}

// Int returns the integer key i.
func Int(i int64) Key { return Key{num: i} }

// Str returns the string key s. The caller must not use a key for which Valid returns an error.
func Str(s string) Key { return Key{str: s, isStr: true} }

// Erased returns the key of an erased node. It says nothing but the id, and no node that is added
// gets it: Valid returns an error for it.
func Erased(id ID) Key { return Str("\x00" + strconv.FormatUint(uint64(id), 10)) }

// Erased reports whether the key is the key of an erased node.
func (k Key) Erased() bool { return strings.HasPrefix(k.str, "\x00") }

// erasedText is how people read the key of an erased node.
const erasedText = "(erased)"

// Int returns the integer of an integer key.
func (k Key) Int() (i int64, ok bool) { return k.num, !k.isStr }

// Str returns the string of a string key.
func (k Key) Str() (s string, ok bool) { return k.str, k.isStr }

// Value returns the key as an int64 or a string, or nil for the key of an erased node.
func (k Key) Value() any {
	switch {
	case k.Erased():
		return nil
	case k.isStr:
		return k.str
	}
	return k.num
}

// String returns the integer in decimal or the string itself: 42 or alice. Int(42) and Str("42")
// have the same text; see Literal.
func (k Key) String() string {
	switch {
	case k.Erased():
		return erasedText
	case k.isStr:
		return k.str
	}
	return strconv.FormatInt(k.num, 10)
}

// Literal returns the key in the syntax of the query language: 42 or 'alice'. A quote in a string
// is doubled.
func (k Key) Literal() string {
	switch {
	case k.Erased():
		return erasedText
	case k.isStr:
		return "'" + strings.ReplaceAll(k.str, "'", "''") + "'"
	}
	return strconv.FormatInt(k.num, 10)
}

// Valid returns an error for a string key that is empty, too long, not UTF-8 or contains a zero
// byte.
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

// Kind byte of a stored key. It is followed by the difference to the previous integer key as a
// varint, or by the string.
const (
	keyInt = iota
	keyStr
)

// AppendKey appends a key. lastInt is the previous integer key of the list, 0 at its beginning.
func AppendKey(b []byte, k Key, lastInt *int64) []byte {
	if k.isStr {
		return AppendString(append(b, keyStr), k.str)
	}
	b = binary.AppendVarint(append(b, keyInt), k.num-*lastInt)
	*lastInt = k.num
	return b
}

// Key decodes a key that AppendKey appended.
func (d *Decoder) Key(lastInt *int64) Key {
	switch d.Byte() {
	case keyInt:
		*lastInt += d.Varint()
		return Int(*lastInt)
	case keyStr:
		k := Str(string(d.bytes()))
		if err := k.Valid(); err != nil && !k.Erased() && d.Err == nil {
			d.Err = fmt.Errorf("%w: %v", ErrCorrupt, err)
		}
		return k
	default:
		d.Fail("a key")
		return Key{}
	}
}

// ReadKey reads a key that AppendKey appended. It uses the buffer, which it may replace.
func ReadKey(r *bufio.Reader, lastInt *int64, buffer *[]byte) (Key, error) {
	kind, err := r.ReadByte()
	if err != nil {
		return Key{}, err
	}
	if kind == keyInt {
		delta, err := binary.ReadVarint(r)
		*lastInt += delta
		return Int(*lastInt), err
	}
	size, err := binary.ReadUvarint(r)
	if err == nil && size > MaxKeyLen {
		err = fmt.Errorf("%w: a key of %d bytes", ErrCorrupt, size)
	}
	if err != nil {
		return Key{}, err
	}
	b := slices.Grow((*buffer)[:0], int(size))[:size]
	*buffer = b
	_, err = io.ReadFull(r, b)
	return Str(string(b)), err
}

// MarshalJSON implements [json.Marshaler]. An integer key is a number, a string key a string, and
// the key of an erased node null.
func (k Key) MarshalJSON() ([]byte, error) {
	if err := k.Valid(); err != nil && !k.Erased() {
		return nil, err
	}
	return json.Marshal(k.Value())
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads 64-bit integers without loss, and returns
// an error for other numbers and for strings that are not valid keys.
func (k *Key) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		return k.set(Str(s))
	}
	i, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("index: %.100s is no key: want an integer of 64 bits or a string", b)
	}
	*k = Int(i)
	return nil
}

// MarshalText implements [encoding.TextMarshaler], so that a map with keys of this type can be
// written as JSON: 42 and alice. A string that would be read as another key is quoted as in
// Literal: '42'. Read such a map as a map of strings, and each string with UnmarshalText:
// encoding/json itself would read all keys as string keys.
func (k Key) MarshalText() ([]byte, error) {
	if k.Erased() {
		return []byte(erasedText), nil
	}
	if err := k.Valid(); err != nil {
		return nil, err
	}
	if _, number := parseInt(k.str); k.isStr && !number && !strings.HasPrefix(k.str, "'") {
		return []byte(k.str), nil
	}
	return []byte(k.Literal()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the output of MarshalText.
func (k *Key) UnmarshalText(b []byte) error {
	s := string(b)
	if i, number := parseInt(s); number {
		*k = Int(i)
		return nil
	}
	if !strings.HasPrefix(s, "'") {
		return k.set(Str(s))
	}
	inner := strings.TrimSuffix(s[1:], "'")
	if plain := Str(strings.ReplaceAll(inner, "''", "'")); plain.Literal() == s {
		return k.set(plain)
	}
	return fmt.Errorf("index: %.100q is no key: the quotes do not match", s)
}

// parseInt parses an integer in the canonical form of an integer key.
func parseInt(s string) (int64, bool) {
	i, err := strconv.ParseInt(s, 10, 64)
	return i, err == nil && strconv.FormatInt(i, 10) == s
}

// Scan implements [database/sql.Scanner]. An int64 becomes an integer key, a string or a []byte a
// string key.
func (k *Key) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*k = Int(v)
		return nil
	case string:
		return k.set(Str(v))
	case []byte:
		return k.set(Str(string(v)))
	}
	return fmt.Errorf("index: a value of type %T is no key: want an int64, a string or a []byte", src)
}

// set sets k to another key, or returns an error if that key is not valid.
func (k *Key) set(to Key) error {
	if err := to.Valid(); err != nil {
		return err
	}
	*k = to
	return nil
}
