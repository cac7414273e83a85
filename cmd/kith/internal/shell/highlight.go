package shell

import (
	"os"
	"slices"
	"strings"

	"kith/cmd/internal/cli"
	"kith/query/parse"
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
	keywords := parse.Keywords()
	var b strings.Builder
	colours := map[parse.Class]string{
		parse.ClassNumber: magenta, parse.ClassText: yellow, parse.ClassName: green, parse.ClassParam: green, parse.ClassComment: grey,
	}
	for l := range parse.Lexemes(typed) {
		colour := colours[l.Class]
		if l.Class == parse.ClassWord {
			if _, isKeyword := slices.BinarySearch(keywords, strings.ToUpper(l.Text)); isKeyword {
				colour = cyan
			}
		}
		if colour == "" {
			b.WriteString(l.Text)
			continue
		}
		b.WriteString(colour + l.Text + uncoloured)
	}
	return b.String()
}
