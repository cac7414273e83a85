package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reeflective/readline"

	"kith/cmd/internal/cli"
)

const (
	maxHistory = 1000    // number of entries kept; the file has up to twice as many
	maxEntry   = 8 << 10 // maximum size of an entry in bytes; longer ones are not kept
)

// history is the history of typed text, in a file that only its owner may read.
type history struct{ readline.History }

// Write adds an entry, unless it equals the last one or is too long.
func (h history) Write(entry string) (int, error) {
	last, err := h.GetLine(h.Len() - 1)
	if len(entry) > maxEntry || err == nil && last == entry {
		return h.Len(), nil
	}
	return h.History.Write(entry)
}

// openHistory opens the history in the XDG state directory, and drops its oldest entries if there
// are too many.
func openHistory(env func(string) string) (readline.History, error) {
	dir := env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // unset, or relative, which the XDG specification says to ignore
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

// shorten restricts the file to its owner, and cuts it to its last maxHistory entries if it has
// more than twice as many. An entry is a line.
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
	return cli.WriteFile(context.Background(), file, func(w io.Writer) error {
		_, err := w.Write(bytes.Join(lines[len(lines)-maxHistory:], nil))
		return err
	})
}
