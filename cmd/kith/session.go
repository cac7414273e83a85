package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"kith/cmd/internal/cli"
	"kith/query"
)

// session runs commands on a database, in the order in which they come. Nothing it does outlives it
// but what the statements did.
type session struct {
	query     query.Session
	out, err  io.Writer
	mode      mode
	timer     bool // say how long a statement took
	keepGoing bool // a script goes on after an error
	failed    bool // a command did
	nested    int  // scripts that .read others
}

// errQuit is the end of a session that was asked for.
var errQuit = errors.New("quit")

// maxNested bounds scripts that read scripts.
const maxNested = 16

// script runs the commands of a script up to its end, or to the first that fails. name is that of
// its file, if it has one. What failed has been reported.
func (s *session) script(ctx context.Context, name string, r io.Reader) error {
	for c, err := range commands(r) {
		if err == nil {
			err = s.do(ctx, c)
		}
		if err = s.settle(name, c, err); err != nil {
			return err
		}
	}
	return nil
}

// do runs a command.
func (s *session) do(ctx context.Context, c command) error {
	if c.dot != "" {
		return s.dotCommand(ctx, c.dot)
	}
	stmt, err := c.Parse()
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	began, bar := time.Now(), cli.NewBar(s.err)
	q := s.query
	q.Progress = func(p query.Progress) { bar.Show(p.What, progress.UnitsDefault, p.Done, p.Total) }
	rows, err := q.Exec(ctx, stmt)
	bar.End()
	if err != nil {
		return err
	}
	return s.answer(rows, time.Since(began))
}

// settle reports the error of a command, and returns the one that ends the script, if any.
func (s *session) settle(name string, c command, err error) error {
	for _, end := range []error{errQuit, cli.ErrReported, context.Canceled} {
		if errors.Is(err, end) {
			return err
		}
	}
	if err == nil {
		return nil
	}
	s.failed = true
	cli.Complain(s.err, "kith", placed(name, c, err))
	if caret := c.Caret(err); caret != "" {
		fmt.Fprintln(s.err, caret)
	}
	if s.keepGoing {
		return nil
	}
	return cli.ErrReported
}

// placed is err with the file it is of, and the place in it; an error of a statement has that.
func placed(name string, c command, err error) error {
	switch {
	case name == "":
		return err
	case errors.As(err, new(*query.Error)):
		return fmt.Errorf("%s:%w", name, err)
	case c.Line == 0: // of the reader
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s:%d:%d: %w", name, c.Line, c.Col, err)
}

// result is what the whole session came to: err ended it.
func (s *session) result(err error) error {
	if errors.Is(err, errQuit) {
		err = nil
	}
	if err == nil && s.failed {
		return cli.ErrReported
	}
	return err
}

// answer writes rows, and what there is to be said about them.
func (s *session) answer(rows *query.Rows, took time.Duration) error {
	if err := s.mode.write(s.out, rows); err != nil {
		return err
	}
	for _, note := range rows.Notes {
		fmt.Fprintf(s.err, "note: %s\n", printable(note))
	}
	count := fmt.Sprintf("%d rows", len(rows.Rows))
	if len(rows.Rows) == 1 {
		count = "1 row"
	}
	var err error
	switch {
	case s.mode == tableMode && s.timer:
		_, err = fmt.Fprintf(s.out, "%s (%s)\n", count, milliseconds(took))
	case s.mode == tableMode:
		_, err = fmt.Fprintln(s.out, count)
	case s.timer:
		fmt.Fprintln(s.err, milliseconds(took))
	}
	return err
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// file runs the script in a file.
func (s *session) file(ctx context.Context, name string) error {
	if s.nested == maxNested {
		return fmt.Errorf("%s: scripts read each other %d deep", name, maxNested)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	s.nested++
	defer func() { s.nested-- }()
	return s.script(ctx, name, f)
}
