package edgelist

import "strings"

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
