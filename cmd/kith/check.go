package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/db/words"
)

func newCheck() *cobra.Command {
	repair, memory := false, int64(0)
	var how db.RepairOptions
	cmd := &cobra.Command{
		Use:   "check DB",
		Short: "Verify every invariant of a database, or repair it",
		Long: `Check reads all records of a database and compares them with each other and with the
data in memory. It reports every contradiction and its place, and changes nothing. A
database on a read-only file system is only read.

With --repair, a damaged database is written from scratch with all that can be read. In a
damaged file, the blocks with wrong checksums are lost. Repair prints what was lost. It
works inside the directory of the database and needs as much space there again. If it
fails, it changes nothing. It fails if nothing of the graph can be read; with --force an
empty database then takes the place of the damaged one. Repair needs memory for the whole
graph, about 130 bytes an edge, whatever --memory says.`,
		Example: "  kith check social.kith\n  kith check --repair social.kith",
		Args:    cli.Args("DB"),
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := mustExist(args[0]); err != nil {
				return err
			}
			o := limited(memory)
			if how.Force && !repair {
				return errors.New("--force is an option of --repair, which was not given")
			}
			if repair {
				if err := runRepair(ctx, cmd.OutOrStdout(), args[0], o, how); err != nil {
					return err
				}
			} else {
				diagnose := func(o *db.Options) error { return db.Diagnose(ctx, args[0], o) }
				if err := readOnlyIfMust(o, cmd.ErrOrStderr(), diagnose); err != nil {
					return err
				}
			}
			return with(args[0], o, func(g *db.DB) error {
				s, err := g.Stats()
				if err != nil {
					return err
				}
				return cli.WriteLine(cmd.OutOrStdout(), args[0]+": ok: "+describeSize(&s))
			})
		}),
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "write the database from scratch, without what is damaged")
	cmd.Flags().BoolVar(&how.Force, "force", false, "with --repair: make an empty database if nothing can be read")
	cli.MemoryFlag(cmd.Flags(), &memory)
	return cmd
}

// runRepair repairs a database and prints the damage and the steps of the repair.
func runRepair(ctx context.Context, w io.Writer, path string, o *db.Options, how db.RepairOptions) error {
	r, err := db.Repair(ctx, path, o, how)
	if r == nil {
		return err
	}
	for _, found := range r.Found {
		if err := cli.WriteLine(w, path+": found: "+words.Plain(found)); err != nil {
			return err
		}
	}
	if err != nil {
		return err // nothing was done
	}
	for _, done := range r.Done {
		if err := cli.WriteLine(w, path+": done: "+done); err != nil {
			return err
		}
	}
	return err
}

func newCompact() *cobra.Command {
	memory := int64(0)
	cmd := &cobra.Command{
		Use:   "compact DB",
		Short: "Free the space of data that no reader can see",
		Long: `Compact writes the graph with all changes as a new base and frees the space of the data
that it replaces. No answer changes, and it can be interrupted at any time. A database
also compacts itself while it changes; compact frees the rest. It also removes the keys of
erased nodes (ERASE NODE) from all files.`,
		Example: "  kith compact social.kith",
		Args:    cli.Args("DB"),
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if err := mustExist(args[0]); err != nil {
				return err
			}
			before, err := cli.DiskBytes(args[0])
			if err != nil {
				return err
			}
			if err := db.CompactDir(ctx, args[0], limited(memory)); err != nil {
				return err
			}
			after, err := cli.DiskBytes(args[0])
			if err != nil {
				return err
			}
			return cli.WriteLine(cmd.OutOrStdout(), fmt.Sprintf("%s: %d bytes, %d before", args[0], after, before))
		}),
	}
	cli.MemoryFlag(cmd.Flags(), &memory)
	return cmd
}

// describeSize describes the size of a database.
func describeSize(s *db.Stats) string {
	return fmt.Sprintf("%s, %s, %s", words.Count(s.Nodes, "node"), describeEdges(s.Edges, s.Loops), words.Count(s.Models, "model"))
}

// describeEdges describes the number of edges; all includes the loops.
func describeEdges(all, loops int64) string {
	if loops == 0 {
		return words.Count(all, "edge")
	}
	return words.Count(all-loops, "edge") + " + " + words.Count(loops, "loop")
}
