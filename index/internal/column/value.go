// Package column has the typed values of properties of nodes, the blocks that store the values of
// a property, and tests of values.
//
// A [Value] has one of six kinds. A [Packer] writes the values of properties, by property and node,
// in blocks of consecutive nodes; [Decode] reads a block into a [Column]. A [Test] selects values,
// and is compiled for a column at a time.
package column

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kith/index/internal/block"
)

// Kind is the type of a value.
type Kind uint8

// The kinds. None is the kind of the zero Value, which stands for no value.
const (
	None Kind = iota
	Bool
	Int
	Float
	String
	Time
	List
	kinds // number of kinds
)

// names are the names of the kinds.
var names = [kinds]string{"none", "bool", "integer", "float", "string", "time", "list"}

// String returns the name of the kind.
func (k Kind) String() string { return names[min(k, kinds-1)] }

// Valid reports whether k is the kind of a value.
func (k Kind) Valid() bool { return None < k && k < kinds }

// Widens reports whether values of kind l can be read as values of kind k: integers as floats.
func (k Kind) Widens(l Kind) bool { return k == Float && l == Int }

// Has reports whether a property of kind k may have a value of kind l.
func (k Kind) Has(l Kind) bool { return k == l || k.Widens(l) }

// As returns the value as one of a kind, if that widens its kind.
func (v Value) As(k Kind) Value {
	if k.Widens(v.kind) {
		return FloatOf(float64(v.num))
	}
	return v
}

// The bounds of values.
const (
	MaxString = 32 << 10 // bytes of a string, or of the strings of a list with one more for each
	MaxList   = 1000     // strings of a list
)

// Value is a value of a property. Values are immutable.
type Value struct {
	kind Kind
	num  int64 // of a bool, 0 or 1; of a float, its bits; of a time, microseconds since 1970
	text string
	list []string
}

// BoolOf returns the value of a bool.
func BoolOf(b bool) Value {
	if b {
		return Value{kind: Bool, num: 1}
	}
	return Value{kind: Bool}
}

// IntOf returns the value of an integer.
func IntOf(i int64) Value { return Value{kind: Int, num: i} }

// FloatOf returns the value of a number. Minus zero becomes zero.
func FloatOf(f float64) Value { return Value{kind: Float, num: int64(math.Float64bits(f + 0))} }

// TimeOf returns the value of a time in microseconds since 1970.
func TimeOf(micro int64) Value { return Value{kind: Time, num: micro} }

// StringOf returns the value of a string.
func StringOf(s string) Value { return Value{kind: String, text: s} }

// ListOf returns the value of a list, which it keeps. Later repetitions of a string are dropped.
func ListOf(list []string) Value {
	seen := make(map[string]bool, len(list))
	return Value{kind: List, list: slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})}
}

