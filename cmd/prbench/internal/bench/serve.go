package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/benchfmt"
	"kith/db"
)

// serveBench implements the subcommand bench serve.
type serveBench struct {
	kith    string // program
	dir     string // directory of the database, on the disk to measure
	edges   string // edge list; "": a graph is made
	nodes   int    // of that graph
	clients int
	places  int
	span    time.Duration // for each line
	stdout  io.Writer
}

func newBenchServe() *cobra.Command {
	var b serveBench
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Measure kith serve under load, and kill it",
		Long: `Bench serve starts kith serve --write with a database of its own, whose model default is
trained. For a while clients on this machine ask for predictions (POST /predict); then, as
long, each chooses a slate for a random node (POST /choose) and rewards one of its places
(POST /reward), again and again. Candidates are the 100 nodes with the largest PageRank.

The lines have the time of a request, which includes waiting for its turn, the requests that
were answered in a second, and the errors. A request that is refused because too many others
wait (status 503) is sent again after the time that the server names; refused counts them,
and their time does not include the pause.

Finally the server is killed by SIGKILL while the clients go on, and the database is opened
again: each decision and each reward that was acknowledged must be there.`,
		Example: `  prbench bench serve
  prbench bench serve --kith ./kith --edges facebook_combined.txt --clients 50 --time 10s`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			return cmp.Or(cli.Least("clients", b.clients, 1), cli.Least("nodes", b.nodes, 200), cli.Within("places", b.places, 1, 50),
				cli.Least("time", b.span, time.Millisecond))
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			b.stdout = cmd.OutOrStdout()
			return cli.InTemporary(b.dir, func(dir string) error { return b.run(ctx, dir) })
		}),
	}
	f := cmd.Flags()
	f.StringVar(&b.kith, "kith", "kith", "the program kith, which go build ./cmd/kith makes")
	f.StringVar(&b.dir, "dir", os.TempDir(), "directory of the database, on the disk to measure")
	f.StringVar(&b.edges, "edges", "", "edge list to make the database from (default: a graph is made)")
	f.IntVar(&b.nodes, "nodes", 10_000, "number of nodes of the graph that is made")
	f.IntVar(&b.clients, "clients", 200, "number of clients")
	f.IntVar(&b.places, "places", 10, "number of places of a slate")
	f.DurationVar(&b.span, "time", time.Minute, "how long to measure each part, or until each client is answered")
	return cmd
}

// run measures a server with a database in a directory.
func (b *serveBench) run(ctx context.Context, dir string) error {
	path := filepath.Join(dir, "g.kith")
	nodes, err := b.makeDatabase(ctx, path)
	if err != nil {
		return err
	}
	s, err := startServer(b.kith, path, filepath.Join(dir, "token"))
	if err != nil {
		return err
	}
	defer s.kill()
	if err := benchfmt.WriteHead(b.stdout, "kith/cmd/prbench"); err != nil {
		return err
	}
	c := crowd{server: s, clients: b.clients, nodes: nodes}
	predict := requests{path: "/predict"}
	predict.span = c.act(ctx, b.span, nil, func(v *visitor) error { return v.predict(&predict, b.places) })
	choose, reward := requests{path: "/choose"}, requests{path: "/reward"}
	var log journal
	choose.span = c.act(ctx, b.span, s.kill, func(v *visitor) error { return v.decide(&choose, &reward, b.places, &log) })
	reward.span = choose.span
	s.kill() // waits for its end
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, r := range []*requests{&predict, &choose, &reward} {
		if err := r.write(b); err != nil {
			return err
		}
	}
	return b.verify(path, &log)
}

// makeDatabase makes a database with a trained model, and returns its nodes.
func (b *serveBench) makeDatabase(ctx context.Context, path string) (nodes []string, err error) {
	if b.edges != "" {
		_, err = load(ctx, path, b.edges, nil)
	} else {
		err = with(path, nil, func(g *db.DB) error { return b.writeGraph(ctx, g) })
	}
	if err != nil {
		return nil, err
	}
	err = with(path, nil, func(g *db.DB) error {
		m := g.Model("default")
		if err := m.Create(ctx, db.ModelSpec{}); err != nil {
			return err
		}
		if _, err := m.Train(ctx, db.TrainOptions{}); err != nil {
			return err
		}
		return g.View(ctx, func(tx *db.Tx) error {
			for n, err := range tx.Nodes() {
				if err != nil {
					return err
				}
				text, err := n.Key.MarshalText()
				if err != nil {
					return err
				}
				nodes = append(nodes, string(text))
			}
			return nil
		})
	})
	return nodes, err
}

// writeGraph writes a graph of communities of 100 nodes. Each node begins ten edges, nine of them
// in its community.
func (b *serveBench) writeGraph(ctx context.Context, g *db.DB) error {
	const community, begun = 100, 10
	rng, w := rand.New(rand.NewPCG(1, 1)), g.BulkWriter(ctx)
	for i := range b.nodes {
		first := i / community * community
		for k := range begun {
			to := first + rng.IntN(min(community, b.nodes-first))
			if k == 0 {
				to = rng.IntN(b.nodes)
			}
			if to == i {
				continue
			}
			if err := w.PutEdge(i, to); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// write prints the line of some requests.
func (r *requests) write(b *serveBench) error {
	graph := benchfmt.Graph(cmp.Or(b.edges, fmt.Sprint("made_", b.nodes)))
	l := benchfmt.New("Serve", graph, "post="+strings.TrimPrefix(r.path, "/"), fmt.Sprintf("clients=%d", b.clients))
	if l.Took = r.took; len(l.Took) == 0 {
		return fmt.Errorf("no POST %s was answered: %w", r.path, errors.Join(r.failed...))
	}
	l.Add(float64(len(r.took))/r.span.Seconds(), "requests/s")
	l.Add(l.Quantile(0.99), "p99-ns")
	l.Add(float64(len(r.failed)), "errors")
	l.Add(float64(r.refused), "refused")
	return errors.Join(append(r.failed[:min(len(r.failed), 1)], l.Write(b.stdout))...)
}

// verify opens the database of a killed server, and checks that it has what was acknowledged.
func (b *serveBench) verify(path string, log *journal) error {
	lost, rewards := 0, 0
	err := with(path, nil, func(g *db.DB) error {
		return g.View(context.Background(), func(tx *db.Tx) error {
			for id, a := range log.decisions {
				if a.reward > 0 {
					rewards++
				}
				d, err := tx.Decision(id)
				if errors.Is(err, db.ErrNoDecision) || err == nil && !a.isIn(&d) {
					lost++
				} else if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if lost > 0 {
		return fmt.Errorf("%d of %d decisions, or their rewards, are lost", lost, len(log.decisions))
	}
	_, err = fmt.Fprintf(b.stdout, "# killed; none of %d decisions and %d rewards that were acknowledged is lost\n", len(log.decisions), rewards)
	return err
}
