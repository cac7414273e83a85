package edgelist

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Value is a value of a property of a node.
type Value struct {
	Type PropertyType // AnyType means no value
	// Num is an integer, the microseconds of a time since 1970, 1 for true and 0 for false, or the
	// bits of a float.
	Num  int64
	Text string   // of a string
	List []string // must not be changed
}

func numberOf(t PropertyType, n int64) Value { return Value{Type: t, Num: n} }

func boolOf(b bool) Value {
	if b {
		return numberOf(BoolType, 1)
	}
	return numberOf(BoolType, 0)
}

func floatOf(f float64) Value { return numberOf(FloatType, int64(math.Float64bits(f))) }

// timeOf returns the value of a time. A time that is not in the years 0 to 9999, which no property
// can have, becomes a later one: its microseconds may not fit.
func timeOf(t time.Time) Value {
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return numberOf(TimeType, math.MaxInt64)
	}
	return numberOf(TimeType, t.UnixMicro())
}

func textOf(s string) Value { return Value{Type: StringType, Text: s} }

func listOf(list []string) Value { return Value{Type: ListType, List: list} }

// detector detects the type of a column from its values.
type detector struct {
	kind       PropertyType // that all values so far have; AnyType before the first
	separators string       // of ; and | and the given one, those that occur
}

// add takes the next value that is not empty. separator is the given separator of lists, or "".
func (d *detector) add(field []byte, separator string) {
	if d.kind.fits(field) {
		return
	}
	if d.kind != StringType {
		d.widen(kindOfValue(field))
	}
	d.separated(field, separator)
}

// fits reports whether a field is a value of a type that is narrower than a string.
func (p PropertyType) fits(field []byte) bool {
	switch p {
	case IntegerType:
		return isInt(field)
	case FloatType:
		return isFloat(field)
	case BoolType:
		return isBool(field)
	case TimeType:
		return isTime(field)
	}
	return false
}

// widen takes the type of the next value.
func (d *detector) widen(kind PropertyType) {
	switch {
	case d.kind == AnyType, d.kind == kind:
		d.kind = kind
	case d.kind == ListType, kind == ListType: // only JSON has lists, and another value is one of one string
		d.kind = ListType
	case d.kind == IntegerType && kind == FloatType, d.kind == FloatType && kind == IntegerType:
		d.kind = FloatType
	default:
		d.kind = StringType
	}
}

// separated notes the separators of lists that occur.
func (d *detector) separated(field []byte, separator string) {
	for _, s := range []string{";", "|", separator} {
		if s != "" && !strings.Contains(d.separators, s) && bytes.Contains(field, []byte(s)) {
			d.separators += s
		}
	}
}

// kindOfValue returns the narrowest type that a value in a text has.
func kindOfValue(field []byte) PropertyType {
	switch {
	case isInt(field):
		return IntegerType
	case isFloat(field), notFinite(field):
		return FloatType // a value that is not finite is malformed then
	case isBool(field):
		return BoolType
	}
	if isTime(field) {
		return TimeType // a date that does not exist is malformed then
	}
	return StringType
}

// isFloat reports whether a field is an integer, or a number with a point or an exponent. Digits
// that begin with a zero, as in a postal code, are no number.
func isFloat(field []byte) bool {
	if isInt(field) {
		return true
	}
	if !isNumber(field) || !bytes.ContainsAny(field, ".eE") {
		return false
	}
	_, err := strconv.ParseFloat(string(field), 64)
	return err == nil
}

