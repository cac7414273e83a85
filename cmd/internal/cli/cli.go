// Package cli holds what the command-line tools of kith share: exit codes, error messages, Ctrl-C,
// and a progress bar.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"kith/db"
	"kith/db/words"
)

// Exit codes.
const (
	ok = iota
	failed
	misused
)

// Run runs a tool and returns its exit code: 0 if it succeeded, 1 if it failed, 2 if the command
// line was wrong.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetUsageTemplate(usage)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	// A broken pipe becomes an error of the write and does not end the process.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal has its default effect
	cmd, err := root.ExecuteContextC(ctx)
	var f *failure
	switch {
	case err == nil:
		return ok
	case !errors.As(err, &f):
		fmt.Fprintf(stderr, "%s: %s\nusage: %s\n'%s --help' tells more\n", root.Name(), words.Plain(err), cmd.UseLine(), cmd.CommandPath())
		return misused
	case errors.Is(err, ErrReported), errors.Is(err, syscall.EPIPE):
	default:
		PrintError(stderr, root.Name(), f.error)
	}
	return failed
}

// Known returns an error for an unknown subcommand, with the subcommands that were probably meant.
// It is a cobra.PositionalArgs.
func Known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("unknown subcommand %q%s", args[0], DidYouMean(args[0], names))
}

// newHelp returns the subcommand help.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [SUBCOMMAND]",
		Short:   "Describe a subcommand",
		Long:    "Help describes a subcommand, as its flag --help does.",
		Example: "  kith help load",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if about, _, err := cmd.Root().Find(args); err == nil {
				for _, c := range about.Commands() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = Known(about, rest)
			}
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag() // so that --help is listed
			return about.Help()
		},
	}
}

// failure is an error of a subcommand that ran. Other errors that cobra returns are errors of the
// command line.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

// ErrReported means that the error has already been printed.
var ErrReported = errors.New("reported")

// Action returns a RunE function that marks the errors of f as failures of a subcommand.
func Action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f(cmd, args); err != nil {
			return &failure{err}
		}
		return nil
	}
}

// Work is Action for a subcommand that Ctrl-C ends: it cancels the context.
func Work(f func(ctx context.Context, cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return Action(func(cmd *cobra.Command, args []string) error {
		ctx, stop := Interruptible(cmd.Context())
		defer stop()
		return f(ctx, cmd, args)
	})
}

// Group makes cmd a command that only has subcommands. Without one it prints its help.
func Group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args = Known
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.DisableFlagsInUseLine = true
	cmd.AddCommand(subcommands...)
	return cmd
}

// PrintError prints an error with the name of the tool before each of its lines.
func PrintError(w io.Writer, tool string, err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	text := words.Plain(err)
	if named := (*db.Error)(nil); errors.As(err, &named) && named.DidYouMean != "" && !strings.Contains(text, "did you mean") {
		text += "; did you mean " + named.DidYouMean + "?"
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "%s: %s\n", tool, strings.TrimSuffix(line, "\n"))
	}
}
