package edgelist

import (
	"bytes"
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

func isComment(c byte) bool { return c == '#' || c == '%' }

// isRemark reports whether a line that begins with # or % looks like words for people: the
// character is followed by another one that is no part of a key.
func isRemark(line []byte) bool {
	line = trimBlanks(line)
	return len(line) < 2 || bytes.IndexByte([]byte(" \t\r#%=-*!"), line[1]) >= 0
}

// isComment reports whether a line that begins with # or % is a comment. begun says that a line
// with data came before it.
func (l *layout) isComment(line []byte, begun bool) bool {
	if l.comments != Detect {
		return l.comments == On
	}
	_, n := l.split(line)
	return n != l.common || !begun && isRemark(line)
}

// chooseComments decides whether lines that begin with # or % are comments, and returns the lines
// with data among the first ones. They are not comments if the options say so, or if they look like
// data and are at least as many as all other lines, or come below a header of a table. A line looks
// like data if it is no remark and has the usual number of columns.
func (l *layout) chooseComments(s sample, headed bool, o Options) [][]byte {
	plain := s.plain
	if headed {
		plain = plain[1:]
	}
	l.common = l.usualColumns(s)
	likeData := 0
	for i, line := range s.all {
		if _, n := l.split(line); isComment(trimBlanks(line)[0]) && n == l.common && !isRemark(line) && (i > 0 || !namesOnly(l.columns(line))) {
			likeData++
		}
	}
	table := len(l.sep) > 0 && headed
	switch l.comments = On; {
	case o.Comments != Detect:
		l.comments = o.Comments
	case likeData > 0 && (table || likeData >= len(plain) && likeData > 1):
		l.comments = Detect
	}
	var lines [][]byte
	for _, line := range s.all {
		if !isComment(trimBlanks(line)[0]) || !l.isComment(line, len(lines) > 0) {
			lines = append(lines, line)
		}
	}
	return lines
}

// usualColumns returns the number of columns that most lines have. Lines that begin with # or %
// count only if all lines do.
func (l *layout) usualColumns(s sample) int {
	lines := s.plain
	if len(lines) == 0 {
		lines = s.marked
	}
	n, _ := l.usual(lines)
	return n
}

// isGroups reports whether a text looks like LGL: comments of a single word are the sources of the
// lines below them.
func isGroups(s sample) bool {
	groups, lines := 0, 0
	for i, line := range s.all {
		words := bytes.FieldsFunc(line, func(c rune) bool { return c < 0x80 && isBlank(byte(c)) })
		if !isComment(words[0][0]) {
			lines++
			if len(words) > 2 || len(words) == 2 && !isNumber(words[1]) {
				return false
			}
			continue
		}
		if string(words[0]) != "#" || len(words) != 2 {
			return false
		}
		if i+1 < len(s.all) && !isComment(trimBlanks(s.all[i+1])[0]) {
			groups++
		}
	}
	return groups >= 2 && lines >= 2 && isComment(trimBlanks(s.all[0])[0])
}

// leaveOut reports whether a line that begins with # or % is a comment, and counts it.
func (t *text) leaveOut(line []byte) bool {
	l := &t.layout
	if !l.isComment(line, t.begun) {
		t.seen.marked++
		return false
	}
	t.Comments++
	if t.seen.comments == Detect && l.comments == On && !isRemark(line) {
		if fields, _ := l.all(line); len(fields) >= 2 && len(fields) == l.common && (t.begun || !namesOnly(l.columns(line))) {
			t.seen.likeData++
		}
	}
	return true
}
