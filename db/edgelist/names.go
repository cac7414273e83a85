package edgelist

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
	*n, err = ParseNames(string(b))
	return err
}

// ParseNames parses the result of [Names.String], for names without a comma.
func ParseNames(s string) (n Names, err error) {
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
