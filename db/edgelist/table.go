package edgelist

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Tables is a format of files with typed columns, such as Parquet, that a program adds to the
// formats of this package.
type Tables interface {
	// Open opens a file. The table may take about as many bytes of memory as memory says.
	Open(file io.ReaderAt, size, memory int64) (Table, error)
	// Create returns a writer of a file with the given columns.
	Create(w io.Writer, fields []Field) (RowWriter, error)
}

// Table is an opened file with typed columns.
type Table interface {
	// Fields returns the columns in the order of the file.
	Fields() []Field
	// Next returns the next rows: their number and, for each index of fields, the values of that
	// column. They are valid until the next call. fields is the same for all calls. After the last
	// row it returns io.EOF.
	Next(fields []int) (rows int, values []Vector, err error)
}

// Field is a column of a table.
type Field struct {
	Name string
	Type Type
	Unit TimeFormat // unit of a Timestamp; a file is written with microseconds or, if it is 0, milliseconds
	// Optional says that a column of numbers may have rows without a value when it is written.
	// Columns of other types always may.
	Optional bool
	Kind     string // type of the column in the words of the format, for messages
}

// Type is the type of the values of a column.
type Type int

const (
	OtherType Type = iota // not read
	Integer               // int64
	Unsigned              // uint64, in the bits of an int64
	Single                // float32
	Double                // float64
	String
	Timestamp // integer in a unit of time
	Floats    // list of float32
	Bool      // integer, 0 or 1
	Strings   // list of strings
)

// Vector is the values of some rows of a column.
type Vector struct {
	Ints    []int64   // of an Integer, Unsigned, Timestamp or Bool
	Numbers []float64 // of a Single, Double or Floats
	Strings []string  // of a String or Strings
	Ends    []int     // of Floats and Strings: where the list of each row ends in Numbers or Strings
	Null    []bool    // the rows without a value; nil if every row has one
}

// RowWriter writes a list row by row, column by column. Each method but End and Close writes the
// next column of the row.
type RowWriter interface {
	Key(Token) error
	Text(string) error
	Int(int64)
	Float(float32)
	Double(float64)
	Time(int64) // in seconds since 1970; 0 means none
	Floats([]float32)
	// Value writes a value of a property: a bool, an int64, a float64, a string, a time.Time, a
	// []string, or nil for none.
	Value(any) error
	// End ends the row.
	End() error
	// Close completes the file. It does not close the writer below.
	Close() error
}

// ErrTables is returned for a Parquet file without Options.Tables.
var ErrTables = errors.New("edgelist: this program reads no Parquet files; kith load does. In a program that embeds kith, set Tables to a parquet.Format of kith/db/edgelist/parquet")

// errTable is the error for a table without the columns of a list.
var errTable = fmt.Errorf("%w for edges", ErrColumns)

// rows reads the rows of a table.
type rows struct {
	table  Table
	fields []Field
	read   []int    // the columns that are read
	values []Vector // columns of the rows that were fetched last, by place in read
	count  int      // number of fetched rows
	at     int      // place of the current row in values
	row    int64    // number of the current row, from 1
}

// openTable opens a table.
func openTable(in io.Reader, o Options) (*rows, error) {
	if o.Tables == nil {
		return nil, ErrTables
	}
	at, size, err := o.place(in)
	if err != nil {
		return nil, err
	}
	const usual = 64 << 20
	t, err := o.Tables.Open(at, size, cmp.Or(o.Memory, usual))
	if err != nil {
		return nil, fmt.Errorf("edgelist: %w", err)
	}
	return &rows{table: t, fields: t.Fields(), at: -1}, nil
}

// column adds a column to the columns that are read, and returns its place in values.
func (t *rows) column(field int) int {
	t.read = append(t.read, field)
	return len(t.read) - 1
}

// names returns the names of the columns.
func (t *rows) names() (all []string) {
	for _, f := range t.fields {
		all = append(all, f.Name)
	}
	return all
}

// unused returns the names of the columns that are not read.
func (t *rows) unused() (all []string) {
	used := map[int]bool{}
	for _, i := range t.read {
		used[i] = true
	}
	for i, f := range t.fields {
		if !used[i] {
			all = append(all, f.Name)
		}
	}
	return all
}

// next moves to the next row. After the last one it returns io.EOF.
func (t *rows) next() error {
	if t.at++; t.at >= t.count {
		if err := t.fetch(); err != nil {
			return err
		}
	}
	t.row++
	return nil
}

