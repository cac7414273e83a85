// Package cli is what the command-line tools of kith have in common: exit codes, how errors are told, Ctrl-C, and a
// progress bar.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	ok = iota
	failed
	misused
)

// Run runs a tool, up to its exit code: 0 if all went well, 1 if something failed, 2 if the command line was wrong.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetUsageTemplate(usage)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	signal.Ignore(syscall.SIGPIPE) // what nobody reads any more is an error of the write, not the end
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second one does what it does by default
	cmd, err := root.ExecuteContextC(ctx)
	var f *failure
	switch {
	case err == nil:
		return ok
	case !errors.As(err, &f):
		fmt.Fprintf(stderr, "%s: %s\nusage: %s\n'%s --help' tells more\n", root.Name(), Plain(err), cmd.UseLine(), cmd.CommandPath())
		return misused
	case errors.Is(err, ErrReported), errors.Is(err, syscall.EPIPE):
	default:
		Complain(stderr, root.Name(), f.error)
	}
	return failed
}

// Known refuses what is no subcommand, and names those that were probably meant. It is a cobra.PositionalArgs.
func Known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown subcommand %q%s", args[0], meant(cmd, args[0]))
}

// newHelp is the subcommand that tells of others.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [SUBCOMMAND]",
		Short:   "Tell what a subcommand does",
		Long:    "Help tells what a subcommand does, as its flag --help does.",
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
			about.InitDefaultHelpFlag() // so that it is shown
			return about.Help()
		},
	}
}

// failure is the error of a subcommand that was understood; what else cobra returns is an error of
// the command line.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

// ErrReported is the error of what has been told already.
var ErrReported = errors.New("reported")

// Action makes f the work of a subcommand.
func Action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f(cmd, args); err != nil {
			return &failure{err}
		}
		return nil
	}
}

// Plain returns the text of an error without the names of packages and without "bad input", which goes
// without saying.
func Plain(err error) string {
	packages := regexp.MustCompile(`(^|: |\n)((db|index|model|edgelist|trial): (bad (input|option): )?)+`)
	return packages.ReplaceAllString(err.Error(), "$1")
}

// Complain writes an error, each of its lines as one, after the name of the tool.
func Complain(w io.Writer, tool string, err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	for line := range strings.Lines(Plain(err)) {
		fmt.Fprintf(w, "%s: %s\n", tool, strings.TrimSuffix(line, "\n"))
	}
}
