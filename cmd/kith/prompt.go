package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/reeflective/readline"

	"kith/query"
)

// prompt asks for what to do next: a dot command, or text that ends with whole statements. It
// returns io.EOF at the end of input, and errDropped where the text was given up.
type prompt func() (string, error)

// errDropped is returned for text that was begun and given up with Ctrl-C.
var errDropped = errors.New("dropped")

const (
	primary   = "kith> "
	unsettled = "kith*> " // within a transaction
	secondary = "  ... "
)

// primary is the prompt for a statement.
func (s *session) primary() string {
	if s.engine.inTransaction() {
		return unsettled
	}
	return primary
}

// prompt returns the one that the terminal allows.
func (s *shell) prompt(session *session) prompt {
	if os.Getenv("TERM") == "dumb" {
		return plainPrompt(s.stdin, s.stdout, session.primary)
	}
	return linePrompt(session)
}

// linePrompt edits lines, on the process's own terminal.
func linePrompt(s *session) prompt {
	rl := readline.NewShell()
	rl.Prompt.Primary(s.primary)
	configure(rl)
	rl.AcceptMultiline = func(line []rune) bool { return whole(string(line)) }
	rl.Completer = func(line []rune, cursor int) readline.Completions {
		word, values := complete(string(line[:cursor]), s.engine.names())
		cols, rows := terminalSize(s.out)
		return offer(word, fitMenu(values, cols, menuRows(rows)))
	}
	paint := func(text string) string { return text }
	if colourful(s.out) {
		paint = highlight
	}
	rl.SyntaxHighlighter = func(line []rune) string {
		cols, _ := terminalSize(s.out)
		return dress(string(line), paint, len(s.primary()), cols)
	}
	if h, err := openHistory(os.Getenv); err != nil {
		fmt.Fprintf(s.err, "note: there is no history: %v\n", err)
	} else {
		rl.History.Add("statements", &searchable{History: h, current: func() (search, bool) {
			_, rows := terminalSize(s.out)
			return search{pattern: string(*rl.Line()), room: menuRows(rows)}, rl.Keymap.Local() == "isearch"
		}})
	}
	return func() (string, error) {
		text, err := rl.Readline()
		if errors.Is(err, readline.ErrInterrupt) {
			err = errDropped
		}
		return text, err
	}
}

// configure sets readline's options, over those of the user's inputrc where another value would lose keys.
func configure(rl *readline.Shell) {
	for name, value := range map[string]any{
		"menu-complete-display-prefix": true,   // the first Tab chooses nothing
		"multiline-column":             false,  // dress marks the lines
		"comment-begin":                "\x00", // no colour but ours
		"cursor-position-probe":        false,  // keys that come with the terminal's answer are dropped
		"enable-bracketed-paste":       true,   // a pasted tab does not complete
		"input-meta":                   true,   // the letters from U+0080 to U+00FF are no Alt keys
		"convert-meta":                 false,
		"output-meta":                  true,
	} {
		_ = rl.Config.Set(name, value) // never fails
	}
	const selfInsert = "self-insert"
	insert := rl.Keymap.Commands()[selfInsert]
	rl.Keymap.Register(map[string]func(){selfInsert: func() {
		key := rl.Keys.Caller()
		if len(key) == 1 && text.StringWidth(string(key)) == 1 {
			insert()
			return
		}
		rl.Cursor().InsertAt(key...) // insert keeps one rune, and moves the cursor by columns
	}})
}

// dress returns typed text as the terminal shows it behind a prompt of a width: in colours, with the
// secondary prompt before every line but the first, and with the screen scrolled up where no row is
// left below. Readline relies on that row, and finds out whether it is there only from the position of
// the cursor.
func dress(typed string, paint func(string) string, indent, cols int) string {
	last := strings.ReplaceAll(typed[strings.LastIndexByte(typed, '\n')+1:], "\t", "     ") // as readline shows tabs
	below := 1
	if (indent+text.StringWidth(last))%cols == 0 {
		below = 2 // the cursor is in a row of its own
	}
	marked := strings.ReplaceAll(paint(typed), "\n", fmt.Sprintf("\n\r%*s", indent, secondary))
	return marked + strings.Repeat("\v", below) + fmt.Sprintf("\x1b[%dA", below)
}

// plainPrompt reads lines of a terminal that cannot do more.
func plainPrompt(in io.Reader, out io.Writer, first func() string) prompt {
	lines := bufio.NewReader(in)
	return func() (string, error) {
		text, ask := "", first()
		for {
			if _, err := io.WriteString(out, ask); err != nil {
				return "", err
			}
			line, err := lines.ReadString('\n')
			text += line
			switch {
			case err == io.EOF && strings.TrimSpace(text) != "":
				return text, nil
			case err != nil:
				return "", err
			case whole(text):
				return text, nil
			}
			ask = secondary
		}
	}
}

// whole reports whether text can be run as it is: a command of the shell, or nothing but whole
// statements.
func whole(text string) bool {
	return strings.HasPrefix(text, ".") || bare(text) != "" || query.Complete(text)
}

// bare returns the dot command that is meant by a word that other shells know; empty for others.
func bare(text string) string {
	switch word := strings.ToLower(strings.TrimSpace(text)); strings.TrimRight(word, "; ") {
	case "exit", "quit", `\q`:
		return ".quit"
	case `\h`, `\?`:
		return ".help"
	case "help":
		if word == "help" { // with a semicolon it is a statement
			return ".help"
		}
	}
	return ""
}
