package cli

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/term"
)

// IsTerminal reports whether v, a reader or a writer, is a terminal.
func IsTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Interruptible returns a context that Ctrl-C cancels. A second Ctrl-C has its default effect.
func Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
