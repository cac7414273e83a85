package edgelist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// PropertyType is the type of the values of a property of nodes.
type PropertyType int

// The types of properties. AnyType is detected from the values of the whole list.
const (
	AnyType PropertyType = iota
	BoolType
	IntegerType
	FloatType
	StringType
	TimeType
	ListType // list of strings
)

// propertyTypes returns the names of the values of PropertyType.
func propertyTypes() []string {
	return []string{"auto", "bool", "integer", "float", "string", "time", "list"}
}

// String returns the name of the type, such as "float".
func (p PropertyType) String() string { return enumName(p, propertyTypes()) }

// MarshalText implements [encoding.TextMarshaler].
func (p PropertyType) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *PropertyType) UnmarshalText(b []byte) (err error) {
	*p, err = parseEnum[PropertyType]("type", string(b), propertyTypes(), ", ")
	return err
}

// typeNamed returns the type with a name, its own or one in the notation of Neo4j, in any case.
func typeNamed(name string) (PropertyType, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := slices.Index(propertyTypes(), name); i > 0 {
		return PropertyType(i), true
	}
	if strings.HasSuffix(name, "[]") {
		return ListType, true
	}
	p, ok := map[string]PropertyType{
		"boolean": BoolType, "int": IntegerType, "long": IntegerType, "short": IntegerType, "byte": IntegerType,
		"double": FloatType, "char": StringType, "date": TimeType, "datetime": TimeType, "localdatetime": TimeType,
	}[name]
	return p, ok
}

// PropertyOptions says how the columns of a list of nodes that has a header become properties.
type PropertyOptions struct {
	Types PropertyTypes // types of properties; others are detected from the whole list
	// NodeColumns says what columns mean whose names do not.
	NodeColumns NodeColumns
	Skip        ColumnNames // columns that are not read
	// ListSeparator separates the strings of a list. If it is given, a column of strings in which
	// it occurs has lists. "" means a semicolon or, in a column without one, a bar.
	ListSeparator string
}

// PropertyTypes are types of properties by name. The text form is price:float,tags:list.
type PropertyTypes map[string]PropertyType

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *PropertyTypes) UnmarshalText(b []byte) error {
	*p = PropertyTypes{}
	for part := range strings.SplitSeq(string(b), ",") {
		part = strings.TrimSpace(part)
		i := strings.LastIndexByte(part, ':')
		if i < 1 {
			return fmt.Errorf("edgelist: types %q: want NAME:TYPE, as in price:float,tags:list", part)
		}
		t, ok := typeNamed(part[i+1:])
		if !ok {
			return fmt.Errorf("edgelist: types %q: unknown type %q (accepted: %s)", part, part[i+1:], strings.Join(propertyTypes()[1:], ", "))
		}
		(*p)[part[:i]] = t
	}
	return nil
}

// NodeColumns says what columns mean, by name or number from 1: node, label or the name of a
// property. The text form is label=kind,points=score, where the meaning comes first.
type NodeColumns map[string]string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *NodeColumns) UnmarshalText(b []byte) error {
	*n = NodeColumns{}
	for part := range strings.SplitSeq(string(b), ",") {
		means, column, ok := strings.Cut(part, "=")
		if means, column = strings.TrimSpace(means), strings.TrimSpace(column); !ok || means == "" || column == "" {
			return fmt.Errorf("edgelist: columns %q: want MEANING=COLUMN, as in label=kind,points=score", part)
		}
		if _, twice := (*n)[column]; twice {
			return fmt.Errorf("edgelist: columns: %q occurs twice", column)
		}
		(*n)[column] = means
	}
	return nil
}

// ColumnNames are names or numbers of columns. The text form separates them by commas.
type ColumnNames []string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *ColumnNames) UnmarshalText(b []byte) error {
	*c = nil
	for name := range strings.SplitSeq(string(b), ",") {
		*c = append(*c, strings.TrimSpace(name))
	}
	return nil
}

