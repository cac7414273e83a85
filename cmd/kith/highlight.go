package main

import (
	"os"
	"slices"
	"strings"

	"kith/cmd/internal/cli"
	"kith/query/parse"
)

// colourful reports whether output to v may be coloured: v is a terminal that supports colours, and NO_COLOR is not
// set (https://no-color.org).
func colourful(v any) bool {
	return cli.IsTerminal(v) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// The control sequences that set a colour, and the one that resets it.
const (
	cyan       = "\x1b[36m"
	yellow     = "\x1b[33m"
	magenta    = "\x1b[35m"
	green      = "\x1b[32m"
	grey       = "\x1b[90m"
	uncoloured = "\x1b[0m"
)

// highlight returns typed text with its lexemes in colour.
func highlight(typed string) string {
	if strings.HasPrefix(typed, ".") {
		command, arg, _ := strings.Cut(typed, " ")
		return cyan + command + uncoloured + typed[len(command):len(typed)-len(arg)] + arg
	}
	keywords := parse.Keywords()
	var b strings.Builder
	for l := range lexemes(typed) {
		colour := map[class]string{aNumber: magenta, aText: yellow, aName: green, aParam: green, aRemark: grey}[l.class]
		if l.class == aWord {
			if _, isKeyword := slices.BinarySearch(keywords, strings.ToUpper(l.text)); isKeyword {
				colour = cyan
			}
		}
		if colour == "" {
			b.WriteString(l.text)
			continue
		}
		b.WriteString(colour + l.text + uncoloured)
	}
	return b.String()
}
