package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"kith/cmd/internal/cli"
	"kith/db/words"
	"kith/query"
)

// session runs commands on a database, in order. Only the effects of the statements outlive it.
type session struct {
	engine    engine
	attached  bool // whether the server that has the database open runs the statements
	readOnly  bool // whether statements that write are refused
	out, err  io.Writer
	mode      mode
	timer     bool     // print how long a statement took
	keepGoing bool     // continue a script after an error
	progress  bool     // whether progress is lines where err is no terminal
	failed    bool     // whether a command failed
	nested    int      // nesting depth of .read
	once      *os.File // file for the next rows; nil means out
}

// errQuit ends a session at the user's request.
var errQuit = errors.New("quit")

// maxNested is the maximum nesting depth of scripts that read scripts.
const maxNested = 16

// script runs the commands of a script to its end, or to the first one that fails. name is the name
// of its file, or "". It has reported the errors that it returns.
func (s *session) script(ctx context.Context, name string, r io.Reader) error {
	for f, err := range query.Split(r) {
		if err == nil {
			err = s.command(ctx, f)
		}
		if err = s.reportError(name, f, err); err != nil {
			return err
		}
	}
	return nil
}

// command runs a dot command or a statement.
func (s *session) command(ctx context.Context, f query.Fragment) error {
	if strings.HasPrefix(f.Text, ".") {
		return s.dotCommand(ctx, f)
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	return s.statement(ctx, f)
}

// statement runs a statement and writes its answer.
func (s *session) statement(ctx context.Context, f query.Fragment) error {
	return s.report(ctx, func(ctx context.Context) (*query.Rows, error) {
		bar := cli.NewBar(s.err, s.progress)
		defer bar.End()
		return s.engine.run(ctx, f, func(p query.Progress) { bar.Show(state(p)) })
	})
}

// state returns the state of a progress bar.
func state(p query.Progress) cli.State {
	s := cli.State{What: p.What, Done: p.Done, Total: p.Total, Timed: p.Timed, Left: p.Left}
	if p.What == query.Bytes {
		s.Units = progress.UnitsBytes
	}
	return s
}

// report calls work and writes its answer.
func (s *session) report(ctx context.Context, work func(context.Context) (*query.Rows, error)) error {
	defer s.closeOnce()
	began := time.Now()
	rows, err := work(ctx)
	if err != nil {
		return err
	}
	return s.answer(rows, time.Since(began))
}

// ask runs statements for the shell itself, and returns their answers.
func (s *session) ask(ctx context.Context, statements ...string) (answers []*query.Rows, err error) {
	for _, text := range statements {
		rows, err := s.engine.run(ctx, query.Fragment{Text: text}, func(query.Progress) {})
		if err != nil {
			return nil, err
		}
		answers = append(answers, rows)
	}
	return answers, nil
}

// reportError reports the error of a command. It returns an error if the script has to end.
func (s *session) reportError(name string, f query.Fragment, err error) error {
	for _, end := range []error{errQuit, cli.ErrReported, context.Canceled, syscall.EPIPE} {
		if errors.Is(err, end) {
			return err
		}
	}
	if err == nil {
		return nil
	}
	s.failed = true
	cli.PrintError(s.err, "kith", withPlace(name, f, err))
	if caret := f.Caret(err); caret != "" {
		fmt.Fprintln(s.err, caret)
	}
	if s.keepGoing {
		return nil
	}
	return cli.ErrReported
}

// withPlace adds the name of the file to err and, unless err is a statement error, which has one,
// the position.
func withPlace(name string, f query.Fragment, err error) error {
	switch {
	case name == "":
		return err
	case errors.As(err, new(*query.Error)):
		return fmt.Errorf("%s:%w", name, err)
	case f.Line == 0: // an error of the reader
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s:%d:%d: %w", name, f.Line, f.Col, err)
}

// end ends the session, and returns its result. err is the error that ended it, or nil.
func (s *session) end(err error) error {
	if errors.Is(err, errQuit) {
		err = nil
	}
	if closed := s.engine.close(); closed != nil {
		cli.PrintError(s.err, "kith", closed)
		s.failed = true
	}
	if err == nil && s.failed {
		return cli.ErrReported
	}
	return err
}

// answer writes rows, their notes and their number.
func (s *session) answer(rows *query.Rows, took time.Duration) error {
	if err := s.write(rows); err != nil {
		return err
	}
	for _, note := range rows.Notes {
		fmt.Fprintf(s.err, "note: %s\n", printable(note))
	}
	var err error
	switch {
	case s.mode == tableMode && s.timer:
		_, err = fmt.Fprintf(s.out, "%s (%s)\n", words.Count(len(rows.Rows), "row"), durationText(took))
	case s.mode == tableMode:
		_, err = fmt.Fprintln(s.out, words.Count(len(rows.Rows), "row"))
	case s.timer:
		fmt.Fprintln(s.err, durationText(took))
	}
	return err
}

// write writes rows to the output, or to the file of .once, in the mode of its extension if it has
// one.
func (s *session) write(rows *query.Rows) error {
	if s.once == nil {
		return s.mode.write(s.out, rows)
	}
	m, err := parseMode(strings.TrimPrefix(filepath.Ext(s.once.Name()), "."))
	if err != nil {
		m = s.mode
	}
	if err := m.write(s.once, rows); err != nil {
		return err
	}
	return s.closeOnce()
}

// closeOnce closes the file of .once, if there is one.
func (s *session) closeOnce() error {
	if s.once == nil {
		return nil
	}
	err := s.once.Close()
	s.once = nil
	return err
}

func durationText(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f s", ms/1000)
}

// file runs the script in a file.
func (s *session) file(ctx context.Context, name string) error {
	if s.nested == maxNested {
		return fmt.Errorf("%s: scripts read each other %d deep", name, maxNested)
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	f, err := query.OpenFile(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	s.nested++
	defer func() { s.nested-- }()
	return s.script(ctx, name, f)
}
