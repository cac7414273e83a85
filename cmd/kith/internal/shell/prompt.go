package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"kith/query"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/reeflective/readline"
)

// prompt asks for the next input: a dot command, or text that ends with a complete statement. It
// returns io.EOF at the end of input, and errDropped if the text was given up.
type prompt func() (string, error)

// errDropped is returned for text that was given up with Ctrl-C.
var errDropped = errors.New("dropped")

// Prompt is the prompt for a statement.
const Prompt = "kith> "

const (
	promptInTransaction = "kith*> "
	secondary           = "  ... " // prompt for a further line of a statement
)

// promptText returns the prompt for a statement.
func (s *session) promptText() string {
	if s.engine.inTransaction() {
		return promptInTransaction
	}
	return Prompt
}

// prompt returns the prompt that the terminal supports.
func (s *Shell) prompt(session *session) prompt {
	if os.Getenv("TERM") == "dumb" {
		return plainPrompt(s.Stdin, s.Stdout, session.promptText)
	}
	return linePrompt(session)
}

// linePrompt returns a prompt with line editing, on the process's own terminal.
func linePrompt(s *session) prompt {
	rl := readline.NewShell()
	rl.Prompt.Primary(s.promptText)
	configure(rl)
	rl.AcceptMultiline = func(line []rune) bool { return isComplete(string(line)) }
	rl.Completer = func(line []rune, cursor int) readline.Completions {
		word, values := completed(string(line[:cursor]), s.engine.names())
		cols, rows := terminalSize(s.out)
		return completions(word, fitMenu(values, cols, menuRows(rows)))
	}
	paint := func(text string) string { return text }
	if colourful(s.out) {
		paint = Highlight
	}
	rl.SyntaxHighlighter = func(line []rune) string {
		cols, _ := terminalSize(s.out)
		return render(string(line), paint, len(s.promptText()), cols)
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

// configure sets readline's options. They override options of the user's inputrc for which another
// value would lose keys.
func configure(rl *readline.Shell) {
	for name, value := range map[string]any{
		"menu-complete-display-prefix": true,   // the first Tab selects nothing
		"multiline-column":             false,  // render marks the lines
		"comment-begin":                "\x00", // disables readline's own colour of comments
		// The probe drops keys that arrive with the terminal's answer.
		"cursor-position-probe":  false,
		"enable-bracketed-paste": true, // a pasted tab does not complete
		// The letters from U+0080 to U+00FF are not Alt keys.
		"input-meta":   true,
		"convert-meta": false,
		"output-meta":  true,
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
		rl.Cursor().InsertAt(key...) // insert keeps only one rune, and moves the cursor by columns
	}})
}

// render returns typed text as the terminal shows it after a prompt of width indent: in colour,
// with the secondary prompt before every line but the first, and with the screen scrolled up if
// there is no row below. Readline needs that row, and could find out whether it exists only from
// the position of the cursor.
func render(typed string, paint func(string) string, indent, cols int) string {
	// Tabs are blanks, as readline shows them.
	last := strings.ReplaceAll(typed[strings.LastIndexByte(typed, '\n')+1:], "\t", "     ")
	below := 1
	if (indent+text.StringWidth(last))%cols == 0 {
		below = 2 // the cursor is in a row of its own
	}
	marked := strings.ReplaceAll(paint(typed), "\n", fmt.Sprintf("\n\r%*s", indent, secondary))
	return marked + strings.Repeat("\v", below) + fmt.Sprintf("\x1b[%dA", below)
}

// plainPrompt returns a prompt without editing, for a terminal without control sequences.
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
			case isComplete(text):
				return text, nil
			}
			ask = secondary
		}
	}
}

// isComplete reports whether text can be run: it is a dot command, or consists of complete
// statements.
func isComplete(text string) bool {
	return strings.HasPrefix(text, ".") || dotCommandFor(text) != "" || query.IsWhole(text)
}

// dotCommandFor returns the dot command for a word that other shells use as a command, or "".
func dotCommandFor(text string) string {
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
