package query

import (
	"io"
	"iter"
	"slices"
	"strings"

	"kith/query/internal/parse"
)

// Fragment is the text of one statement and its position in a script. A Fragment with only a Text
// is a script of its own.
type Fragment = parse.Fragment

// Statement is a parsed statement; see [Fragment.Parse].
type Statement = parse.Statement

// Split cuts a script into statements and yields each as soon as its semicolon has been read. Blank
// statements are left out. A line outside of a statement that begins with a dot is one fragment: a
// command of the shell. For a statement too long to parse, the error is an [*Error], and the
// statements after it follow. An error of the reader is the last pair.
func Split(script io.Reader) iter.Seq2[Fragment, error] { return parse.Split(script) }

// IsWhole reports whether text consists of whole statements, the last one closed by its semicolon.
// Blanks and comments may follow it. A prompt asks for another line until IsWhole returns true.
func IsWhole(text string) bool { return parse.IsWhole(text) }

// Name returns a name as statements spell it: in double quotes if it is not a word.
func Name(name string) string { return parse.Name{Value: name}.String() }

// Object is an object of [JSON].
type Object = parse.Object

// JSON decodes the arguments of a statement, or another JSON value from another program, which is
// called name in errors; "" means that its members are called by their own names. A value is nil, a
// bool, an int64, a float64, a string, an []any or an Object. JSON refuses what encoding/json
// changes or drops without a word: invalid UTF-8, members given twice, numbers too large.
func JSON(name string, b []byte) (any, error) { return parse.JSON(name, b) }

// Palette holds the colours of [Highlight]: the text that begins each part of a statement, such as
// a control sequence of a terminal. "" leaves a part plain.
type Palette struct {
	Keyword, Number, Text, Name, Comment string
	Reset                                string // the text that ends a coloured part
}

// Highlight returns text that is being typed, which may have errors, with its parts in colour.
func Highlight(text string, p Palette) string {
	keywords := parse.Keywords()
	colours := map[parse.Class]string{
		parse.ClassNumber: p.Number, parse.ClassText: p.Text, parse.ClassName: p.Name, parse.ClassParam: p.Name, parse.ClassComment: p.Comment,
	}
	var b strings.Builder
	for l := range parse.Lexemes(text) {
		colour := colours[l.Class]
		if _, isKeyword := slices.BinarySearch(keywords, strings.ToUpper(l.Text)); isKeyword && l.Class == parse.ClassWord {
			colour = p.Keyword
		}
		if colour == "" {
			b.WriteString(l.Text)
			continue
		}
		b.WriteString(colour + l.Text + p.Reset)
	}
	return b.String()
}
