// Package gen writes random graphs.
package gen

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
)

// pairs is a stream of edges between nodes numbered from 0. It depends only on its parameters: each
// iteration yields the same edges.
type pairs = iter.Seq2[int64, int64]

// randomGraph is a model of random graphs. Its fields are set by flags.
type randomGraph interface {
	flags(*cobra.Command)
	valid() error
	// edges returns the graph of a seed, cut off when ctx ends. It uses constant memory, whatever
	// the size of the graph.
	edges(ctx context.Context, seed uint64) pairs
}

// New returns the command prbench gen.
func New() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "gen MODEL",
		Short: "Write a random graph to standard output, to size a machine",
		Long: `Gen writes the edge list of a random graph to standard output, one edge a line. Nodes are
numbered from 0. The same parameters and seed give the same bytes. It needs little
memory, whatever the size of the graph.`,
		Example: "  prbench gen rmat --scale 20 --edges 16000000 | kith load big.kith -",
	},
		genCommand(&cobra.Command{
			Use:   "rmat",
			Short: "R-MAT: few nodes with many edges, many with few",
			Long: `Rmat writes a graph of 2^scale nodes. Each edge falls into a quarter of the adjacency
matrix with probability a, b, c or the rest, then into a quarter of that, down to a
single entry (Chakrabarti, Zhan, Faloutsos 2004). The defaults are those of Graph500.
Some edges come twice, some are loops, and some nodes have no edge.`,
			Example: "  prbench gen rmat --scale 20 --edges 16000000 > rmat.txt",
		}, &rmat{}),
		genCommand(&cobra.Command{
			Use:   "sbm",
			Short: "Stochastic block model: communities",
			Long: `Sbm divides the nodes into blocks of consecutive numbers, of nearly equal size. Two
nodes of one block have an edge with the probability --inside, two of different blocks
with --between (Holland, Laskey, Leinhardt 1983). An edge comes once, smaller end first.`,
			Example: "  prbench gen sbm --nodes 10000 --blocks 20 --inside 0.02 --between 0.0001 > communities.txt",
		}, &blocks{}),
		genCommand(&cobra.Command{
			Use:   "ba",
			Short: "Preferential attachment: the rich get richer",
			Long: `Ba adds the nodes one after another, each with --degree edges to earlier nodes, chosen in
proportion to their degree so far (Barabasi, Albert 1999; computed as
Sanders and Schulz 2016 do). An edge may come twice, and be a loop of its own node.`,
			Example: "  prbench gen ba --nodes 1000000 --degree 8 > rich.txt",
		}, &attachment{}),
	)
}

// genCommand turns cmd into a command that writes the graphs of a model.
func genCommand(cmd *cobra.Command, g randomGraph) *cobra.Command {
	var seed uint64
	g.flags(cmd)
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the random numbers")
	cmd.Args = cobra.NoArgs
	cmd.PreRunE = func(*cobra.Command, []string) error { return g.valid() }
	cmd.RunE = cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
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

// maxGenNodes is the maximum number of nodes of a random graph, one more than a database takes.
const maxGenNodes = 1 << 32

// newRandom returns the random number generator of a seed.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// rmat is the recursive matrix model, R-MAT.
type rmat struct {
	scale   int
	count   int64
	a, b, c float64 // probabilities of the quarters: upper left, upper right, lower left
}

func (g *rmat) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&g.scale, "scale", 16, "log2 of the number of nodes, 1 to 32")
	f.Int64Var(&g.count, "edges", 1<<20, "number of edges to write")
	f.Float64Var(&g.a, "a", 0.57, "probability of the quarter of low sources and low targets")
	f.Float64Var(&g.b, "b", 0.19, "probability of low sources and high targets")
	f.Float64Var(&g.c, "c", 0.19, "probability of high sources and low targets")
}

func (g *rmat) valid() error {
	if !(g.a >= 0 && g.b >= 0 && g.c >= 0 && g.a+g.b+g.c <= 1) {
		return fmt.Errorf("--a, --b and --c must be probabilities whose sum is at most 1, got %v, %v and %v", g.a, g.b, g.c)
	}
	return cmp.Or(cli.Within("scale", g.scale, 1, 32), cli.Least("edges", g.count, 0))
}

func (g *rmat) edges(_ context.Context, seed uint64) pairs {
	quarter := func(p float64) uint64 { return uint64(p * (1 << 32)) } // threshold for 32 random bits
	a, b, c := quarter(g.a), quarter(g.a+g.b), quarter(g.a+g.b+g.c)
	return func(yield func(int64, int64) bool) {
		rng := newRandom(seed)
		for range g.count {
			var u, v int64
			for range g.scale {
				u, v = u<<1, v<<1
				switch r := uint64(rng.Uint32()); {
				case r < a:
				case r < b:
					v++
				case r < c:
					u++
				default:
					u, v = u+1, v+1
				}
			}
			if !yield(u, v) {
				return
			}
		}
	}
}

