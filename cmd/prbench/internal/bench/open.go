package bench

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/benchfmt"
	"kith/db"
)

// openBench implements the subcommand bench open.
type openBench struct {
	edges  []string // edge lists to make databases from
	count  int
	stdout io.Writer
}

func newBenchOpen() *cobra.Command {
	var b openBench
	cmd := &cobra.Command{
		Use:   "open DB...",
		Short: "Measure the time from opening a database to its first answer",
		Long: `Bench open measures the time from opening a database to the first row of the
neighbours of a node, which needs the whole graph in memory. The files are read once
before, so the disk is not measured. A database that was closed is opened read-only.`,
		Example: `  prbench bench open social.kith
  prbench bench open --edges dblp-2010.edges.txt.gz`,
		PreRunE: func(_ *cobra.Command, args []string) error {
			if len(args)+len(b.edges) == 0 {
				return errors.New("a database, or --edges FILE, is missing")
			}
			return cli.Least("count", b.count, 1)
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			b.stdout = cmd.OutOrStdout()
			return b.run(ctx, args)
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&b.edges, "edges", nil, "edge list to make a temporary database from; may be repeated")
	f.IntVar(&b.count, "count", 5, "number of times to open each")
	return cmd
}

// run prints a line for each database, then for a database made from each list.
func (b *openBench) run(ctx context.Context, databases []string) error {
	return benchmark(b.stdout, slices.Concat(databases, b.edges), func(graph string) error {
		if !slices.Contains(b.edges, graph) {
			return b.line(ctx, graph, graph)
		}
		return withLoaded(ctx, graph, func(path string) error { return b.line(ctx, graph, path) })
	})
}

// line opens a database repeatedly and prints its line.
func (b *openBench) line(ctx context.Context, name, path string) error {
	l := benchfmt.New("Open", benchfmt.Graph(name))
	var s db.Stats
	for i := range b.count + 1 {
		runtime.GC() // collect the garbage of the previous opening
		start := time.Now()
		err := withReadOnly(path, &db.Options{}, func(g *db.DB) (err error) {
			if err = firstNeighbor(ctx, g); err == nil && i > 0 { // the first opening reads the files into the cache
				l.Took = append(l.Took, time.Since(start))
			}
			if err == nil {
				s, err = g.Stats()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	bytes, err := cli.DiskBytes(path)
	if err != nil {
		return err
	}
	l.Add(float64(s.Nodes), "nodes")
	l.Add(float64(s.Edges), "edges")
	l.Add(float64(bytes), "disk-B")
	return l.Write(b.stdout)
}

// firstNeighbor reads the neighbours of nodes up to the first row.
func firstNeighbor(ctx context.Context, g *db.DB) error {
	return g.View(ctx, func(tx *db.Tx) error {
		for n, err := range tx.Nodes() {
			if err != nil {
				return err
			}
			for _, err := range tx.Neighbors(n.Key) {
				return err
			}
		}
		return errors.New("no graph to measure: there is no edge")
	})
}
