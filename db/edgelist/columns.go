package edgelist

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// Names chooses the columns of a text to read: by their names in the header or, if no column has
// that name, by their numbers from 1. The zero value chooses none; otherwise Src and Dst must be
// set.
type Names struct {
	Src, Dst     string
	Weight, Time string // "" means no such column
}

// The roles of columns, in the order of Columns.
const (
	roleSrc = iota
	roleDst
	roleWeight
	roleTime
)

// roleNames returns the names of the roles in [Names.String].
func roleNames() [4]string { return [4]string{"src", "dst", "weight", "time"} }

// weightNames and timeNames return the usual names of columns of weights and times.
func weightNames() []string {
	return []string{"weight", "w", "value", "rating", "ratings", "score", "stars", "count", "strength"}
}

func timeNames() []string {
	return []string{"time", "timestamp", "t", "ts", "date", "datetime", "created_at", "year", "unixtime", "unixreviewtime"}
}

func (n Names) list() [4]string { return [4]string{n.Src, n.Dst, n.Weight, n.Time} }

// byRole returns where the names are.
func (n *Names) byRole() [4]*string { return [4]*string{&n.Src, &n.Dst, &n.Weight, &n.Time} }

// String returns the names with their roles, such as "src=user_id,dst=item_id". The zero value is
// "".
func (n Names) String() string {
	var list []string
	for role, name := range n.list() {
		if name != "" {
			list = append(list, roleNames()[role]+"="+name)
		}
	}
	return strings.Join(list, ",")
}

// MarshalText implements [encoding.TextMarshaler].
func (n Names) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *Names) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*n = Names{}
		return nil
	}
	*n, err = parseNames(string(b))
	return err
}

// parseNames parses the result of [Names.String], for names without a comma.
func parseNames(s string) (n Names, err error) {
	to := n.byRole()
	for part := range strings.SplitSeq(s, ",") {
		role, name, _ := strings.Cut(part, "=")
		names := roleNames()
		i := slices.Index(names[:], role)
		if i < 0 || name == "" || *to[i] != "" {
			return Names{}, fmt.Errorf("edgelist: columns %q: %q is not src, dst, weight or time, each once, with = and the name of a column", s, part)
		}
		*to[i] = name
	}
	return n, n.check()
}

// check returns an error for names without both ends of an edge.
func (n Names) check() error {
	if n != (Names{}) && (n.Src == "" || n.Dst == "") {
		return fmt.Errorf("edgelist: columns %q: src and dst must both be given", n)
	}
	return nil
}

// among reports whether a line has one of the names. It ignores numbers, because they may be column
// numbers.
func (n Names) among(line []string) bool {
	list := n.list()
	return slices.ContainsFunc(list[:], func(name string) bool {
		_, err := strconv.Atoi(name)
		return name != "" && err != nil && find(line, strings.ToLower(name)) >= 0
	})
}

// places returns the indexes of the named columns in a header, which may be nil. The index of a
// role without a name is -1.
func (n Names) places(header []string) (at [4]int, err error) {
	for role, name := range n.list() {
		if at[role] = -1; name == "" {
			continue
		}
		at[role] = slices.Index(header, name)
		if at[role] < 0 {
			at[role] = find(header, strings.ToLower(name))
		}
		if at[role] < 0 {
			if at[role], err = numbered(name, header); err != nil {
				return at, err
			}
		}
	}
	return at, nil
}

// ErrColumns is returned by [NewReader] for columns that a list does not have.
var ErrColumns = errors.New("edgelist: no such column")

// maxPlace is the maximal number of a column.
const maxPlace = 1 << 16

// numbered parses the number of a column and returns its index.
func numbered(name string, header []string) (int, error) {
	place, err := strconv.Atoi(name)
	switch {
	case err != nil && header == nil:
		return 0, fmt.Errorf("%w: %q; no header was found, so columns are counted from 1, unless the option header says that there is one", ErrColumns, name)
	case err != nil:
		return 0, fmt.Errorf("%w: %q; the header has %s", ErrColumns, name, strings.Join(named(header), ", "))
	case place < 1 || place > maxPlace || header != nil && place > len(header):
		return 0, fmt.Errorf("%w: %d; columns are counted from 1", ErrColumns, place)
	}
	return place - 1, nil
}
