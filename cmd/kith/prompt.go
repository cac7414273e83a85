package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
	rl.Prompt.Secondary(func() string { return continued(rl.Line().Lines()) })
	for name, value := range map[string]any{
		"menu-complete-display-prefix": true, // Tab does not choose what it was not told to
		"multiline-column":             true,
		"comment-begin":                "\x00", // no colour but ours
	} {
		_ = rl.Config.Set(name, value) // never fails
	}
	rl.AcceptMultiline = func(line []rune) bool { return whole(string(line)) }
	rl.Completer = func(line []rune, cursor int) readline.Completions {
		return offer(complete(string(line[:cursor]), s.engine.names()))
	}
	if colourful(s.out) {
		rl.SyntaxHighlighter = func(line []rune) string { return highlight(string(line)) }
	}
	if h, err := openHistory(os.Getenv); err != nil {
		fmt.Fprintf(s.err, "note: there is no history: %v\n", err)
	} else {
		rl.History.Add("statements", h)
	}
	return func() (string, error) {
		text, err := rl.Readline()
		if errors.Is(err, readline.ErrInterrupt) {
			err = errDropped
		}
		return text, err
	}
}

// continued prompts so many lines that follow the first, from the last of them, where the cursor is.
// Readline would mark the others by a bar.
func continued(lines int) string {
	if lines < 2 {
		return secondary
	}
	return fmt.Sprintf("\x1b[%dA", lines-1) + strings.Repeat("\r"+secondary+"\x1b[B", lines-1) + "\r" + secondary
}

// offer offers what a word may become. A space follows a whole word, and goes again when punctuation
// is typed.
func offer(word string, values []string) readline.Completions {
	all := make([]readline.Completion, len(values))
	for i, v := range values {
		all[i] = readline.Completion{Value: v, Display: v}
		if !strings.HasSuffix(v, "(") && !strings.HasSuffix(v, "/") {
			all[i].Value += " "
		}
	}
	c := readline.CompleteRaw(all).NoSpace(' ', ';', ',', ')')
	c.PREFIX = word
	return c
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
	switch strings.ToLower(strings.Trim(text, "; \t\r\n")) {
	case "exit", "quit", `\q`:
		return ".quit"
	case "help", `\h`, `\?`:
		return ".help"
	}
	return ""
}