// New returns the value of a kind: of a string text, of a list list, which it keeps, and of another
// kind num, which is as [Value.Int] returns it, or the bits of a number.
func New(kind Kind, num int64, text string, list []string) Value {
	switch kind {
	case Float:
		return FloatOf(math.Float64frombits(uint64(num)))
	case String:
		return StringOf(text)
	case List:
		return ListOf(list)
	}
	return Value{kind: kind, num: num}
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// Int returns an integer, the microseconds since 1970 of a time, or 1 for true.
func (v Value) Int() int64 { return v.num }

// Float returns the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.num)) }

// Text returns the string of a String.
func (v Value) Text() string { return v.text }

// List returns the strings of a List. The caller must not change them.
func (v Value) List() []string { return v.list }

// Equal reports whether v and w are the same value.
func (v Value) Equal(w Value) bool {
	return v.kind == w.kind && v.num == w.num && v.text == w.text && slices.Equal(v.list, w.list)
}

// Compare orders values of a kind. It compares lists by their strings.
func (v Value) Compare(w Value) int {
	switch v.kind {
	case Float:
		return compare(v.Float(), w.Float())
	case String:
		return strings.Compare(v.text, w.text)
	case List:
		return slices.Compare(v.list, w.list)
	}
	return compare(v.num, w.num)
}

func compare[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Bytes returns the memory of the value, in bytes.
func (v Value) Bytes() int64 {
	n := 64 + int64(len(v.text))
	for _, s := range v.list {
		n += 16 + int64(len(s))
	}
	return n
}

// Check returns an error for a value that cannot be stored: a number that is not finite, a time
// that is not in the years 0 to 9999, a string that is too long or not UTF-8, or a list that is too
// long or has such a string.
func (v Value) Check() error {
	switch v.kind {
	case Time:
		const first, after = -62167219200e6, 253402300800e6 // year 0 begins, year 10000 begins
		if v.num < first || v.num >= after {
			return fmt.Errorf("a time that is not in the years 0 to 9999")
		}
	case Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%v is not a finite number", f)
		}
	case String:
		return checkText(v.text)
	case List:
		if n := len(v.list); n > MaxList {
			return fmt.Errorf("a list of %d strings; at most %d are accepted", n, MaxList)
		}
		size := len(v.list)
		for _, s := range v.list {
			if size += len(s); size > MaxString {
				return fmt.Errorf("a list with more than %d bytes", MaxString)
			}
			if s == "" {
				return fmt.Errorf("a list has an empty string")
			}
			if err := checkText(s); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkText(s string) error {
	switch {
	case len(s) > MaxString:
		return fmt.Errorf("a string of %d bytes; at most %d are accepted", len(s), MaxString)
	case !utf8.ValidString(s):
		return fmt.Errorf("a string that is not valid UTF-8: %.40q", s)
	case strings.IndexByte(s, 0) >= 0:
		return fmt.Errorf("a string with a zero byte: %.40q", s)
	}
	return nil
}

// Append appends the stored form of the value, which may be None.
func (v Value) Append(b []byte) []byte {
	b = append(b, byte(v.kind))
	switch v.kind {
	case None:
	case Float:
		b = binary.LittleEndian.AppendUint64(b, uint64(v.num))
	case String:
		b = block.AppendString(b, v.text)
	case List:
		b = binary.AppendUvarint(b, uint64(len(v.list)))
		for _, s := range v.list {
			b = block.AppendString(b, s)
		}
	default:
		b = binary.AppendVarint(b, v.num)
	}
	return b
}

// DecodeValue decodes a value that Append appended, and checks it.
func DecodeValue(d *block.Decoder) Value {
	v := DecodeUnchecked(d)
	if err := v.Check(); d.Err == nil && (err != nil || v.kind == Bool && uint64(v.num) > 1) {
		d.Fail("a value")
	}
	return v
}

// DecodeUnchecked decodes a value that Append appended in this process, and that Check has
// accepted.
func DecodeUnchecked(d *block.Decoder) Value {
	v := Value{kind: Kind(d.Byte())}
	switch v.kind {
	case None:
	case Bool, Int, Time:
		v.num = d.Varint()
	case Float:
		v.num = int64(d.LittleUint64())
	case String:
		v.text = d.String()
	case List:
		n := d.Count()
		v.list = make([]string, 0, n)
		for ; n > 0 && d.Err == nil; n-- {
			v.list = append(v.list, d.String())
		}
	default:
		d.Fail("a value")
	}
	return v
}

// MarshalBinary implements [encoding.BinaryMarshaler].
func (v Value) MarshalBinary() ([]byte, error) { return v.Append(nil), nil }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (v *Value) UnmarshalBinary(b []byte) error {
	d := &block.Decoder{B: b}
	*v = DecodeValue(d)
	return d.End()
}

// Of returns the value that a Go value means: a bool, an integer or a float of any size, a string,
// a time.Time, or a slice of strings. nil means none. It returns false for any other value, and for
// an integer that is too large.
func Of(x any) (v Value, ok bool) {
	switch x := x.(type) {
	case nil:
		return v, true
	case time.Time:
		if year := x.UTC().Year(); year < 0 || year > 9999 {
			return TimeOf(math.MaxInt64), true // which Check refuses; its microseconds may not fit
		}
		return TimeOf(x.UnixMicro()), true
	case []string:
		return ListOf(x), true
	case []any:
		list := make([]string, len(x))
		for i := range x {
			if list[i], ok = x[i].(string); !ok {
				return v, false
			}
		}
		return ListOf(list), true
	}
	switch r := reflect.ValueOf(x); {
	case r.Kind() == reflect.Bool:
		return BoolOf(r.Bool()), true
	case r.Kind() == reflect.String:
		return StringOf(r.String()), true
	case r.CanInt():
		return IntOf(r.Int()), true
	case r.CanUint() && r.Uint() <= math.MaxInt64:
		return IntOf(int64(r.Uint())), true
	case r.CanFloat():
		return FloatOf(r.Float()), true
	}
	return v, false
}

// Any returns the value as a bool, an int64, a float64, a string, a time.Time in UTC or a []string,
// which the caller owns; nil for none.
func (v Value) Any() any {
	switch v.kind {
	case Bool:
		return v.num != 0
	case Int:
		return v.num
	case Float:
		return v.Float()
	case String:
		return v.text
	case Time:
		return time.UnixMicro(v.num).UTC()
	case List:
		return slices.Clone(v.list)
	}
	return nil
}

// Parts returns the strings of a list, or the value itself, in a form that can be a key of a map.
func (v Value) Parts() []any {
	switch v.kind {
	case String:
		return []any{v.text}
	case List:
		all := make([]any, len(v.list))
		for i, s := range v.list {
			all[i] = s
		}
		return all
	}
	return []any{v.num}
}
