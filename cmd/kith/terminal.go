package main

import (
	"context"
	"io"
	"os"
	"os/signal"

	"golang.org/x/term"
)

// holdInterrupts keeps Ctrl-C from ending the process until it is called back.
func holdInterrupts() (release func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	return func() { signal.Stop(c) }
}

// holdState has a terminal be as it is now when it is called back, whatever was done to it meanwhile.
func holdState(terminal io.Reader) (release func()) {
	f, isFile := terminal.(*os.File)
	if !isFile {
		return func() {}
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) } // a terminal that is gone needs none
}

// terminalSize returns how many columns and rows a terminal has; 80 and 24 where it does not tell.
func terminalSize(terminal any) (cols, rows int) {
	if f, isFile := terminal.(*os.File); isFile {
		cols, rows, _ = term.GetSize(int(f.Fd()))
	}
	if cols <= 0 || rows <= 0 {
		return 80, 24
	}
	return cols, rows
}

// await asks, until ctx ends. A question that is not answered by then is left behind.
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
