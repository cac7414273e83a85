package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
)

// pairs is a stream of edges between nodes numbered from 0. It depends only on its parameters: each iteration yields
// the same edges.
type pairs = iter.Seq2[int64, int64]

// randomGraph is a model of random graphs. Its fields are set by flags.
type randomGraph interface {
	flags(*cobra.Command)
	valid() error
	// edges returns the graph of a seed, cut off when ctx ends. It uses constant memory, whatever the size of the
	// graph.
	edges(ctx context.Context, seed uint64) pairs
}

func newGen() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gen MODEL",
		Short: "Write a random graph to standard output, to size a machine",
		Long: `Gen writes the edge list of a random graph to standard output, a line an edge, its
nodes numbered from 0. The same parameters and seed give the same bytes. It needs no
memory to speak of, whatever the size of the graph.`,
		Example: "  kith gen rmat --scale 20 --edges 16000000 | kith load big.kith -",
		Args:    cli.Known,
		RunE:    func(*cobra.Command, []string) error { return errors.New("a model is missing") },

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(
		genCommand(&cobra.Command{
			Use:   "rmat",
			Short: "R-MAT: few nodes with many edges, many with few",
			Long: `Rmat writes a graph of 2^scale nodes. Each edge falls into a quarter of the adjacency
matrix with probability a, b, c or what is left, then into a quarter of that, down to a
single entry (Chakrabarti, Zhan, Faloutsos 2004). The defaults are those of Graph500.
Some edges come twice, some are loops, and some nodes have none.`,
			Example: "  kith gen rmat --scale 20 --edges 16000000 > rmat.txt",
		}, &rmat{}),
		genCommand(&cobra.Command{
			Use:   "sbm",
			Short: "Stochastic block model: communities",
			Long: `Sbm divides the nodes into blocks of consecutive numbers, as equal as can be. Two
nodes of one block have an edge with the probability --inside, two of different blocks
with --between (Holland, Laskey, Leinhardt 1983). An edge comes once, smaller end first.`,
			Example: "  kith gen sbm --nodes 10000 --blocks 20 --inside 0.02 --between 0.0001 > communities.txt",
		}, &blocks{}),
		genCommand(&cobra.Command{
			Use:   "ba",
			Short: "Preferential attachment: the rich get richer",
			Long: `Ba lets the nodes come one after another, each with --degree edges to nodes that are
there, chosen in proportion to their degree so far (Barabasi, Albert 1999; computed as
Sanders and Schulz 2016 do). An edge may come twice, and be a loop of its own node.`,
			Example: "  kith gen ba --nodes 1000000 --degree 8 > rich.txt",
		}, &attachment{}),
	)
	return cmd
}

// genCommand turns cmd into a command that writes the graphs of a model.
func genCommand(cmd *cobra.Command, g randomGraph) *cobra.Command {
	var seed uint64
	g.flags(cmd)
	cmd.Flags().Uint64Var(&seed, "seed", 1, "of the random numbers")
	cmd.Args = cobra.NoArgs
	cmd.PreRunE = func(*cobra.Command, []string) error { return g.valid() }
	cmd.RunE = cli.Action(func(cmd *cobra.Command, _ []string) error {
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		return writePairs(ctx, cmd.OutOrStdout(), g.edges(ctx, seed))
	})
	return cmd
}

// writePairs writes one edge a line, until ctx ends.
func writePairs(ctx context.Context, to io.Writer, list pairs) error {
	const look = 1 << 12 // number of edges between two checks of ctx
	out := bufio.NewWriterSize(to, 64<<10)
	var line []byte
	n := 0
	for u, v := range list {
		line = strconv.AppendInt(line[:0], u, 10)
		line = append(line, '\t')
		line = strconv.AppendInt(line, v, 10)
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		if n++; n%look == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return ctx.Err()
}
