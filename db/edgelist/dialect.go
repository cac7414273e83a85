package edgelist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Dialect says how a text is divided into lines and columns. The zero value detects everything from
// the first lines.
type Dialect struct {
	Separator Separator // of columns
	Header    Switch    // whether the first line names the columns
	Quotes    Quotes    // whether quotes enclose columns
	Comments  Switch    // whether lines that begin with # or % are comments
}

// Switch is the value of an option that is on, off or detected.
type Switch int

const (
	Detect Switch = iota
	On
	Off
)

// String returns auto, on or off.
func (s Switch) String() string { return enumName(s, []string{"auto", "on", "off"}) }

// MarshalText implements [encoding.TextMarshaler].
func (s Switch) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It accepts yes and no too.
func (s *Switch) UnmarshalText(b []byte) error {
	i := slices.Index([]string{"auto", "on", "off", "yes", "no"}, string(b))
	if i < 0 {
		return fmt.Errorf("edgelist: %q is neither yes nor no", b)
	}
	*s = []Switch{Detect, On, Off, On, Off}[i]
	return nil
}

// Quotes says how quotes enclose columns that contain separators.
type Quotes int

const (
	AnyQuotes Quotes = iota // detected
	// DoubledQuotes: a doubled quote within quotes is a quote, as in RFC 4180.
	DoubledQuotes
	NoQuotes          // quotes are characters
	BackslashedQuotes // \" within quotes stands for a quote
)

// quoteNames returns the names of the values of Quotes.
func quoteNames() []string { return []string{"auto", "on", "off", "backslash"} }

// String returns the name, such as "off".
func (q Quotes) String() string { return enumName(q, quoteNames()) }

// MarshalText implements [encoding.TextMarshaler].
func (q Quotes) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It accepts yes and no too.
func (q *Quotes) UnmarshalText(b []byte) (err error) {
	name := string(b)
	if s := Detect; s.UnmarshalText(b) == nil {
		name = s.String()
	}
	*q, err = parseEnum[Quotes]("quotes", name, quoteNames(), " or ")
	return err
}

// Separator separates the columns of a text: "" is detected, " " means any number of blanks or
// tabs, and other text means itself.
type Separator string

// separatorNames returns names of separators that are hard to write.
func separatorNames() map[string]Separator {
	return map[string]Separator{"auto": "", "blank": " ", "tab": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
}

// MarshalText implements [encoding.TextMarshaler].
func (s Separator) MarshalText() ([]byte, error) {
	for name, sep := range separatorNames() {
		if s == sep {
			return []byte(name), nil
		}
	}
	return []byte(s), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It accepts blank, tab, comma, semicolon,
// bar, and characters other than letters, digits and quotes, where \t and \x01 stand for control
// characters.
func (s *Separator) UnmarshalText(b []byte) error {
	text := string(b)
	if sep, ok := separatorNames()[text]; ok {
		*s = sep
		return nil
	}
	if unescaped, err := strconv.Unquote(`"` + text + `"`); err == nil && strings.Contains(text, `\`) {
		text = unescaped
	}
	bad := func(c rune) bool {
		return c == '"' || c == '\n' || c == '\r' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c > 0x7e
	}
	if text == "" || len(text) > 8 || strings.ContainsFunc(text, bad) {
		return fmt.Errorf("edgelist: separator %q (accepted: blank, tab, comma, semicolon, bar, or up to 8 characters that are no letters, digits or quotes, such as ::)", b)
	}
	*s = Separator(text)
	return nil
}

// Refusal is the error for a list that looks like something else. Its options read the list in
// spite of that.
type Refusal struct{ Note }

// Error returns the note.
func (r *Refusal) Error() string { return "edgelist: " + r.Note.String() }
