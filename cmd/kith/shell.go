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

// shell is the work of the subcommand shell.
type shell struct {
	create, readOnly, keepGoing bool
	commands                    []string
	file                        string
	stdin                       io.Reader
	stdout, stderr              io.Writer
}

func newShell() *cobra.Command {
	var s shell
	cmd := &cobra.Command{
		Use:   "shell DB",
		Short: "Run statements on a database",
		Long: `Shell runs statements: those of -c, those of a file, those that are piped to it, or
those that are typed. Typed, a statement goes on until its semicolon, Tab completes
keywords, models, labels, nodes and files, and .help tells the rest. What was typed is
kept in $XDG_STATE_HOME/kith/history (~/.local/state), which only its owner may read.

Rows are a table where standard output is a terminal, cut to its width, and JSON lines
where it is not; .mode changes that. A script stops at the first statement that fails.
NO_COLOR=1 in the environment means no colours.

The exit code is 0 if all went well, 1 if a statement failed and 2 if the command line
was wrong; that of a typed session is 0, unless it ended within a transaction.`,
		Example: `  kith shell social.kith
  kith shell social.kith -c "PREDICT LINKS FOR 0 AMONG NEIGHBORS(2) TOP 10;"
  kith shell social.kith -c ".mode csv" -c "SHOW STATS;"
  kith shell social.kith -f nightly.q
  generate | kith shell social.kith --keep-going`,
		Args: oneDatabase,
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			s.stdin, s.stdout, s.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.run(cmd.Context(), args[0])
		}),
	}
	f := cmd.Flags()
	f.StringArrayVarP(&s.commands, "command", "c", nil, "run a statement or dot command; may be given again")
	f.StringVarP(&s.file, "file", "f", "", "run the commands of a file; -: of standard input")
	f.BoolVar(&s.create, "create", false, "make the database if there is none")
	f.BoolVar(&s.readOnly, "read-only", false, "refuse every statement that writes")
	f.BoolVar(&s.keepGoing, "keep-going", false, "go on with a script after an error")
	cmd.MarkFlagsMutuallyExclusive("command", "file")
	cmd.MarkFlagsMutuallyExclusive("create", "read-only")
	return cmd
}

// oneDatabase wants the name of a database, and knows where other shells have statements.
func oneDatabase(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		return fmt.Errorf("%q is one argument too many; a statement goes behind -c", args[1])
	}
	return cli.Args("DB")(cmd, args)
}

func (s *shell) run(ctx context.Context, path string) error {
	if !s.create {
		if err := mustExist(path); err != nil {
			return err
		}
	}
	return with(path, &db.Options{ReadOnly: s.readOnly}, func(g *db.DB) error {
		session := &session{
			engine: newLocal(g), out: s.stdout, err: s.stderr,
			mode: jsonLinesMode, keepGoing: s.keepGoing,
		}
		if cli.IsTerminal(s.stdout) {
			session.mode = tableMode
		}
		return session.end(s.feed(ctx, session, path))
	})
}

// feed gives the session what there is to run.
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
	in := waiting(ctx, s.stdin)
	defer in.Close() // never fails
	return session.script(ctx, "", in)
}

// each runs commands that are scripts of their own.
func (s *session) each(ctx context.Context, commands []string) error {
	for _, c := range commands {
		if err := s.script(ctx, "", strings.NewReader(c)); err != nil {
			return err
		}
	}
	return nil
}

// interact runs what next returns until the end of input. Errors do not end it.
func interact(ctx context.Context, s *session, path string, next prompt) error {
	figures, err := s.figures(ctx)
	if err != nil {
		return err
	}
	nodes, edges, models := figures["nodes"].(int64), figures["edges"].(int64), figures["models"].(int64)
	fmt.Fprintf(s.out, "kith, %s: %s, %s, %s.\nA statement ends with a semicolon; .help helps, Ctrl-D ends.\n",
		path, plural(nodes, "node"), plural(edges, "edge"), plural(models, "model"))
	s.timer = true
	for {
		text, err := await(ctx, next)
		if dot := bare(text); dot != "" {
			text = dot
		}
		if err == nil {
			err = s.script(ctx, "", strings.NewReader(text))
		}
		switch {
		case ctx.Err() != nil:
			fmt.Fprintln(s.out) // behind what was being typed
			return ctx.Err()
		case err == io.EOF || errors.Is(err, errQuit):
			s.failed = false // that is over
			return nil
		case errors.Is(err, context.Canceled):
			cli.Complain(s.err, "kith", err)
		case err != nil && !errors.Is(err, cli.ErrReported) && !errors.Is(err, errDropped):
			return err
		}
	}
}
