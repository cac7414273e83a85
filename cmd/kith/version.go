package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Say which build of the tool this is",
		Example: "  kith version",
		Args:    cli.Args(),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			return writeLine(cmd.OutOrStdout(), built())
		}),
	}
}

// built returns the version of this build.
func built() string {
	info, _ := debug.ReadBuildInfo() // nil in a binary without modules
	return version(info)
}

// version returns a line that identifies a build: its version, its revision, the Go version and the platform.
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
