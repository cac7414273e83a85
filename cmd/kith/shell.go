package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/kith/internal/shell"
	"kith/db"
	"kith/query/web"
)

// shellFlags are the flags of the subcommand shell.
type shellFlags struct {
	create, readOnly bool
	attach           string // URL of a process that has the database open
	tokenFile        string // file of its token, or ""
	memory           int64  // Options.Memory
}

func newShell() *cobra.Command {
	var flags shellFlags
	var s shell.Shell
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

If kith serve has DB open, it runs the statements: Ctrl-C ends them, LOAD, BEGIN, SET and
others that a request cannot be are refused, and all write only with kith serve --write.

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
			if flags.attach != "" {
				return cli.Args()(cmd, args)
			}
			if flags.tokenFile != "" {
				return errors.New("--token-file needs --attach")
			}
			return oneDatabase(cmd, args)
		},
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			s.Stdin, s.Stdout, s.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			if flags.attach != "" {
				return flags.ask(cmd.Context(), &s)
			}
			return flags.open(cmd.Context(), &s, args[0])
		}),
	}
	flags.add(cmd, &s)
	return cmd
}

// add adds the flags, and the flags of the shell itself, to a command.
func (flags *shellFlags) add(cmd *cobra.Command, s *shell.Shell) {
	f := cmd.Flags()
	f.StringArrayVarP(&s.Commands, "command", "c", nil, "run a statement or dot command; may be repeated")
	f.StringVarP(&s.File, "file", "f", "", "run the commands of a file; - means standard input")
	f.BoolVar(&flags.create, "create", false, "make the database if it does not exist")
	f.BoolVar(&flags.readOnly, "read-only", false, "refuse every statement that writes")
	f.BoolVar(&s.KeepGoing, "keep-going", false, "continue a script after an error")
	f.StringVar(&flags.attach, "attach", "", "run statements in the process that serves this URL")
	f.StringVar(&flags.tokenFile, "token-file", "", "file of the token of --attach, which allows statements that write")
	cli.ProgressFlag(f, &s.Progress)
	cli.MemoryFlag(f, &flags.memory)
	cmd.MarkFlagsMutuallyExclusive("command", "file")
	cmd.MarkFlagsMutuallyExclusive("attach", "create")
	cmd.MarkFlagsMutuallyExclusive("attach", "read-only")
	cmd.MarkFlagsMutuallyExclusive("attach", "memory")
	cmd.MarkFlagsMutuallyExclusive("create", "read-only")
}

// oneDatabase accepts one argument, the database. If a second one follows, the error explains where
// statements go.
func oneDatabase(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		return fmt.Errorf("%q is one argument too many; a statement needs -c", args[1])
	}
	return cli.Args("DB")(cmd, args)
}

// open runs the shell on the database at path, or in the server that has it open.
func (flags *shellFlags) open(ctx context.Context, s *shell.Shell, path string) error {
	if !flags.create {
		if err := mustExist(path); err != nil {
			return err
		}
	}
	o := limited(flags.memory)
	o.ReadOnly = flags.readOnly
	var g *db.DB
	err := readOnlyIfMust(o, s.Stderr, func(o *db.Options) (err error) {
		g, err = db.Open(path, o)
		return err
	})
	if err == nil {
		return errors.Join(s.Local(ctx, g, path, o.ReadOnly), g.Close())
	}
	return orAttached(path, err, func(client *web.Client) error {
		return s.Attached(ctx, client, path, flags.readOnly)
	})
}

// ask runs the shell on a database that another process has open.
func (flags *shellFlags) ask(ctx context.Context, s *shell.Shell) error {
	client, err := dial(flags.attach, flags.tokenFile)
	if err != nil {
		return err
	}
	return s.Remote(ctx, client, flags.attach, flags.tokenFile == "")
}
