package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
)

func main() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "kith SUBCOMMAND",
		Short: "An embedded graph database that predicts its own next links",
		Long: `kith is an embedded graph database that predicts its own next links, and learns
from what came of its predictions.`,
		Example: `  kith demo
  kith load social.kith facebook_combined.txt
  kith shell social.kith -c "PREDICT LINKS FOR 0 AMONG NEIGHBORS(2) TOP 10;"`,
		Args: known,
		RunE: func(*cobra.Command, []string) error { return errors.New("a subcommand is missing") },

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:                    built(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	load := newLoad()
	offered(load, "format", formats()...)
	offered(load, "columns", "src,dst", "src,dst,weight", "src,dst,time", "src,dst,weight,time")
	offered(load, "header", "yes", "no")
	offered(load, "repeats", "last", "sum", "count", "error")
	offered(load, "times", "s", "ms", "us", "ns", "rfc3339", "datetime", "date")
	root.AddCommand(
		newDemo(), load, newGen(), newShell(), newServe(), newCheck(), newBackup(), newRestore(), newCompact(), newBench(),
		newCompletion(), newVersion(),
	)
	for _, cmd := range root.Commands() {
		if cmd.ValidArgs == nil {
			cmd.ValidArgsFunction = paths(cmd.Use)
		}
	}
	return root
}

// known is cli.Known. It also suggests kith shell if the argument is a database or a file.
func known(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if _, err := os.Stat(args[0]); err == nil {
			return fmt.Errorf("%q is no subcommand; did you mean kith shell %s?", args[0], args[0])
		}
	}
	return cli.Known(cmd, args)
}
