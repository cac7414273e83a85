package edgelist

import (
	"bytes"
	"math"
	"strconv"
)

// isBlank reports whether c separates columns. A carriage return counts, because it may be part of
// a line's end.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// fields are the columns of a line that are read.
type fields [4][]byte

// parseInt parses an int64 in its canonical spelling: no plus sign, no leading zeros, no -0.
func parseInt(field []byte) (int64, bool) {
	digits, limit := field, uint64(math.MaxInt64)
	negative := len(field) > 1 && field[0] == '-'
	if negative {
		digits, limit = field[1:], limit+1
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' && len(field) > 1 {
		return 0, false
	}
	var n uint64 // 19 digits cannot overflow
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	switch {
	case n > limit:
		return 0, false
	case negative:
		return -int64(n), true
	}
	return int64(n), true
}

// parseWeight parses a float32 that is finite and positive.
func parseWeight(field []byte) (float32, bool) {
	if n, ok := parseInt(field); ok && n < 1<<24 { // exact
		return float32(n), n > 0
	}
	if !isNumber(field) {
		return 0, false
	}
	w, err := strconv.ParseFloat(string(field), 32)
	return float32(w), err == nil && w > 0
}

// isInt reports whether a field is an integer in its canonical spelling.
func isInt(field []byte) bool {
	_, ok := parseInt(field)
	return ok
}

// isDecimalComma reports whether a field is a number with a decimal comma.
func isDecimalComma(field []byte) bool {
	return bytes.Count(field, []byte(",")) == 1 && isNumber(bytes.Replace(field, []byte(","), nil, 1)) && bytes.IndexByte(field, '.') < 0
}

// isNumber reports whether a field has only the characters of a decimal number. This excludes the
// infinities, NaN and hexadecimal numbers, which strconv accepts.
func isNumber(field []byte) bool {
	digits := 0
	for _, c := range field {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E':
			return false
		}
	}
	return digits > 0
}
