// Package shell runs statements and dot commands that are typed, piped or read from a file, and
// writes their answers. It has these parts:
//
//	session   runs commands, writes rows, reports errors
//	engine    runs statements on a database of this process (local) or of a server (remote)
//	dot       the dot commands
//	prompt    reads commands from a terminal (readline)
//	menu      the menus of Tab and Ctrl-R below the prompt
//	history   the history of typed text, in a file
//	complete  completes dot commands and files; query.Complete completes statements
//	welcome   says first how to load, ask, train and look
//	highlight colours typed text
//	mode      the formats of rows: tables for people, JSON lines for programs
//	table     draws rows, no wider than the terminal
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/query"
	"kith/query/web"
)

// Shell runs a statement or, if that is "", the commands in Commands or, if that is nil, the
// commands in a file or on standard input.
type Shell struct {
	Statement      string // one statement, without a semicolon
	Commands       []string
	File           string // "" and "-" mean standard input
	KeepGoing      bool   // continue a script after an error
	Progress       bool   // progress is lines if Stderr is no terminal
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	mode           mode // of rows; "" means tables if Stdout is a terminal, and otherwise JSON lines
}

// ModeFlag adds the flag --mode, the format of rows.
func (s *Shell) ModeFlag(f *pflag.FlagSet) {
	f.Func("mode", "`format` of rows: "+strings.Join(modeNames(""), ", ")+" (default: table on a terminal, jsonlines elsewhere)", func(name string) (err error) {
		s.mode, err = parseMode(name)
		return err
	})
}

// Local runs the commands on a database that this process has open. readOnly says that it cannot be
// written; path is its path.
func (s *Shell) Local(ctx context.Context, g *db.DB, path string, readOnly bool) error {
	return s.run(ctx, newLocal(g), path, readOnly)
}

// Remote runs the commands on a database that is served at a URL.
func (s *Shell) Remote(ctx context.Context, client *web.Client, url string, readOnly bool) error {
	return s.run(ctx, &remote{client: client}, url, readOnly)
}

// Attached runs the commands on the database at path, in the server that has it open and answers at
// its socket. readOnly refuses statements that write.
func (s *Shell) Attached(ctx context.Context, client *web.Client, path string, readOnly bool) error {
	looks, err := onlyLooks(ctx, client)
	if err != nil {
		return err
	}
	return s.run(ctx, &remote{client: client, path: path, readOnly: readOnly}, path, readOnly || looks)
}

// run runs the commands on an engine. name is the path or the URL of its database.
func (s *Shell) run(ctx context.Context, e engine, name string, readOnly bool) error {
	r, isRemote := e.(*remote)
	session := &session{engine: e, attached: isRemote && r.path != "", readOnly: readOnly, out: s.Stdout, err: s.Stderr, mode: cmp.Or(s.mode, jsonLinesMode), keepGoing: s.KeepGoing, progress: s.Progress}
	if s.mode == "" && cli.IsTerminal(s.Stdout) {
		session.mode = tableMode
	}
	return session.end(s.feed(ctx, session, name))
}

// feed passes the commands to the session.
func (s *Shell) feed(ctx context.Context, session *session, name string) error {
	switch {
	case s.Statement != "":
		f := query.Fragment{Text: s.Statement}
		return session.reportError("", f, session.command(ctx, f))
	case s.Commands != nil:
		return session.each(ctx, s.Commands)
	case s.File != "" && s.File != "-":
		return session.file(ctx, s.File)
	case s.File == "" && cli.IsTerminal(s.Stdin) && cli.IsTerminal(s.Stdout):
		defer holdInterrupts()()
		defer holdState(s.Stdin)()
		return interact(ctx, session, name, s.prompt(session))
	}
	in := query.Pipe(ctx, s.Stdin)
	defer in.Close() // never fails
	return session.script(ctx, "", in)
}

// each runs commands. Each is a separate script.
func (s *session) each(ctx context.Context, commands []string) error {
	for _, c := range commands {
		if err := s.script(ctx, "", strings.NewReader(c)); err != nil {
			return err
		}
	}
	return nil
}

// interact runs the input that next returns, until its end. Errors do not end it.
func interact(ctx context.Context, s *session, path string, next prompt) error {
	if err := s.welcome(ctx, path); err != nil {
		return err
	}
	s.timer = true
	for {
		text, err := await(ctx, next)
		if dot := dotCommandFor(text); dot != "" {
			text = dot
		}
		if err == nil {
			err = s.script(ctx, "", strings.NewReader(text))
		}
		switch {
		case ctx.Err() != nil:
			fmt.Fprintln(s.out) // after the typed text
			return ctx.Err()
		case err == io.EOF || errors.Is(err, errQuit):
			s.failed = false // errors of statements do not fail a typed session
			return nil
		case errors.Is(err, context.Canceled):
			cli.PrintError(s.err, "kith", err)
		case err != nil && !errors.Is(err, cli.ErrReported) && !errors.Is(err, errDropped):
			return err
		}
	}
}
