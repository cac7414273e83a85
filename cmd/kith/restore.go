package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
)

func newRestore() *cobra.Command {
	memory := int64(0)
	cmd := &cobra.Command{
		Use:   "restore FILE... DB",
		Short: "Make a database of a backup",
		Long: `Restore makes a database of a backup, or of a backup and the backups of changes that
follow it, oldest first, where there is nothing or an empty directory. The file - is
standard input. The database is there whole or not at all: it is made in DB.partial
and moved to its place when everything has been read, checked and is on the disk.`,
		Example: `  kith restore monday.kbk social.kith
  kith restore monday.kbk tuesday.kbk wednesday.kbk social.kith
  ssh vault 'cat social.kbk' | kith restore - social.kith`,
		Args: cobra.MatchAll(cli.AtLeast("FILE", "DB"), filesFrom(0, 1)),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			path, o := args[len(args)-1], limited(memory)
			if err := restore(ctx, cmd.InOrStdin(), args[:len(args)-1], path, o); err != nil {
				return err
			}
			return toRead(path, o, func(g *db.DB) error {
				s, err := stats(ctx, g)
				if err != nil {
					return err
				}
				return writeLine(cmd.OutOrStdout(), path+": "+size(&s))
			})
		}),
	}
	memoryFlag(cmd.Flags(), &memory)
	return cmd
}

func restore(ctx context.Context, stdin io.Reader, files []string, path string, o *db.Options) error {
	var backups []io.Reader
	for _, name := range files {
		if name == "-" {
			in := waiting(ctx, stdin)
			defer in.Close() // never fails
			backups = append(backups, in)
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		backups = append(backups, f)
	}
	return db.Restore(ctx, path, o, backups...)
}
