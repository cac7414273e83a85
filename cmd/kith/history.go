package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reeflective/readline"
)

const (
	maxHistory = 1000    // entries that are kept; up to twice as many are in the file
	maxEntry   = 8 << 10 // bytes of an entry: what is longer is not worth keeping
)

// history is what was typed, in a file that only its owner may read.
type history struct{ readline.History }

// Write adds an entry, unless it is the last one again, or long.
func (h history) Write(entry string) (int, error) {
	last, err := h.GetLine(h.Len() - 1)
	if len(entry) > maxEntry || err == nil && last == entry {
		return h.Len(), nil
	}
	return h.History.Write(entry)
}

// openHistory opens the history in the XDG state directory, and lets go of its oldest entries where
// there are many.
func openHistory(env func(string) string) (readline.History, error) {
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
	if err := shorten(file); err != nil {
		return nil, err
	}
	h, err := readline.NewHistoryFromFile(file)
	return history{h}, err
}

// shorten makes the file for its owner alone, and cuts it to its last entries if there are more than
// twice as many as are kept. An entry is a line.
func shorten(file string) error {
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.WriteFile(file, nil, 0o600)
	case err != nil:
		return err
	}
	if err := os.Chmod(file, 0o600); err != nil {
		return err
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if len(lines) <= 2*maxHistory {
		return nil
	}
	return writeFile(file, func(w io.Writer) error {
		_, err := w.Write(bytes.Join(lines[len(lines)-maxHistory:], nil))
		return err
	})
}
