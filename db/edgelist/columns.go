package edgelist

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Columns says what the first columns of a list mean: the names of their roles in the order of the
// columns, separated by commas. The roles are src, relation, dst, weight and time, each at most
// once, src and dst always.
type Columns string

const (
	Auto             Columns = "" // guessed from the first lines
	SrcDst           Columns = "src,dst"
	SrcDstWeight     Columns = "src,dst,weight"
	SrcDstTime       Columns = "src,dst,time"
	SrcDstWeightTime Columns = "src,dst,weight,time"
	SrcRelationDst   Columns = "src,relation,dst"
	SrcDstRelation   Columns = "src,dst,relation"
)

// A role is what a column says of an edge.
type role int

const (
	roleSrc role = iota
	roleRelation
	roleDst
	roleWeight
	roleTime
	roleCount
)

// roles describes the roles, in the order of a list that has all of them.
var roles = [roleCount]struct {
	name   string   // in options
	usual  []string // names of columns in a header, in lower case; pairings has the names of the ends
	arrays []string // names of arrays with a value for each edge, besides the array of ends
	file   string   // name of the file of a folder with a value on a line for each edge
	heads  string   // name of the column that has the lines of that file
}{
	roleSrc: {name: "src"},
	roleRelation: {
		name: "relation",
		usual: []string{
			":type", "~label", "_type", "relation", "rel", "predicate", "relationship", "relation_type", "relationtype", "rel_type", "reltype", "relationship_type",
			"relation_name", "relation_id", "edge_type", "edgetype", "etype", "link_type", "linktype",
		},
		arrays: []string{"edge_reltype", "edge_type", "edge_types", "reltype", "relation", "relations", "rel"},
		file:   "edge_reltype.csv.gz", heads: "relation",
	},
	roleDst: {name: "dst"},
	roleWeight: {
		name:   "weight",
		usual:  []string{"weight", "w", "value", "rating", "ratings", "score", "stars", "count", "strength"},
		arrays: []string{"edge_weight", "edge_weights", "weight", "weights"},
		file:   "edge_weight.csv.gz", heads: "weight",
	},
	roleTime: {
		name:  "time",
		usual: []string{"time", "timestamp", "t", "ts", "date", "datetime", "created_at", "year", "unixtime", "unixreviewtime"},
		arrays: []string{
			"edge_time", "edge_times", "time", "times", "timestamp", "timestamps", "edge_timestamp", "edge_ts", "ts", "t", "edge_year", "year",
		},
		file: "edge_year.csv.gz", heads: "year",
	},
}

// roleNamed returns the role with a name.
func roleNamed(name string) (role, bool) {
	for r := range roles {
		if roles[r].name == name {
			return role(r), true
		}
	}
	return 0, false
}

// places are the indexes of columns by role. The index of a role without a column is -1.
type places [roleCount]int

// noPlaces returns places without a column.
func noPlaces() (at places) {
	for r := range at {
		at[r] = -1
	}
	return at
}

// last returns the largest index of a column.
func (at *places) last() int { return slices.Max(at[:]) }

// columns returns the roles that have a column, in their order.
func (at *places) columns() Columns {
	var names []string
	for r, place := range at {
		if place >= 0 {
			names = append(names, roles[r].name)
		}
	}
	return Columns(strings.Join(names, ","))
}

// String returns the columns' names, such as "src,dst,weight".
func (c Columns) String() string { return cmp.Or(string(c), "auto") }

// MarshalText implements [encoding.TextMarshaler].
func (c Columns) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Columns) UnmarshalText(b []byte) (err error) {
	*c, err = ParseColumns(string(b))
	return err
}

// ParseColumns parses the result of [Columns.String].
func ParseColumns(s string) (Columns, error) {
	c := Columns(s)
	if s == Auto.String() {
		return Auto, nil
	}
	if !c.valid() {
		return Auto, fmt.Errorf("edgelist: unknown columns %q, expected auto, src,dst, src,dst,weight, src,relation,dst or similarly: src, relation, dst, weight and time, each at most once, in the order of the columns", s)
	}
	return c, nil
}

// valid reports whether the columns are names of roles, each once, with both ends of an edge.
func (c Columns) valid() bool {
	at, names := c.places(), strings.Split(string(c), ",")
	for i, name := range names {
		if r, ok := roleNamed(name); !ok || at[r] != i {
			return false
		}
	}
	return at[roleSrc] >= 0 && at[roleDst] >= 0
}

// count returns the number of columns.
func (c Columns) count() int {
	at := c.places()
	return at.last() + 1
}

// places returns the indexes of the columns by role.
func (c Columns) places() places {
	at := noPlaces()
	if c == Auto {
		c = SrcDst
	}
	for i, name := range strings.Split(string(c), ",") {
		if r, ok := roleNamed(name); ok {
			at[r] = i
		}
	}
	return at
}

// has reports whether a column has a role. Auto has any role.
func (c Columns) has(r role) bool { return c == Auto || c.places()[r] >= 0 }

// Relations reports whether a column names the relation of each edge.
func (c Columns) Relations() bool { return c != Auto && c.has(roleRelation) }

// same reports whether the columns have the same roles, in any order.
func (c Columns) same(d Columns) bool {
	at, other := c.places(), d.places()
	return at.columns() == other.columns()
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

// ColumnsOf returns the columns of a list with relations, weights, times, or some of them.
func ColumnsOf(relations, weights, times bool) Columns {
	at := SrcDst.places()
	for r, has := range map[role]bool{roleRelation: relations, roleWeight: weights, roleTime: times} {
		if has {
			at[r] = int(r)
		}
	}
	return at.columns()
}

// Names chooses the columns of a text to read: by their names in the header or, if no column has
// that name, by their numbers from 1. The zero value chooses none; otherwise Src and Dst must be
// set.
type Names struct {
	Src, Dst               string
	Relation, Weight, Time string // "" means no such column
}

func (n Names) list() [roleCount]string {
	return [roleCount]string{roleSrc: n.Src, roleRelation: n.Relation, roleDst: n.Dst, roleWeight: n.Weight, roleTime: n.Time}
}

// byRole returns where the names are.
func (n *Names) byRole() [roleCount]*string {
	return [roleCount]*string{roleSrc: &n.Src, roleRelation: &n.Relation, roleDst: &n.Dst, roleWeight: &n.Weight, roleTime: &n.Time}
}

// String returns the names with their roles, such as "src=user_id,dst=item_id". The zero value is
// "".
func (n Names) String() string {
	var list []string
	for r, name := range n.list() {
		if name != "" {
			list = append(list, roles[r].name+"="+name)
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
		named, name, _ := strings.Cut(part, "=")
		r, ok := roleNamed(named)
		if !ok || name == "" || *to[r] != "" {
			return Names{}, fmt.Errorf("edgelist: columns %q: %q is not src, relation, dst, weight or time, each once, with = and the name of a column", s, part)
		}
		*to[r] = name
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
func (n Names) places(header []string) (at places, err error) {
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
