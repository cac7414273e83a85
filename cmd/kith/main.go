package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
)

func main() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func newRoot() *cobra.Command {
	root := cli.Group(&cobra.Command{
		Use:   "kith SUBCOMMAND",
		Short: "An embedded graph database that predicts its own next links",
		Long: `kith is an embedded graph database that predicts its own next links, and learns
from the outcomes of its predictions.`,
		Example: `  kith demo
  kith load social.kith facebook_combined.txt
  kith train social.kith
  kith predict social.kith 0 --top 10
  kith shell social.kith`,
		Args:              knownSubcommand,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           built(),
	},
		newDemo(), newLoad(), newPredict(), newWhy(), newTrain(), newShell(), newServe(), newMCP(), newCheck(), newBackup(), newRestore(), newChanges(), newCompact(), newScore(), newCompletion(), newVersion())
	root.SetVersionTemplate("{{.Version}}\n")
	for _, cmd := range root.Commands() {
		if cmd.ValidArgs == nil {
			cmd.ValidArgsFunction = paths(cmd.Use)
		}
	}
	return root
}

// knownSubcommand is cli.Known. It also suggests kith shell if the argument is a database or a
// file.
func knownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if _, err := os.Stat(args[0]); err == nil {
			return fmt.Errorf("%q is no subcommand; did you mean kith shell %s?", args[0], args[0])
		}
	}
	return cli.Known(cmd, args)
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Say which build of the tool this is",
		Example: "  kith version",
		Args:    cli.Args(),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			return cli.WriteLine(cmd.OutOrStdout(), built())
		}),
	}
}

// built returns the version of this build.
func built() string {
	info, _ := debug.ReadBuildInfo() // nil in a binary without modules
	return version(info)
}

// version returns a line that identifies a build: its version, its revision, the Go version and the
// platform.
func version(info *debug.BuildInfo) string {
	parts := []string{"kith (devel)"}
	if info != nil {
		if v := info.Main.Version; v != "" {
			parts[0] = "kith " + v
		}
		if r := cli.Revision(info); r != "" {
			parts = append(parts, r)
		}
	}
	return strings.Join(append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), ", ")
}
