package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object is an object of [JSON].
type Object map[string]any

// JSON decodes the parameters of a statement, or another JSON value from another program, which is
// called name in errors; "" means that its members are called by their own names. It refuses what
// encoding/json changes or drops without a word: half of a surrogate pair and bytes that are not
// UTF-8, which would both become U+FFFD, so that two names become one; an object that has a
// member twice; and a number that no int64 or float64 holds.
//
// A value is nil, a bool, an int64, a float64, a string, an []any or an
// Object. A number with a point or an exponent is a float64, any other an int64. An error says
// where in the value the fault is.
func JSON(name string, b []byte) (any, error) {
	var whole json.RawMessage
	switch err := json.Unmarshal(b, &whole); {
	case len(bytes.TrimSpace(b)) == 0:
		return nil, errors.New("it is empty, want JSON")
	case err != nil:
		return nil, syntaxError(err)
	}
	if valid := utf8Prefix(b); valid < len(b) {
		return nil, fmt.Errorf("byte %d, 0x%x, is not UTF-8", valid+1, b[valid])
	}
	d := decoder{tokens: json.NewDecoder(bytes.NewReader(b)), text: b}
	d.tokens.UseNumber()
	return d.value(name)
}

// syntaxError returns the error for a text that is not JSON.
func syntaxError(err error) error {
	if at := (*json.SyntaxError)(nil); errors.As(err, &at) {
		return fmt.Errorf("it is not JSON: byte %d: %w", at.Offset, err)
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

// utf8Prefix returns the number of bytes at the beginning of b that are UTF-8.
func utf8Prefix(b []byte) (n int) {
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			return n
		}
		n += size
	}
	return n
}

// decoder decodes a text that is known to be JSON.
type decoder struct {
	tokens *json.Decoder
	text   []byte
}

// token returns the next token, which has a name for errors.
func (d *decoder) token(name string) (json.Token, error) {
	from := d.tokens.InputOffset()
	t, err := d.tokens.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, syntaxError(err)
	}
	if _, isString := t.(string); isString {
		raw := d.text[from:d.tokens.InputOffset()]
		if half := halfPair(raw[bytes.IndexByte(raw, '"'):]); half != "" {
			return nil, in(name, fmt.Errorf("%s is half of a surrogate pair, which is no character", half))
		}
	}
	return t, nil
}

// halfPair returns the first escape sequence in a string, such as \ud800, that is half of a
// surrogate pair, or "".
func halfPair(raw []byte) string {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		switch unit := unitAt(raw[i:]); {
		case 0xd800 <= unit && unit < 0xdc00 && isLow(unitAt(raw[i+6:])):
			i += 11
		case 0xd800 <= unit && unit < 0xe000:
			return string(raw[i : i+6])
		default:
			i++
		}
	}
	return ""
}

func isLow(unit uint64) bool { return 0xdc00 <= unit && unit < 0xe000 }

// unitAt returns the code unit of the escape sequence that text begins with, or 0.
func unitAt(text []byte) uint64 {
	if !bytes.HasPrefix(text, []byte(`\u`)) || len(text) < 6 {
		return 0
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return unit
}

// value returns the next value.
func (d *decoder) value(name string) (any, error) {
	t, err := d.token(name)
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return d.object(name)
		}
		return d.list(name)
	case json.Number:
		return number(name, string(t))
	}
	return t, nil
}

// list returns the rest of a list.
func (d *decoder) list(name string) (any, error) {
	list := []any{}
	for d.tokens.More() {
		v, err := d.value(fmt.Sprintf("%s[%d]", name, len(list)))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.token(name)
	return list, err
}

// object returns the rest of an object.
func (d *decoder) object(name string) (any, error) {
	o := Object{}
	for d.tokens.More() {
		t, err := d.token(name)
		if err != nil {
			return nil, err
		}
		member := t.(string)
		if _, twice := o[member]; twice {
			return nil, in(name, fmt.Errorf("the member %q is given twice", member))
		}
		if o[member], err = d.value(strings.TrimPrefix(name+"."+member, ".")); err != nil {
			return nil, err
		}
	}
	_, err := d.token(name)
	return o, err
}

// number returns an int64 or a float64.
func number(name, text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, in(name, fmt.Errorf("the number %s is too large", text))
		}
		return f, nil
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, in(name, fmt.Errorf("the integer %s is not from -2^63 to 2^63-1", text))
	}
	return i, nil
}

// in adds the name of a value to an error.
func in(name string, err error) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// JSONKind returns what a value is, for messages: "a list", "null".
func JSONKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case int64:
		return "an integer"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}