// fetch reads the next rows and makes the first of them the current row.
func (t *rows) fetch() (err error) {
	t.at = 0
	t.count, t.values, err = t.table.Next(t.read)
	if err != nil && err != io.EOF {
		t.count = 0
		err = fmt.Errorf("edgelist: %w", err)
	}
	return err
}

// peek reads the first rows, before the first call of next.
func (t *rows) peek() error {
	err := t.fetch()
	t.at = -1
	if err == io.EOF {
		err = nil
	}
	return err
}

// field returns the column at a place in values.
func (t *rows) field(place int) Field { return t.fields[t.read[place]] }

// null reports whether the current row has no value in a column.
func (t *rows) null(place int) bool {
	null := t.values[place].Null
	return null != nil && null[t.at]
}

// number returns a value of a column of numbers.
func (t *rows) number(place int) float64 {
	v := &t.values[place]
	switch t.field(place).Type {
	case Integer:
		return float64(v.Ints[t.at])
	case Unsigned:
		return float64(uint64(v.Ints[t.at]))
	}
	return v.Numbers[t.at]
}

// text returns a value of a column of strings or integers.
func (t *rows) text(place int) []byte {
	v := &t.values[place]
	switch t.field(place).Type {
	case Integer:
		return strconv.AppendInt(nil, v.Ints[t.at], 10)
	case Unsigned:
		return strconv.AppendUint(nil, uint64(v.Ints[t.at]), 10)
	}
	return []byte(v.Strings[t.at])
}

// key returns a value of a column of keys.
func (t *rows) key(place int) (k Token, err error) {
	if t.null(place) {
		return k, t.bad(place, "is null")
	}
	v := &t.values[place]
	switch t.field(place).Type {
	case Integer:
		k = Token{Int: v.Ints[t.at], IsInt: true}
	case Unsigned:
		if k = (Token{Int: v.Ints[t.at], IsInt: true}); k.Int < 0 {
			k = Token{Str: strconv.FormatUint(uint64(k.Int), 10)}
		}
	default:
		s := v.Strings[t.at]
		if k = unquoted(s); !k.IsInt && (k.Str == "" || !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0) {
			return k, t.bad(place, "is empty, not valid UTF-8 or contains a NUL byte")
		}
	}
	return k, nil
}

// bad returns the error for a value of the current row.
func (t *rows) bad(place int, what string) *LineError {
	return &LineError{Line: t.row, Text: t.shown(place), Msg: fmt.Sprintf("column %q %s", t.field(place).Name, what)}
}

// shown returns the start of a value, for messages.
func (t *rows) shown(place int) string {
	const most = 60
	v, text := &t.values[place], ""
	switch t.field(place).Type {
	case String:
		text = v.Strings[t.at]
	case Single, Double:
		text = strconv.FormatFloat(v.Numbers[t.at], 'g', -1, 64)
	case Integer, Timestamp:
		text = strconv.FormatInt(v.Ints[t.at], 10)
	}
	if t.null(place) {
		return ""
	}
	return text[:min(len(text), most)]
}

// check returns an error if a column has not one of the given types. what says what the column
// should have.
func (t *rows) check(place int, what string, types ...Type) error {
	f := t.field(place)
	if slices.Contains(types, f.Type) {
		return nil
	}
	return fmt.Errorf("%w: column %q is %s: %s", errTable, f.Name, f.Kind, what)
}

// keyTypes says in messages what keys are.
const keyTypes = "keys are integers or strings"

// tableEdges reads edges from a table.
type tableEdges struct {
	*rows
	Detected
	places    places // of the columns that are read
	relations nameSet
	signed    bool // weights may be negative
}

func newTableEdges(in io.Reader, o Options) (*tableEdges, error) {
	r, err := openTable(in, o)
	if err != nil {
		return nil, err
	}
	t := &tableEdges{rows: r, Detected: Detected{Format: Parquet}, places: noPlaces(), signed: o.Negative != ""}
	at, err := t.choose(o)
	if err != nil {
		return nil, err
	}
	for r, to := range t.Names.byRole() {
		if at[r] >= 0 {
			t.places[r], *to = t.column(at[r]), t.fields[at[r]].Name
		}
	}
	t.Unused = t.unused()
	err = t.checkTypes()
	if err == nil {
		err = t.peek()
	}
	if err != nil {
		return nil, err
	}
	if place := t.places[roleTime]; place >= 0 {
		t.Times = t.timeFormat(place, o.Times)
	}
	return t, nil
}

