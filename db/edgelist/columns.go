package edgelist

import (
	"fmt"
	"slices"
	"strings"
)

// Columns says what the columns of an edge list mean.
type Columns int

const (
	Auto Columns = iota // guessed from the first lines
	SrcDst
	SrcDstWeight
	SrcDstTime
	SrcDstWeightTime // for text only; never guessed, except from a header that names both
)

// columnNames returns the names of the values of Columns.
func columnNames() []string {
	return []string{"auto", "src,dst", "src,dst,weight", "src,dst,time", "src,dst,weight,time"}
}

// String returns the columns' names, such as "src,dst,weight".
func (c Columns) String() string { return enumName(c, columnNames()) }

// MarshalText implements [encoding.TextMarshaler].
func (c Columns) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Columns) UnmarshalText(b []byte) (err error) {
	*c, err = ParseColumns(string(b))
	return err
}

// ParseColumns parses the result of [Columns.String].
func ParseColumns(s string) (Columns, error) {
	return parseEnum[Columns]("columns", s, columnNames(), " or ")
}

// enumName returns the name of a value. A value out of range has the name of 0.
func enumName[T ~int](v T, names []string) string {
	if v < 0 || int(v) >= len(names) {
		return names[0]
	}
	return names[v]
}

// parseEnum returns the value with a name. what and or are for the message: what the value is, and
// what separates the names.
func parseEnum[T ~int](what, s string, names []string, or string) (T, error) {
	if i := slices.Index(names, s); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("edgelist: unknown %s %q, expected %s, %s", what, s, names[0], strings.Join(names[1:], or))
}

// count returns the number of columns.
func (c Columns) count() int {
	at := c.places()
	return slices.Max(at[:]) + 1
}

// places returns the indexes of the columns by role, if they are the first ones. The index of a
// role without a column is -1.
func (c Columns) places() [4]int {
	switch c {
	case SrcDstWeight:
		return [4]int{0, 1, 2, -1}
	case SrcDstTime:
		return [4]int{0, 1, -1, 2}
	case SrcDstWeightTime:
		return [4]int{0, 1, 2, 3}
	}
	return [4]int{0, 1, -1, -1}
}

const (
	guessBytes = 64 << 10 // bytes of a list from which columns are guessed
	guessLines = 100      // maximal number of edges from which columns are guessed
	firstTime  = 1e8      // larger numbers are taken for times; March 1973 in Unix seconds
)

// guess guesses the meaning of a list's columns from the first lines.
func guess(lines [][]byte, l *layout) Columns {
	var two, three, times, numbers int
	for _, line := range lines[:min(len(lines), guessLines)] {
		switch fields, n := l.split(line); {
		case len(fields[2]) > 0:
			three++
			switch isTime, number := looksLikeTime(fields[2]); {
			case isTime:
				times++
			case number:
				numbers++
			}
		case n >= 2: // a separator may end the line
			two++
		}
	}
	switch {
	case three <= two:
		return SrcDst
	case times > 0 && numbers == 0:
		return SrcDstTime
	}
	return SrcDstWeight
}

// looksLikeTime reports whether a field is rather a time than a weight, and whether it is a number.
// A number with a fraction or an exponent is a time only if it is up to the year 2100 and, in a
// smaller unit than seconds, after 2004, since 1e12 is rather a weight.
func looksLikeTime(field []byte) (isTime, number bool) {
	n, number := parseFloor(field)
	if _, whole := parseInt(field); whole || !number {
		return n > firstTime || timeFormatOf(field) >= RFC3339 || compactOf(field) != AnyTime, number
	}
	const after2004, until2100 = 11e8, 41e8
	unit := unitOf(n)
	s, _ := unit.seconds(n)
	return s > firstTime && s < until2100 && (unit == Seconds || s > after2004), true
}

// ColumnsOf returns the columns of a list with weights, times, or both.
func ColumnsOf(weights, times bool) Columns {
	switch {
	case weights && times:
		return SrcDstWeightTime
	case weights:
		return SrcDstWeight
	case times:
		return SrcDstTime
	}
	return SrcDst
}