// WriteRMAT writes the R-MAT graph of 2^scale nodes with the probabilities of Graph500 and the seed
// 1, one edge a line.
func WriteRMAT(ctx context.Context, w io.Writer, scale int, edges int64) error {
	r := rmat{scale: scale, count: edges, a: 0.57, b: 0.19, c: 0.19}
	return writePairs(ctx, w, r.edges(ctx, 1))
}

// blocks is the stochastic block model.
type blocks struct {
	nodes, count    int64 // number of nodes, number of blocks
	inside, between float64
}

func (g *blocks) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&g.nodes, "nodes", 10000, "number of nodes")
	f.Int64Var(&g.count, "blocks", 10, "number of blocks")
	f.Float64Var(&g.inside, "inside", 0.01, "probability of an edge between two nodes of one block")
	f.Float64Var(&g.between, "between", 0.0001, "probability of an edge between two nodes of different blocks")
}

func (g *blocks) valid() error {
	return cmp.Or(cli.Within("nodes", g.nodes, 1, maxGenNodes), cli.Within("blocks", g.count, 1, g.nodes),
		cli.Within("inside", g.inside, 0, 1), cli.Within("between", g.between, 0, 1))
}

// begin returns the first node of block i. Block count begins after the last node.
func (g *blocks) begin(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), uint64(g.nodes))
	q, _ := bits.Div64(hi, lo, uint64(g.count))
	return int64(q)
}

// edges visits the possible edges from each node to later nodes of its block and to the nodes of
// later blocks, and draws how many to skip before the next edge (Batagelj, Brandes 2005, "Efficient
// generation of large random networks").
func (g *blocks) edges(ctx context.Context, seed uint64) pairs {
	return func(yield func(int64, int64) bool) {
		rng := newRandom(seed)
		for i := range g.count {
			if i%rowsPerCheck == 0 && ctx.Err() != nil {
				return
			}
			lo, hi := g.begin(i), g.begin(i+1)
			for u, v := range chosen(ctx, rng, g.inside, hi-lo, func(k int64) int64 { return hi - lo - 1 - k }) {
				if !yield(lo+u, lo+u+1+v) {
					return
				}
			}
			for u, v := range chosen(ctx, rng, g.between, hi-lo, func(int64) int64 { return g.nodes - hi }) {
				if !yield(lo+u, hi+v) {
					return
				}
			}
		}
	}
}

// rowsPerCheck is the number of blocks, or of rows without an edge, between two checks of a
// context.
const rowsPerCheck = 1 << 16

// chosen yields each entry of a table with probability p, until ctx ends. The table has the given
// number of rows; width returns the width of a row.
func chosen(ctx context.Context, rng *rand.Rand, p float64, rows int64, width func(row int64) int64) pairs {
	return func(yield func(int64, int64) bool) {
		if p == 0 {
			return
		}
		row, col := int64(0), int64(-1)
		for {
			// The number of entries to skip is geometric. 2^62 is beyond the end of any table.
			skip := math.Floor(math.Log1p(-rng.Float64()) / math.Log1p(-p))
			col += 1 + int64(min(skip, 1<<62))
			for row < rows && col >= width(row) {
				col -= width(row)
				if row++; row%rowsPerCheck == 0 && ctx.Err() != nil {
					return
				}
			}
			if row == rows || !yield(row, col) {
				return
			}
		}
	}
}

// attachment is the preferential attachment model.
type attachment struct {
	nodes, degree int64
}

func (g *attachment) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&g.nodes, "nodes", 10000, "number of nodes")
	f.Int64Var(&g.degree, "degree", 4, "number of edges that each node adds, up to 65536")
}

func (g *attachment) valid() error {
	return cmp.Or(cli.Within("nodes", g.nodes, 1, maxGenNodes), cli.Within("degree", g.degree, 1, 1<<16))
}

// edges implements the method of Sanders and Schulz 2016, "Scalable generation of scale-free
// graphs". Consider the list of all ends, two for each edge. The first end of edge i is node i /
// degree. The second end is a copy of an earlier end of the list, drawn uniformly, so that a node
// is drawn with a probability proportional to its number of ends. The draw is a hash of its index
// in the list, so no state is kept: if the drawn end is itself a second end, its draw is repeated.
func (g *attachment) edges(_ context.Context, seed uint64) pairs {
	return func(yield func(int64, int64) bool) {
		for i := range uint64(g.nodes * g.degree) {
			at := 2*i + 1
			for at%2 == 1 {
				at, _ = bits.Mul64(mix(seed, at), at) // even in [0, at)
			}
			if !yield(int64(i)/g.degree, int64(at/2)/g.degree) {
				return
			}
		}
	}
}

// mix returns the n-th number of the generator SplitMix64 (Steele, Lea, Flood 2014) with a seed.
func mix(seed, n uint64) uint64 {
	const golden = 0x9e3779b97f4a7c15
	z := mixed(seed) + (n+1)*golden
	return mixed(z)
}

func mixed(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