// choose returns the columns by role: the columns that the options name, the columns with the usual
// names, or the columns of a table that has no others.
func (t *tableEdges) choose(o Options) (at places, err error) {
	names := t.names()
	at, t.Columns, err = o.columnsByName(names)
	switch {
	case err != nil || t.Columns != Auto:
		return at, err
	case o.Columns == Auto && len(names) == SrcDst.count():
		t.Columns = SrcDst
	case o.Columns != Auto && o.Columns.count() <= len(names):
		t.Columns = o.Columns
	default:
		return at, fmt.Errorf("%w: none are called source and target; give their names with columns = 'src=NAME,dst=NAME'; there are %s",
			errTable, strings.Join(names, ", "))
	}
	return t.Columns.places(), nil
}

// checkTypes returns an error if a column does not have a type that its role may have.
func (t *tableEdges) checkTypes() (err error) {
	for r, accepted := range [roleCount]struct {
		what  string
		types []Type
	}{
		roleSrc:      {keyTypes, []Type{Integer, Unsigned, String}},
		roleRelation: {"relations are strings or integers", []Type{String, Integer, Unsigned}},
		roleDst:      {keyTypes, []Type{Integer, Unsigned, String}},
		roleWeight:   {"weights are numbers", []Type{Integer, Unsigned, Single, Double}},
		roleTime:     {"times are timestamps, numbers or strings", []Type{Timestamp, Integer, Single, Double, String}},
	} {
		if place := t.places[r]; place >= 0 {
			err = errors.Join(err, t.check(place, accepted.what, accepted.types...))
		}
	}
	return err
}

// timeFormat returns the format of the times of a column: its unit, otherwise the format of the
// options, otherwise the most frequent format in the first rows.
func (t *tableEdges) timeFormat(place int, given TimeFormat) TimeFormat {
	if f := t.field(place); f.Type == Timestamp {
		return f.Unit
	}
	if given != AnyTime {
		return given
	}
	var forms timeForms
	for i := range min(t.count, guessLines) {
		if null := t.values[place].Null; null == nil || !null[i] {
			forms.add(t.timeText(place, i))
		}
	}
	return forms.best(t.field(place).Name)
}

// timeText returns the text of the time in a row.
func (t *tableEdges) timeText(place, row int) []byte {
	switch v := &t.values[place]; t.field(place).Type {
	case String:
		return []byte(v.Strings[row])
	case Single, Double:
		return strconv.AppendFloat(nil, v.Numbers[row], 'f', -1, 64)
	}
	return strconv.AppendInt(nil, t.values[place].Ints[row], 10)
}

func (t *tableEdges) next(e *Edge) (err error) {
	if err := t.rows.next(); err != nil {
		return err
	}
	e.Line = t.row
	if e.Src, err = t.key(t.places[roleSrc]); err == nil {
		e.Dst, err = t.key(t.places[roleDst])
	}
	if place := t.places[roleRelation]; place >= 0 && err == nil && !t.null(place) {
		text, ok := t.text(place), false
		if e.Relation, ok = t.relations.of(text); !ok {
			err = t.bad(place, "has "+t.relations.fault(text))
		}
	}
	if place := t.places[roleWeight]; place >= 0 && err == nil {
		ok := false
		if e.Weight, ok = validWeight(float32(t.number(place)), t.signed); t.null(place) {
			err = t.bad(place, "is null")
		} else if !ok {
			err = t.bad(place, "is not a finite number above 0 (32 bits)").ofWeight(t.number(place))
		}
	}
	if place := t.places[roleTime]; place >= 0 && err == nil && !t.null(place) {
		e.Time, err = t.time(place)
	}
	return err
}

// time returns the time in the current row.
func (t *tableEdges) time(place int) (int64, error) {
	at, ok := int64(0), false
	switch v, kind := &t.values[place], t.field(place).Type; {
	case kind == Timestamp, kind == Integer && t.Times.numeric():
		at, ok = t.Times.seconds(v.Ints[t.at])
	case kind != String && t.Times.numeric():
		at, ok = t.Times.real(v.Numbers[t.at])
	default:
		at, ok = t.Times.parse(t.timeText(place, t.at))
	}
	if ok {
		return at, nil
	}
	msg, form := t.Times.wrongTime(t.timeText(place, t.at))
	err := t.bad(place, strings.TrimPrefix(msg, "time "))
	if form != AnyTime && t.field(place).Type != Timestamp {
		return 0, err.help("times", form.String())
	}
	return 0, err
}
