package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
)

func newCompact() *cobra.Command {
	memory := int64(0)
	cmd := &cobra.Command{
		Use:   "compact DB",
		Short: "Free the space of what nobody can read any more",
		Long: `Compact writes the graph with all changes as a new base and frees the space of what
that replaces. It changes nothing that can be seen, and can be interrupted at any time.
A database does the same by itself as it changes; what is left to gain is the last of it.`,
		Example: "  kith compact social.kith",
		Args:    cli.Args("DB"),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			if err := mustExist(args[0]); err != nil {
				return err
			}
			before, err := diskBytes(args[0])
			if err != nil {
				return err
			}
			if err := db.CompactDir(ctx, args[0], limited(memory)); err != nil {
				return err
			}
			after, err := diskBytes(args[0])
			if err != nil {
				return err
			}
			return writeLine(cmd.OutOrStdout(), fmt.Sprintf("%s: %d bytes, %d before", args[0], after, before))
		}),
	}
	memoryFlag(cmd.Flags(), &memory)
	return cmd
}

// diskBytes returns the total size of the files in a directory.
func diskBytes(path string) (sum int64, err error) {
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, err
}
