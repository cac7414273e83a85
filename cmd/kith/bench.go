package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db/edgelist"
)

func newBench() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench BENCHMARK",
		Short: "Measure a part of kith on your own graphs",
		Long: `Bench measures a part of kith on graphs that you name, and prints lines as go test
-bench does, so that benchstat (golang.org/x/perf) compares two runs.`,
		Example: "  kith bench ppr --edges facebook_combined.txt\n  kith bench load facebook_combined.txt\n  kith bench commit\n  kith bench open social.kith",
		Args:    cli.Known,
		RunE:    func(*cobra.Command, []string) error { return errors.New("a benchmark is missing") },

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newBenchPPR(), newBenchLoad(), newBenchCommit(), newBenchOpen(), newBenchPredict())
	return cmd
}

// bench implements the subcommand bench ppr.
type bench struct {
	edges, arcs []string // files of undirected graphs and of directed graphs
	directed    bool     // the graphs of edges are directed too
	columns     edgelist.Columns
	match       *regexp.Regexp // matches the names of the lines to print
	seed        uint64
	queries     int
	stdout      io.Writer
}

func newBenchPPR() *cobra.Command {
	b := bench{match: regexp.MustCompile("")}
	cmd := &cobra.Command{
		Use:   "ppr --edges FILE",
		Short: "Measure personalised PageRank: solve, combine, catch up, insert, store",
		Long: `Bench ppr measures the PageRank engine on the graphs of edge lists, in one thread.

Every line that ends in a certificate has the true error (true-err), against a solve to
the end of float64, beside what was certified (bound), both the largest of the answers
looked at: in L1 where the target is, else of values (undirected: over the degree for
a state). If an error is larger than its certificate, the benchmark fails.

  Read     the graph from the file into memory
  Cold     a solve of k nodes at once, certified L1 1e-6
  Local    a state of one source, certified max |y - y*| <= eps
  Values   v at k candidates out of the cached states of 2,000 sources, new candidates
           and new signed start values each time: combined, or corrected from both ends
  CatchUp  a cached state after edges were inserted or deleted: anywhere, or with an end
           within so many hops of its source; beside computing it afresh (afresh-ns/op)
  Insert   an edge in memory, while so many states are cached
  Store    a state's bytes in memory and in the store, and its way back from there`,
		Example: `  kith bench ppr --edges dblp-2010.edges.txt.gz
  kith bench ppr --edges CA-GrQc.txt --arcs soc-Epinions1.txt.gz --run 'Local|CatchUp'
  kith bench ppr --edges g.txt --seed 2 > new.txt && benchstat old.txt new.txt`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if len(b.edges)+len(b.arcs) == 0 {
				return errors.New("--edges FILE is missing")
			}
			if b.queries < 1 {
				return fmt.Errorf("--queries %d: at least 1 is wanted", b.queries)
			}
			return nil
		},
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			b.stdout = cmd.OutOrStdout()
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return b.run(ctx)
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&b.edges, "edges", nil, "edge list of a graph, plain or gzip; may be repeated")
	f.StringArrayVar(&b.arcs, "arcs", nil, "the same, of a directed graph")
	f.BoolVar(&b.directed, "directed", false, "the graphs of --edges are directed")
	f.Func("columns", "what the columns are: src,dst with ,weight or ,time or ,weight,time (default: told from the data)", func(text string) (err error) {
		b.columns, err = edgelist.ParseColumns(text)
		return err
	})
	f.Func("run", "print the lines whose name matches this regular expression", func(text string) (err error) {
		b.match, err = regexp.Compile(text)
		return err
	})
	f.Uint64Var(&b.seed, "seed", 1, "of sources, candidates, start values and changes")
	f.IntVar(&b.queries, "queries", 100, "operations to take the median of")
	return cmd
}

// run measures every graph, in one thread.
func (b *bench) run(ctx context.Context) error {
	if err := readable(append(append([]string(nil), b.edges...), b.arcs...)); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := writeHead(b.stdout); err != nil {
		return err
	}
	for _, file := range b.edges {
		if err := b.measure(ctx, file, b.directed); err != nil {
			return err
		}
	}
	for _, file := range b.arcs {
		if err := b.measure(ctx, file, true); err != nil {
			return err
		}
	}
	return nil
}

// measure prints the lines of one graph.
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
