package main

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/term"
)

// isTerminal reports whether v, a reader or a writer, is a terminal.
func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// interruptible returns a context that Ctrl-C cancels. A second Ctrl-C does what it does by default.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// holdInterrupts keeps Ctrl-C from ending the process until it is called back.
func holdInterrupts() (release func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	return func() { signal.Stop(c) }
}
