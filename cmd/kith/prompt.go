package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	secondary = "  ... "
)

// prompt returns the one that the terminal allows.
func (s *shell) prompt(session *session) prompt {
	if os.Getenv("TERM") == "dumb" {
		return plainPrompt(s.stdin, s.stdout)
	}
	return linePrompt(session)
}

// linePrompt edits lines, on the process's own terminal.
func linePrompt(s *session) prompt {
	rl := readline.NewShell()
	rl.Prompt.Primary(func() string { return primary })
	rl.AcceptMultiline = func(line []rune) bool { return whole(string(line)) }
	rl.Completer = func(line []rune, cursor int) readline.Completions {
		return completions(complete(string(line[:cursor]), names(s.query.DB)))
	}
	if h, err := history(os.Getenv); err != nil {
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

// completions offers the values that a word may become. A space follows what is chosen, and goes
// again when punctuation is typed.
func completions(word string, values []string) readline.Completions {
	all := make([]readline.Completion, len(values))
	for i, v := range values {
		all[i] = readline.Completion{Value: v + " ", Display: v}
	}
	c := readline.CompleteRaw(all).NoSpace(' ', ';', ',', ')')
	c.PREFIX = word
	return c
}

// history opens the file that keeps what was typed, in the XDG state directory; only its owner may
// read it.
func history(env func(string) string) (readline.History, error) {
	dir := env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // unset, or to be ignored as the XDG specification has it
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "kith")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "history")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = os.Chmod(file, 0o600)
	case err == nil:
		err = f.Close()
	}
	if err != nil {
		return nil, err
	}
	return readline.NewHistoryFromFile(file)
}

// plainPrompt reads lines of a terminal that cannot do more.
func plainPrompt(in io.Reader, out io.Writer) prompt {
	lines := bufio.NewReader(in)
	return func() (string, error) {
		text, ask := "", primary
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

// whole reports whether text can be run as it is: a dot command, or nothing but whole statements.
func whole(text string) bool {
	return strings.HasPrefix(text, ".") || query.Complete(text)
}
