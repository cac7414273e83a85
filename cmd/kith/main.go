package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	ok = iota
	failed
	misused
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the tool, up to its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(context.Background())
	var f *failure
	switch {
	case err == nil:
		return ok
	case !errors.As(err, &f):
		fmt.Fprintf(stderr, "kith: %v\nusage: %s\n'%s --help' tells more\n", err, cmd.UseLine(), cmd.CommandPath())
		return misused
	case errors.Is(err, errReported):
	default:
		complain(stderr, f.error)
	}
	return failed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "kith SUBCOMMAND",
		Short: "An embedded graph database that predicts its own next links",
		Long: `kith is an embedded graph database that predicts its own next links, and learns
from what came of its predictions.`,
		Example: `  kith demo
  kith load social.kith facebook_combined.txt
  kith shell social.kith -c "PREDICT LINKS FOR 0 AMONG NEIGHBORS(2) TOP 10;"`,
		Args:          known,
		RunE:          func(*cobra.Command, []string) error { return errors.New("a subcommand is missing") },
		SilenceErrors: true,
		SilenceUsage:  true,

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
	}
	root.AddCommand(newDemo(), newLoad(), newShell(), newCheck(), newBench(), newVersion())
	return root
}

// known refuses what is no subcommand, and names those it may have been meant for.
func known(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if meant := root.SuggestionsFor(args[0]); len(meant) > 0 {
		hint = "; did you mean " + strings.Join(meant, " or ") + "?"
	}
	return fmt.Errorf("unknown subcommand %q%s", args[0], hint)
}

// failure is the error of a subcommand that was understood; what else cobra returns is an error of
// the command line.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

// errReported is the error of what has been told already.
var errReported = errors.New("reported")

// action makes f the work of a subcommand.
func action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f(cmd, args); err != nil {
			return &failure{err}
		}
		return nil
	}
}

// complain writes an error, each of its lines as one.
func complain(w io.Writer, err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "kith: %s\n", strings.TrimSuffix(line, "\n"))
	}
}
