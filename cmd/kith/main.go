package main

import (
	"errors"
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
		Args: cli.Known,
		RunE: func(*cobra.Command, []string) error { return errors.New("a subcommand is missing") },

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
	}
	root.AddCommand(
		newDemo(), newLoad(), newGen(), newShell(), newCheck(), newBackup(), newRestore(), newCompact(), newBench(),
		newVersion(),
	)
	return root
}
