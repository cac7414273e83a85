package shell

import (
	"context"
	"io"
	"os"
	"os/signal"

	"golang.org/x/term"
)

// holdInterrupts keeps Ctrl-C from ending the process until release is called.
func holdInterrupts() (release func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	return func() { signal.Stop(c) }
}

// holdState saves the state of a terminal; release restores it.
func holdState(terminal io.Reader) (release func()) {
	f, isFile := terminal.(*os.File)
	if !isFile {
		return func() {}
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) } // a closed terminal needs no restoring
}

// terminalSize returns the number of columns and rows of a terminal, or 80 and 24 if they are
// unknown.
func terminalSize(terminal any) (cols, rows int) {
	if f, isFile := terminal.(*os.File); isFile {
		cols, rows, _ = term.GetSize(int(f.Fd()))
	}
	if cols <= 0 || rows <= 0 {
		return 80, 24
	}
	return cols, rows
}

// await returns the next input, or the error of ctx when ctx ends. It does not wait for a prompt
// that is still open then.
func await(ctx context.Context, next prompt) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := next()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
