package cli

import (
	"context"
	"io"

	"kith/query"
)

// WriteFile replaces a file, which only its owner may access, completely or not at all. If it is a
// named pipe, ctx ends waiting for its reader.
func WriteFile(ctx context.Context, name string, write func(io.Writer) error) error {
	return query.WriteFile(ctx, name, 0o600, write)
}

// WriteLine writes a text and a line feed.
func WriteLine(w io.Writer, text string) error {
	_, err := io.WriteString(w, text+"\n")
	return err
}
