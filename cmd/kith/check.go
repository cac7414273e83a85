package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
)

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check DB",
		Short: "Verify every invariant of a database",
		Long: `Check reads all records of a database anew and holds them against each other and
against what is served. It repairs nothing, and reports every breach.`,
		Example: "  kith check social.kith",
		Args:    cobra.ExactArgs(1),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			if err := mustExist(args[0]); err != nil {
				return err
			}
			return with(args[0], nil, func(g *db.DB) error {
				if err := g.Check(ctx); err != nil {
					return err
				}
				s, err := stats(ctx, g)
				if err != nil {
					return err
				}
				return writeLine(cmd.OutOrStdout(), args[0]+": ok: "+size(&s))
			})
		}),
	}
}

// stats returns the figures of the database as it is now.
func stats(ctx context.Context, g *db.DB) (s db.Stats, err error) {
	err = g.View(ctx, func(tx *db.Tx) error {
		s = tx.Stats()
		return nil
	})
	return s, err
}

// size says how large a database is.
func size(s *db.Stats) string {
	return fmt.Sprintf("%d nodes, %s, %d models", s.Nodes, edges(s.Edges, s.Loops), s.Models)
}

// edges says how many edges there are, loops being some of them.
func edges(all, loops int64) string {
	if loops == 0 {
		return fmt.Sprintf("%d edges", all)
	}
	return fmt.Sprintf("%d edges + %d loops", all-loops, loops)
}
