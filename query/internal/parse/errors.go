package parse

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is a fault in a statement and its position. Msg is the whole message; if it is empty, the
// message is composed of Found and Expected.
type Error struct {
	Pos
	Msg        string   `json:"message"`
	Found      string   `json:"found,omitempty"`        // the token at the position
	Expected   []string `json:"expected,omitempty"`     // what the grammar accepts there, in the order of the grammar
	DidYouMean string   `json:"did_you_mean,omitempty"` // the likely intended text; "" means no suggestion
	Err        error    `json:"-"`                      // the database's error, for errors.Is; nil for a syntax error
}

// Unwrap returns the database's error.
func (e *Error) Unwrap() error { return e.Err }

// Error returns "line:column: message", for example `1:9: found end of statement, expected ")"`.
func (e *Error) Error() string {
	msg := e.Msg
	if msg == "" {
		msg = "found " + e.Found + ", expected " + Join(e.Expected, "or")
	}
	if e.DidYouMean != "" {
		msg += "; did you mean " + e.DidYouMean + "?"
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, msg)
}

// Join joins a list as a sentence does, with a word before the last: "a, b or c".
func Join(list []string, word string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " " + word + " " + list[last]
}

// Caret returns the line of the fragment that err points at, and below it a caret under the column.
// It returns "" if err holds no [*Error] in this fragment. A long line is cut around the caret.
func (f Fragment) Caret(err error) string {
	var e *Error
	if !errors.As(err, &e) || e.Offset < f.Offset || e.Offset > f.Offset+len(f.Text) {
		return ""
	}
	at := e.Offset - f.Offset
	begin := strings.LastIndexByte(f.Text[:at], '\n') + 1
	before := []rune(f.Text[begin:at])
	after := []rune(strings.TrimSuffix(f.Text[at:at+lineLen(f.Text[at:])], "\r"))
	if cut := len(before) - maxShown; cut > 0 {
		before = append([]rune("..."), before[cut:]...)
	}
	if len(after) > maxShown {
		after = append(after[:maxShown:maxShown], []rune("...")...)
	}
	return printable(before) + printable(after) + "\n" + strings.Repeat(" ", len(before)) + "^"
}

// printable replaces each control character by a space, so that a tab is one column wide and the
// text of a script cannot control the terminal.
func printable(runes []rune) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || 0x7f <= r && r < 0xa0 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, string(runes))
}

// Suggest returns a value as a statement spells it, or "" if that is too long to show.
func Suggest(v Value) string {
	if s := v.String(); len(s) <= maxShown {
		return s
	}
	return ""
}
