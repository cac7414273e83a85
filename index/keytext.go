package index

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// MarshalJSON implements [json.Marshaler]. An integer key is a number, a string key a string.
func (k Key) MarshalJSON() ([]byte, error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	return json.Marshal(k.Value())
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads 64-bit integers without loss, and returns an error for
// other numbers and for strings that are not valid keys.
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

// MarshalText implements [encoding.TextMarshaler], so that a map with keys of this type can be written as JSON: 42
// and alice. A string that would be read as another key is quoted as in String: '42'. Read such a map as a map of
// strings, and each string with UnmarshalText: encoding/json itself would read all keys as string keys.
func (k Key) MarshalText() ([]byte, error) {
	if err := k.Valid(); err != nil {
		return nil, err
	}
	if _, number := parseInt(k.str); k.isStr && !number && !strings.HasPrefix(k.str, "'") {
		return []byte(k.str), nil
	}
	return []byte(k.String()), nil
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
	if plain := Str(strings.ReplaceAll(inner, "''", "'")); plain.String() == s {
		return k.set(plain)
	}
	return fmt.Errorf("index: %.100q is no key: the quotes do not match", s)
}

// parseInt parses an integer in the canonical form of an integer key.
func parseInt(s string) (int64, bool) {
	i, err := strconv.ParseInt(s, 10, 64)
	return i, err == nil && strconv.FormatInt(i, 10) == s
}

// Scan implements [database/sql.Scanner]. An int64 becomes an integer key, a string or a []byte a string key.
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