// notFinite reports whether a field is one of the spellings of NaN and the infinities.
func notFinite(field []byte) bool {
	if len(field) < 3 || len(field) > len("-infinity") {
		return false
	}
	switch strings.ToLower(strings.TrimLeft(string(field), "+-")) {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}

func isBool(field []byte) bool {
	return len(field) < 6 && (bytes.EqualFold(field, []byte("true")) || bytes.EqualFold(field, []byte("false")))
}

// valueReader reads the values of a column of a text.
type valueReader struct {
	Property
	detected  bool             // the values say the type
	separator string           // of a list
	shared    map[string]Value // values of strings and lists, which are often repeated
}

// maxShared bounds valueReader.shared.
const maxShared = 1 << 12

// read returns the value in a field that is not empty. It returns false if the field has none of
// the type.
func (r *valueReader) read(field []byte) (Value, bool) {
	switch r.Type {
	case IntegerType:
		n, ok := parseInt(field)
		return numberOf(IntegerType, n), ok
	case FloatType:
		if n, ok := parseInt(field); ok {
			return floatOf(float64(n)), true
		}
		f, err := strconv.ParseFloat(string(field), 64)
		return floatOf(f), err == nil && f-f == 0 && isNumber(field)
	case BoolType:
		b, err := strconv.ParseBool(strings.ToLower(string(field)))
		return boolOf(b), err == nil
	case TimeType:
		at, form := civilOf(field)
		return timeOf(at.time()), form != AnyTime
	}
	if v, ok := r.shared[string(field)]; ok {
		return v, true
	}
	v := textOf(string(field))
	if r.Type == ListType {
		v = listOf(splitList(string(field), r.separator))
	}
	if r.shared == nil {
		r.shared = map[string]Value{}
	}
	if len(r.shared) < maxShared && len(field) < maxShared {
		r.shared[string(field)] = v
	}
	return v, true
}

// help adds what reads the field that a malformed line has.
func (r *valueReader) help(err *LineError) error {
	if r.detected && r.Type == TimeType {
		return err.help("types", r.Name+":"+StringType.String())
	}
	return err
}

// fault returns what is wrong with a field for which read returned false.
func (r *valueReader) fault(field []byte) string {
	what := "not a " + r.Type.String()
	switch {
	case r.Type == FloatType && notFinite(field):
		what = "not a finite number; an empty field sets no value"
	case r.Type == IntegerType:
		what = "not an integer"
	case r.Type == ListType:
		what += " of strings"
	case r.Type == TimeType:
		what += ", as 2006-01-02 or 2006-01-02T15:04:05Z are"
	case r.Type == BoolType:
		what += ", as true and false are"
	}
	return fmt.Sprintf("column %s: %.40q is %s", r.Column, field, what)
}

// splitList splits the text of a list into its strings, which are not empty. It leaves out blanks
// around a string. A backslash before a separator, a semicolon, a bar, a blank or another backslash
// makes that a part of the string.
func splitList(s, separator string) []string {
	list := []string{}
	var item []byte
	keep := 0 // number of bytes of item without blanks at its end
	for {
		switch {
		case s == "" || strings.HasPrefix(s, separator):
			if keep > 0 {
				list = append(list, string(item[:keep]))
			}
			if s == "" {
				return list
			}
			item, keep = item[:0], 0
			s = s[len(separator):]
		case s[0] == ' ' && len(item) == 0:
			s = s[1:]
		default:
			n := 1
			escaped := s[0] == '\\' && len(s) > 1
			switch {
			case escaped && strings.HasPrefix(s[1:], separator):
				s, n = s[1:], len(separator)
			case escaped && strings.IndexByte(`\ ;|`, s[1]) >= 0:
				s = s[1:]
			default:
				escaped = false
			}
			item = append(item, s[:n]...)
			if escaped || s[0] != ' ' {
				keep = len(item)
			}
			s = s[n:]
		}
	}
}

// listSeparator separates the strings of a list unless an option says otherwise.
const listSeparator = ";"

// joinList is the inverse of splitList.
func joinList(list []string) string {
	if len(list) == 0 {
		return listSeparator
	}
	escaped := strings.NewReplacer(`\`, `\\`, listSeparator, `\`+listSeparator, "|", `\|`) // a reader may take bars for separators
	all := make([]string, len(list))
	for i, s := range list {
		s = escaped.Replace(s)
		if strings.HasSuffix(s, " ") {
			s = s[:len(s)-1] + `\ `
		}
		if strings.HasPrefix(s, " ") {
			s = `\` + s
		}
		all[i] = s
	}
	return strings.Join(all, listSeparator)
}

// quotedEmpty reports whether an empty column of a line stood in quotes.
func quotedEmpty(field []byte) bool {
	return len(field) == 0 && cap(field) > 0 && field[:1][0] == '"'
}
