package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
)

// shell implements the subcommand shell.
type shell struct {
	create, readOnly, keepGoing bool
	commands                    []string
	file                        string
	attach                      string // URL of a process that has the database open
	tokenFile                   string // file of its token, or ""
	memory                      int64  // Options.Memory
	stdin                       io.Reader
	stdout, stderr              io.Writer
}

func newShell() *cobra.Command {
	var s shell
	cmd := &cobra.Command{
		Use:   "shell DB",
		Short: "Run statements on a database",
		Long: `Shell runs the statements of -c, of a file, of standard input, or those that are typed.
A typed statement ends with a semicolon. Tab completes keywords, models, labels, nodes
and files; .help lists the commands of the shell. Typed text is kept in
$XDG_STATE_HOME/kith/history (~/.local/state), which only its owner may read.

If standard output is a terminal, rows are a table that is cut to its width, otherwise
JSON lines; .mode changes that. A script stops at the first statement that fails.
NO_COLOR=1 in the environment turns colours off.

If DB cannot be written, as on a read-only file system, the shell prints a note and
refuses statements that write.

With --attach there is no DB: a process that has the database open and serves
web.Handler, such as kith serve, runs the statements. They may only read, unless it
allows more to those who have the token in --token-file.

The exit code is 0 if all statements succeeded, 1 if one failed, and 2 if the command
line was wrong. A typed session ends with 0, unless it ends within a transaction.`,
		Example: `  kith shell social.kith
  kith shell social.kith -c "PREDICT LINKS FOR 0 AMONG NEIGHBORS(2) TOP 10;"
  kith shell social.kith -c ".mode csv" -c "SHOW STATS;"
  kith shell social.kith -f nightly.q
  generate | kith shell social.kith --keep-going
  kith shell --attach http://127.0.0.1:7331`,
		Args: func(cmd *cobra.Command, args []string) error {
			if s.attach != "" {
				return cli.Args()(cmd, args)
			}
			if s.tokenFile != "" {
				return errors.New("--token-file needs --attach")
			}
			return oneDatabase(cmd, args)
		},
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			s.stdin, s.stdout, s.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			if s.attach != "" {
				return s.ask(cmd.Context())
			}
			return s.run(cmd.Context(), args[0])
		}),
	}
	f := cmd.Flags()
	f.StringArrayVarP(&s.commands, "command", "c", nil, "run a statement or dot command; may be repeated")
	f.StringVarP(&s.file, "file", "f", "", "run the commands of a file; - means standard input")
	f.BoolVar(&s.create, "create", false, "make the database if it does not exist")
	f.BoolVar(&s.readOnly, "read-only", false, "refuse every statement that writes")
	f.BoolVar(&s.keepGoing, "keep-going", false, "continue a script after an error")
	f.StringVar(&s.attach, "attach", "", "run statements in the process that serves this URL")
	f.StringVar(&s.tokenFile, "token-file", "", "file of the token of --attach, which allows statements that write")
	cli.MemoryFlag(f, &s.memory)
	cmd.MarkFlagsMutuallyExclusive("command", "file")
	cmd.MarkFlagsMutuallyExclusive("attach", "create")
	cmd.MarkFlagsMutuallyExclusive("attach", "read-only")
	cmd.MarkFlagsMutuallyExclusive("attach", "memory")
	cmd.MarkFlagsMutuallyExclusive("create", "read-only")
	return cmd
}

// oneDatabase accepts one argument, the database. If a second one follows, the error explains where statements go.
func oneDatabase(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		return fmt.Errorf("%q is one argument too many; a statement needs -c", args[1])
	}
	return cli.Args("DB")(cmd, args)
}

func (s *shell) run(ctx context.Context, path string) error {
	if !s.create {
		if err := mustExist(path); err != nil {
			return err
		}
	}
	o := limited(s.memory)
	o.ReadOnly = s.readOnly || readOnly(path, s.stderr)
	return with(path, o, func(g *db.DB) error {
		return s.session(ctx, newLocal(g), path, o.ReadOnly)
	})
}

// ask runs the shell on a database that another process has open.
func (s *shell) ask(ctx context.Context) error {
	client, err := dial(s.attach, s.tokenFile)
	if err != nil {
		return err
	}
	return s.session(ctx, &remote{client}, s.attach, s.tokenFile == "")
}

// session runs the commands on an engine.
func (s *shell) session(ctx context.Context, e engine, name string, readOnly bool) error {
	session := &session{engine: e, readOnly: readOnly, out: s.stdout, err: s.stderr, mode: jsonLinesMode, keepGoing: s.keepGoing}
	if cli.IsTerminal(s.stdout) {
		session.mode = tableMode
	}
	return session.end(s.feed(ctx, session, name))
}

// feed passes the commands to the session.
func (s *shell) feed(ctx context.Context, session *session, path string) error {
	switch {
	case s.commands != nil:
		return session.each(ctx, s.commands)
	case s.file != "" && s.file != "-":
		return session.file(ctx, s.file)
	case s.file == "" && cli.IsTerminal(s.stdin) && cli.IsTerminal(s.stdout):
		defer holdInterrupts()()
		defer holdState(s.stdin)()
		return interact(ctx, session, path, s.prompt(session))
	}
	in := contextReader(ctx, s.stdin)
	defer in.Close() // never fails
	return session.script(ctx, "", in)
}

// each runs commands, each of which is a script of its own.
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
