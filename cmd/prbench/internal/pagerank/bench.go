// Package pagerank measures the PageRank engine on graphs in memory: solving, combining states,
// catching up after changes, inserting edges, and storing states. Every answer that has a
// certificate is compared with the exact one.
package pagerank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/args"
	"kith/cmd/prbench/internal/benchfmt"
	"kith/db/edgelist"
)

// bench holds the options of the command.
type bench struct {
	edges, arcs []string // files of undirected graphs and of directed graphs
	directed    bool     // the graphs of edges are directed too
	columns     edgelist.Columns
	match       *regexp.Regexp // matches the names of the lines to print
	seed        uint64
	queries     int
	stdout      io.Writer
}

// New returns the command.
func New() *cobra.Command {
	b := bench{match: regexp.MustCompile("")}
	cmd := &cobra.Command{
		Use:   "ppr --edges FILE",
		Short: "Measure personalised PageRank: solve, combine, catch up, insert, store",
		Long: `Ppr measures the PageRank engine on the graphs of edge lists, in one thread, and prints
lines for benchstat.

A line with a certificate has the true error (true-err), compared with a solve to the
precision of float64, and the certified error (bound): the largest of the answers that
were compared, in L1 if the target is, otherwise of single values (undirected: divided
by the degree for a state). If an error exceeds its certificate, the benchmark fails.

  Read     the graph from the file into memory
  Cold     a solve of k nodes at once, certified L1 1e-6
  Local    a state of one source, certified max |y - y*| <= eps
  Values   v at k candidates from the cached states of 2,000 sources, with new candidates
           and new signed start values each time: combined, or corrected from both ends
  CatchUp  a cached state after edges were inserted or deleted: anywhere, or with an end
           within some hops of its source; and computing it from scratch (scratch-ns/op)
  Insert   an edge in memory, while a number of states are cached
  Store    a state's bytes in memory and in the store, and reading it from there`,
		Example: `  prbench ppr --edges dblp-2010.edges.txt.gz
  prbench ppr --edges CA-GrQc.txt --arcs soc-Epinions1.txt.gz --run 'Local|CatchUp'
  prbench ppr --edges g.txt --seed 2 > new.txt && benchstat old.txt new.txt`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if len(b.edges)+len(b.arcs) == 0 {
				return errors.New("--edges FILE is missing")
			}
			return cli.Least("queries", b.queries, 1)
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			b.stdout = cmd.OutOrStdout()
			return b.run(ctx)
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&b.edges, "edges", nil, "edge list of a graph, plain or gzip; may be repeated")
	f.StringArrayVar(&b.arcs, "arcs", nil, "the same, of a directed graph")
	f.BoolVar(&b.directed, "directed", false, "the graphs of --edges are directed")
	f.Func("columns", "columns of the files: src,dst with ,weight or ,time or ,weight,time (default: detected from the data)", func(text string) (err error) {
		b.columns, err = edgelist.ParseColumns(text)
		return err
	})
	f.Func("run", "print the lines whose name matches this regular expression", func(text string) (err error) {
		b.match, err = regexp.Compile(text)
		return err
	})
	f.Uint64Var(&b.seed, "seed", 1, "seed of sources, candidates, start values and changes")
	f.IntVar(&b.queries, "queries", 100, "operations to take the median of")
	return cmd
}

// run measures every graph, in one thread.
func (b *bench) run(ctx context.Context) error {
	if err := args.Readable(slices.Concat(b.edges, b.arcs)); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := benchfmt.WriteHead(b.stdout, "kith/cmd/prbench"); err != nil {
		return err
	}
	for i, file := range slices.Concat(b.edges, b.arcs) {
		if err := b.measure(ctx, file, b.directed || i >= len(b.edges)); err != nil {
			return err
		}
	}
	return nil
}

// measure prints the lines of a graph.
func (b *bench) measure(ctx context.Context, file string, directed bool) error {
	s, err := b.subject(ctx, file, directed)
	if err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{s.cold, s.local, s.values, s.catchUp, s.insert, s.store} {
		if err := part(ctx); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// decimal formats a number for the name of a line without an exponent, because benchstat would take
// the digits after a "-" for GOMAXPROCS.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
