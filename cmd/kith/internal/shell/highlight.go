package shell

import (
	"os"
	"strings"

	"kith/cmd/internal/cli"
	"kith/query"
)

// colourful reports whether output to v may be coloured: v is a terminal that supports colours, and
// NO_COLOR is not set (https://no-color.org).
func colourful(v any) bool {
	return cli.IsTerminal(v) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// The control sequences that set a colour, and the sequence that resets it.
const (
	cyan       = "\x1b[36m"
	yellow     = "\x1b[33m"
	magenta    = "\x1b[35m"
	green      = "\x1b[32m"
	grey       = "\x1b[90m"
	uncoloured = "\x1b[0m"
)

// Highlight returns typed text with its lexemes in colour.
func Highlight(typed string) string {
	if strings.HasPrefix(typed, ".") {
		command, arg, _ := strings.Cut(typed, " ")
		return cyan + command + uncoloured + typed[len(command):len(typed)-len(arg)] + arg
	}
	return query.Highlight(typed, query.Palette{
		Keyword: cyan, Number: magenta, Text: yellow, Name: green, Comment: grey, Reset: uncoloured,
	})
}
