package cli

import (
	"context"
	"io"
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

// ContextReader returns a reader of r that ends when ctx does, even while a read of r blocks. If it is closed during a read
// of r, that read continues and its data is lost.
func ContextReader(ctx context.Context, r io.Reader) *io.PipeReader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}
