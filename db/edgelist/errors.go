package edgelist

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// unclosed returns the error for a quote that encloses no column. It ends the list, because nothing
// says which lines below belong to the column.
func (t *text) unclosed() error {
	return &Refusal{Note{fmt.Sprintf("line %d: a quote is not closed, neither on the line nor, before a separator, on one of the next %d", t.first, maxJoined), []Setting{{"quotes", "off"}}}}
}

// tooMany returns the error for a line with more columns than were guessed.
func (t *text) tooMany(line []byte, n int) error {
	err := t.bad(line, "columns: found %d, expected %d", n, t.minColumns)
	switch columns, _ := t.layout.all(line); {
	case t.lists:
		return t.maybeLists(err)
	case n == 4 && len(t.layout.sep) == 0 && timeFormatOf(columns[2]) == Date && new(civil).clock(columns[3]) != AnyTime:
		err.Msg = "a date and a time of day are two columns; write them with a T between, or separate the columns by commas or tabs"
		return err
	case t.layout.names != nil:
		err.Msg += "; the header has " + strings.Join(named(t.layout.names), ", ")
		return err.help("columns", "src=NAME,dst=NAME")
	case n == SrcDstWeightTime.count() && isNoValue(columns[2]) && !isNoValue(columns[3]):
		if isTime, _ := looksLikeTime(columns[3]); isTime {
			return err.help("columns", string(SrcRelationDst+",time"))
		}
		return err.help("columns", string(SrcRelationDst+",weight"))
	case n == SrcDstWeightTime.count():
		return err.help("columns", SrcDstWeightTime.String())
	case t.ragged: // columns by number would lose further columns
		return err
	}
	return err.help("columns", "src=1,dst=2")
}

// tooFew returns the error for a line with fewer columns than are read.
func (t *text) tooFew(line []byte, n int) error {
	err := t.bad(line, "columns: found %d, expected %d", n, t.minColumns)
	if t.lists && t.guessed {
		return t.maybeLists(err)
	}
	return err
}

// maybeLists adds to an error that the lines may hold a node and its neighbors.
func (t *text) maybeLists(err *LineError) error {
	err.Msg += "; if a line holds a node and all nodes that it links to, the list has another format"
	return err.help("format", Lists.String())
}

// badQuotes returns the error for a line with quotes that do not enclose columns.
func (t *text) badQuotes(line []byte) error {
	err := t.bad(line, "a quote is not closed, or not followed by a separator")
	if bytes.Contains(line, []byte(`\"`)) {
		return err.help("quotes", BackslashedQuotes.String())
	}
	return err.help("quotes", NoQuotes.String())
}

// badWeight returns the error for an invalid weight.
func (t *text) badWeight(line, field []byte) error {
	err := t.bad(line, "weight is not a finite number above 0 (32 bits)")
	switch n, isInt := parseInt(field); {
	case isNumber(field) && field[0] == '-':
		return t.negative(err)
	case isInt && n == 0 && t.guessed && t.offset == 0:
		return err.help("columns", SrcDstTime.String())
	case isNoValue(field) && t.guessed && t.offset == 0:
		err.Msg += "; if a column names relations, the option says which one"
		return err.help("columns", SrcRelationDst.String())
	}
	if _, numeric := parseFloor(field); numeric && compactOf(field) == AnyTime || timeFormatOf(field) == AnyTime || t.Columns != SrcDstWeight {
		return err
	}
	err.Msg = "weight is a time"
	names := t.Names
	if names.Time, names.Weight = names.Weight, ""; t.layout.width > 0 {
		return err.help("columns", names.String())
	}
	return err.help("columns", SrcDstTime.String())
}

// negative adds to the error for a negative weight what can be done with the list.
func (t *text) negative(err *LineError) error {
	err.Msg += ": a list with signs can be read without its weights, or its negative edges as another relation with option negative"
	if t.Format == MatrixMarket {
		return err.help("columns", SrcDst.String())
	}
	names := t.Names
	if names.Weight = ""; names != (Names{}) {
		return err.help("columns", names.String())
	}
	for r, to := range names.byRole() {
		if at := t.layout.at[r]; at >= 0 && role(r) != roleWeight {
			*to = strconv.Itoa(at + 1)
		}
	}
	return err.help("columns", names.String())
}

// ofWeight adds to the error for a weight, if it is negative, the option that reads it.
func (e *LineError) ofWeight(w float64) *LineError {
	if w < 0 {
		return e.help("negative", "distrust")
	}
	return e
}

// badTime returns the error for a time that is invalid or in another format.
func (t *text) badTime(line, field []byte) error {
	msg, form := t.Times.wrongTime(field)
	err := t.bad(line, "%s", msg)
	if form != AnyTime {
		return err.help("times", form.String())
	}
	return err
}

// Note is what a reader assumed about a list, or left out of it.
type Note struct {
	Msg string
	Try []Setting // the options that read the list otherwise; may be nil
}

// Setting is a value of an option of a load, such as header = off.
type Setting struct{ Option, Value string }

// String returns the setting in the syntax of statements.
func (s Setting) String() string {
	return s.Option + " = '" + strings.ReplaceAll(s.Value, "'", "''") + "'"
}

// String returns the note with its options in the syntax of statements.
func (n Note) String() string { return n.Text(Setting.String) }

// Text returns the note with its options, which spell writes.
func (n Note) Text(spell func(Setting) string) string {
	if len(n.Try) == 0 {
		return n.Msg
	}
	var settings []string
	for _, s := range n.Try {
		settings = append(settings, spell(s))
	}
	return n.Msg + " (otherwise: " + strings.Join(settings, ", ") + ")"
}

// MarshalText implements [encoding.TextMarshaler].
func (n Note) MarshalText() ([]byte, error) { return []byte(n.String()), nil }