// Property is a column of a list of nodes that becomes a property.
type Property struct {
	Name   string       `json:"name"`
	Type   PropertyType `json:"type"`
	Column string       `json:"column"` // name of the column

	at      int  // the column, from 0
	said    bool // the header or an option says the type, so that strings may be empty
	integer bool // the property has integers, and becomes one of floats with the first float
}

// String returns the name and the type.
func (p Property) String() string { return p.Name + " (" + p.Type.String() + ")" }

// PropertyNames returns the names and types of properties, separated by commas.
func PropertyNames(all []Property) string {
	var names []string
	for _, p := range all {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// nodeColumns says what the columns of a list of nodes are.
type nodeColumns struct {
	key, label int // -1: none
	properties []Property
	unused     []string
}

// columnOf returns the column with a name or number.
func columnOf(names []string, given string) (int, bool) {
	if i := slices.Index(names, given); i >= 0 {
		return i, true
	}
	if i, ok := untyped(names, given); ok {
		return i, true
	}
	n, err := strconv.Atoi(given)
	return n - 1, err == nil && 1 <= n && n <= len(names)
}

// untyped returns the column that has a name before its type.
func untyped(names []string, given string) (int, bool) {
	i := slices.IndexFunc(names, func(n string) bool {
		name, _ := splitType(n)
		return name == given
	})
	return i, i >= 0
}

// splitType splits a name as price:float. Without a known type it returns the whole name.
func splitType(column string) (name string, t PropertyType) {
	if i := strings.LastIndexByte(column, ':'); i > 0 {
		if t, ok := typeNamed(column[i+1:]); ok {
			return column[:i], t
		}
	}
	return column, AnyType
}

// planNodes decides what the columns of a list of nodes mean. fixed is the column of the keys, -2
// if the names say it, and -1 if there are no keys. typed says that names have no types, as in a
// table. labels reports whether a column may have the labels; nil means that each may.
func (o *Options) planNodes(names []string, fixed int, typed bool, labels func(int) bool) (c nodeColumns, err error) {
	p := &o.Properties
	meaning := make([]string, len(names))
	for column, means := range p.NodeColumns {
		at, ok := columnOf(names, column)
		if !ok {
			return c, noColumn("columns", column, names)
		}
		meaning[at] = means
	}
	skipped := make([]bool, len(names))
	for _, column := range p.Skip {
		at, ok := columnOf(names, column)
		if !ok {
			return c, noColumn("skip", column, names)
		}
		skipped[at] = true
	}
	free := func(i int) bool { return meaning[i] == "" && !skipped[i] && (labels == nil || labels(i)) }
	if c.key = fixed; fixed == -2 {
		if c.key = slices.Index(meaning, "node"); c.key < 0 {
			c.key = keyColumn(names)
		}
	}
	if c.label = slices.Index(meaning, "label"); c.label < 0 {
		c.label = labelColumn(names, c.key, free)
	}
	for i, name := range names {
		if i == c.key || i == c.label {
			continue
		}
		if skipped[i] || meaning[i] == "" && (name == "" || strings.HasSuffix(strings.ToLower(name), ":ignore")) {
			if name != "" {
				c.unused = append(c.unused, name)
			}
			continue
		}
		c.properties = append(c.properties, Property{Name: meaning[i], Column: name, at: i})
	}
	return c, o.typeProperties(c.properties, typed)
}

// typeProperties sets the names and the known types of properties.
func (o *Options) typeProperties(all []Property, typed bool) error {
	known := map[string]string{}
	for i := range all {
		p := &all[i]
		name, t := splitType(p.Column)
		if typed {
			name, t = p.Column, AnyType
		}
		if p.Name == "" {
			p.Name = name
		}
		if said, ok := o.Properties.Types[p.Name]; ok {
			t = said
		}
		p.Type, p.said = t, t != AnyType
		if column, twice := known[p.Name]; twice {
			return &Refusal{Note{fmt.Sprintf("columns %q and %q are both property %q", column, p.Column, p.Name),
				[]Setting{{"columns", fmt.Sprintf("%s2=%d", p.Name, p.at+1)}, {"skip", strconv.Itoa(p.at + 1)}}}}
		}
		known[p.Name] = p.Column
	}
	for name := range o.Properties.Types {
		if _, ok := known[name]; !ok {
			return &Refusal{Note{Msg: fmt.Sprintf("types: no column is property %q", name)}}
		}
	}
	return nil
}

func noColumn(option, column string, names []string) error {
	return &Refusal{Note{Msg: fmt.Sprintf("%s: no column is called %q; the header has %s", option, column, strings.Join(names, ", "))}}
}

// keyColumn returns the column of keys: in the notation of Neo4j, or with a usual name; otherwise
// the first.
func keyColumn(names []string) int {
	if at := idColumn(names); at >= 0 {
		return at
	}
	if len(names) > 2 && find(names[:1], nodeNames()...) < 0 && !isNodeWord(names[0]) {
		return max(0, find(names, nodeNames()...))
	}
	return 0
}

// labelColumn returns the column of labels besides the column of keys: one with a usual name, or
// the only one; -1 means none.
func labelColumn(names []string, key int, free func(int) bool) int {
	var others []int
	for i := range names {
		if i != key && free(i) {
			others = append(others, i)
		}
	}
	usual := labelNames()
	foreign := idColumn(names) >= 0 // names then mean what they say
	if foreign {
		usual = usual[:2]
	}
	for _, usual := range usual {
		for _, i := range others {
			name, t := splitType(names[i])
			if strings.EqualFold(name, usual) && (t == AnyType || t == StringType) {
				return i
			}
		}
	}
	if len(names) == 2 && len(others) == 1 && !foreign {
		if _, t := splitType(names[others[0]]); t == AnyType {
			return others[0]
		}
	}
	return -1
}

// labelNames returns the usual names of a column of labels; the first two are notations.
func labelNames() []string {
	return []string{":label", "~label", "label", "class", "category", "kind", "type"}
}

// among reports whether the options name a column of a header.
func (p *PropertyOptions) among(names []string) bool {
	for column := range p.NodeColumns {
		if slices.Contains(names, column) {
			return true
		}
	}
	for name := range p.Types {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// knownType sets the type of a property that exists, and checks that it may be one.
func (o *Options) knownType(p *Property) error {
	if o.PropertyType == nil {
		return nil
	}
	t, err := o.PropertyType(p.Name)
	switch {
	case err != nil:
		return &Refusal{Note{fmt.Sprintf("column %q: %v", p.Column, err), []Setting{{"columns", "my_" + p.Name + "=" + p.Column}, {"skip", p.Column}}}}
	case t == AnyType, t == p.Type, t == IntegerType && p.Type == FloatType:
	case t == IntegerType && p.Type == AnyType:
		p.integer = true
	case p.Type == AnyType, t == FloatType && p.Type == IntegerType:
		p.Type = t
		return nil
	default:
		return &Refusal{Note{fmt.Sprintf("column %q has values of type %v, and property %q is of type %v already", p.Column, p.Type, p.Name, t),
			[]Setting{{"columns", "my_" + p.Name + "=" + p.Column}, {"skip", p.Column}}}}
	}
	return nil
}

// settle sets what was detected: the type of the values, and the separator of lists.
func (r *valueReader) settle(d *detector) {
	if r.Type == AnyType {
		r.detected = true
		if r.Type = d.kind; d.kind == AnyType {
			r.Type = StringType // it has no values
		}
		if r.integer && r.Type != FloatType {
			r.Type = IntegerType
		}
		if r.Type == StringType && r.separator != "" && strings.Contains(d.separators, r.separator) {
			r.Type = ListType
		}
	}
	if r.separator == "" {
		r.separator = listSeparator
		if !strings.Contains(d.separators, listSeparator) && strings.Contains(d.separators, "|") {
			r.separator = "|"
		}
	}
}
