package edgelist

import (
	"fmt"
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

// names returns the names of the columns that a user can choose, beginning with SrcDst.
func names() []string {
	return []string{"src,dst", "src,dst,weight", "src,dst,time", "src,dst,weight,time"}
}

// String returns the columns' names, such as "src,dst,weight".
func (c Columns) String() string {
	if c < SrcDst || c > SrcDstWeightTime {
		return "auto"
	}
	return names()[c-SrcDst]
}

// MarshalText implements [encoding.TextMarshaler].
func (c Columns) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Columns) UnmarshalText(b []byte) (err error) {
	*c, err = ParseColumns(string(b))
	return err
}

// ParseColumns parses the result of [Columns.String].
func ParseColumns(s string) (Columns, error) {
	if s == Auto.String() {
		return Auto, nil
	}
	for i, name := range names() {
		if s == name {
			return SrcDst + Columns(i), nil
		}
	}
	return Auto, fmt.Errorf("edgelist: unknown columns %q, expected auto, %s", s, strings.Join(names(), " or "))
}

// count returns the number of columns.
func (c Columns) count() int {
	switch c {
	case SrcDst:
		return 2
	case SrcDstWeightTime:
		return 4
	}
	return 3
}

const (
	guessBytes = 64 << 10 // bytes of a list from which columns are guessed
	guessLines = 100      // maximal number of edges from which columns are guessed
	firstTime  = 1e8      // larger integers are taken for times; March 1973 in Unix seconds
)

// guess guesses the meaning of a list's columns from the first lines.
func guess(lines [][]byte, l *layout) Columns {
	var two, three, times, numbers int
	for _, line := range lines[:min(len(lines), guessLines)] {
		switch fields, n := l.split(line); {
		case fields[2] != nil:
			three++
			switch at, ok := parseTime(fields[2]); {
			case ok && at > firstTime, !ok && timeFormatOf(fields[2]) != AnyTime:
				times++
			case isNumber(fields[2]):
				numbers++
			}
		case n >= 2:
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
