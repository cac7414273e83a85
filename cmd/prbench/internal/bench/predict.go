package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/args"
	"kith/cmd/prbench/internal/benchfmt"
	"kith/db"
	"kith/query"
)

// predictBench implements the subcommand bench predict.
type predictBench struct {
	edges           []string // edge lists to make databases from
	warmed, queries int
	span            time.Duration // time to measure readers for, alone and with a writer
	readers         int
	seed            uint64
	stdout          io.Writer
}

func newBenchPredict() *cobra.Command {
	var b predictBench
	cmd := &cobra.Command{
		Use:   "predict --edges FILE",
		Short: "Measure predictions, with and without a writer",
		Long: `Bench predict makes a database of an edge list, trains a model of policy default on it,
and measures predictions. The database is deleted afterwards.

  Predict    100 candidates, in one thread: a new source and new candidates each time, from
             nodes whose states are in the cache; through the Go API, as a statement, and
             through the Go API just after an edge was added at a neighbour of the source
  Holdout    1,000 candidates, the default, in one thread: by a holdout of a tenth of the
             edges, and by predictions for the same nodes, alternating
  Heuristic  the 10 best within 2 steps of a node by a policy that does not learn, for 200
             nodes, in one thread
  Readers    predictions per second as above, by several readers at the same time: without a
             writer, and with one that adds 1,000 edges per second in commits of 10,
             alternating`,
		Example: `  prbench bench predict --edges dblp-2010.edges.txt.gz
  prbench bench predict --edges facebook_combined.txt --queries 200`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if len(b.edges) == 0 {
				return errors.New("--edges FILE is missing")
			}
			return cmp.Or(cli.Least("queries", b.queries, 1), cli.Least("readers", b.readers, 1),
				cli.Least("warmed", b.warmed, candidateCount+1), cli.Least("time", b.span, time.Nanosecond), args.Readable(b.edges))
		},
		RunE: cli.Work(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			b.stdout = cmd.OutOrStdout()
			return b.run(ctx)
		}),
	}
	f := cmd.Flags()
	f.StringArrayVar(&b.edges, "edges", nil, "edge list to make a database of; may be repeated")
	f.IntVar(&b.warmed, "warmed", 2000, "number of sources whose states are in the cache, more than 100")
	f.IntVar(&b.queries, "queries", 1000, "number of predictions of which the median is taken")
	f.IntVar(&b.readers, "readers", 1, "number of readers that predict at the same time")
	f.DurationVar(&b.span, "time", 10*time.Second, "how long to measure readers without a writer, and with one")
	f.Uint64Var(&b.seed, "seed", 1, "seed of sources, candidates and edges")
	return cmd
}

// run measures a database made from each list.
func (b *predictBench) run(ctx context.Context) error {
	return benchmark(b.stdout, b.edges, func(file string) error {
		err := withLoaded(ctx, file, func(path string) error {
			return with(path, nil, func(g *db.DB) error {
				p := predictor{predictBench: b, g: g, graph: benchfmt.Graph(file), random: rand.New(rand.NewPCG(b.seed, 0))}
				return p.measure(ctx)
			})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
}

// candidateCount is the number of candidates of a measured prediction.
const candidateCount = 100

// predictor is a database being measured.
type predictor struct {
	*predictBench
	g      *db.DB
	graph  string
	nodes  []db.Key // nodes with edges, in random order
	warm   []any    // the first of nodes, whose states are cached
	random *rand.Rand
}

func (p *predictor) measure(ctx context.Context) error {
	return inOrder(ctx, p.prepare, p.inOneThread, p.besideWriter)
}

func (p *predictor) inOneThread(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return inOrder(ctx, p.predictions, p.afterInserts, p.holdout, p.heuristics)
}

// inOrder calls functions up to the first error.
func inOrder(ctx context.Context, all ...func(context.Context) error) error {
	for _, f := range all {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write prints lines, with the 99th percentile of their times.
func (p *predictor) write(lines ...*benchfmt.Line) error {
	for _, l := range lines {
		l.Add(l.Quantile(0.99), "p99-ns/op")
		if err := l.Write(p.stdout); err != nil {
			return err
		}
	}
	return nil
}

// trained is the name of the measured model.
const trained = "trained"

// prepare trains a model and warms the sources.
func (p *predictor) prepare(ctx context.Context) error {
	err := p.g.Model(trained).Create(ctx, db.ModelSpec{})
	if err == nil {
		_, err = p.g.Model(trained).Train(ctx, db.TrainOptions{Deploy: db.DeployAlways})
	}
	if err != nil {
		return err
	}
	return p.g.View(ctx, func(tx *db.Tx) error {
		for n, err := range tx.Nodes() {
			if err != nil {
				return err
			}
			if n.Edges > 0 {
				p.nodes = append(p.nodes, n.Key)
			}
		}
		p.random.Shuffle(len(p.nodes), func(i, j int) { p.nodes[i], p.nodes[j] = p.nodes[j], p.nodes[i] })
		if len(p.nodes) <= candidateCount {
			return fmt.Errorf("no graph to measure: %d nodes with an edge", len(p.nodes))
		}
		for _, k := range p.nodes[:min(p.warmed, len(p.nodes))] {
			p.warm = append(p.warm, k)
		}
		return tx.Warm(ctx, p.warm...)
	})
}

// line returns a new line of a benchmark of the graph.
func (p *predictor) line(benchmark string, parameters ...string) *benchfmt.Line {
	return benchfmt.New(benchmark, append([]string{p.graph}, parameters...)...)
}

// question draws the nodes of a prediction: first the source, then the candidates.
func (p *predictor) question(r *rand.Rand) []any {
	nodes := make([]any, candidateCount+1)
	for i, n := range r.Perm(len(p.warm))[:len(nodes)] {
		nodes[i] = p.warm[n]
	}
	return nodes
}

func (p *predictor) predict(ctx context.Context, nodes []any) error {
	_, err := p.g.Predict(ctx, db.PredictOptions{For: nodes[0], Among: db.Keys(nodes[1:]...), Model: trained})
	return err
}

// predictStatement returns a prediction as a statement.
func predictStatement(nodes []any) string {
	var text strings.Builder
	fmt.Fprintf(&text, "PREDICT LINKS FOR %v AMONG (%v", nodes[0], nodes[1])
	for _, k := range nodes[2:] {
		fmt.Fprintf(&text, ", %v", k)
	}
	return text.String() + ") USING " + trained
}

// predictions measures predictions through the Go API and as statements, alternating between them.
func (p *predictor) predictions(ctx context.Context) error {
	api, language := p.line("Predict", "api=go"), p.line("Predict", "api=query")
	before, err := p.g.Stats()
	if err != nil {
		return err
	}
	for range p.queries {
		nodes := p.question(p.random)
		if err := api.Time(func() error { return p.predict(ctx, nodes) }); err != nil {
			return err
		}
		text := predictStatement(p.question(p.random))
		if err := language.Time(func() error { return discard(query.Run(ctx, p.g, text)) }); err != nil {
			return err
		}
	}
	after, err := p.g.Stats()
	if err != nil {
		return err
	}
	api.Add(100*hitRate(before, after), "hit-%")
	return p.write(api, language)
}

// hitRate returns the share of hits among the states that were requested between two counts.
func hitRate(before, after db.Stats) float64 {
	all := func(s db.Stats) uint64 { return s.Cache.Hits + s.Cache.CatchUps + s.Cache.Loads + s.Cache.Computed }
	return float64(after.Cache.Hits-before.Cache.Hits) / float64(max(1, all(after)-all(before)))
}

// afterInserts measures predictions just after an edge was added between a neighbour of their
// source and a random node. An earlier prediction has brought the state of the source up to the
// version before.
func (p *predictor) afterInserts(ctx context.Context) error {
	l := p.line("Predict", "api=go", "after=insert")
	for range p.queries {
		nodes := p.question(p.random)
		err := p.predict(ctx, nodes)
		if err == nil {
			err = p.insertNear(ctx, nodes[0])
		}
		if err == nil {
			err = l.Time(func() error { return p.predict(ctx, nodes) })
		}
		if err != nil {
			return err
		}
	}
	return p.write(l)
}

// insertNear adds an edge between a random neighbour of a node and a random node.
func (p *predictor) insertNear(ctx context.Context, node any) error {
	return p.g.Update(ctx, func(tx *db.Tx) error {
		var near []db.Key
		for e, err := range tx.Neighbors(node) {
			if err != nil {
				return err
			}
			if near = append(near, e.Dst); e.Dst == node {
				near[len(near)-1] = e.Src
			}
		}
		return tx.PutEdge(near[p.random.IntN(len(near))], p.nodes[p.random.IntN(len(p.nodes))])
	})
}

func discard[T any](_ T, err error) error { return err }

// holdoutNodes is the maximum number of nodes in the measurement of a holdout.
const holdoutNodes = 100

// holdout measures the questions of an evaluation and predictions for the same nodes, alternating
// between them. The time of the first question includes hiding the edges, and counts as the time of
// hiding them.
func (p *predictor) holdout(ctx context.Context) error {
	held, predicted := p.line("Holdout", "of=holdout"), p.line("Holdout", "of=predict")
	err := p.g.View(ctx, func(tx *db.Tx) error {
		m, err := tx.Model(trained).Info(ctx)
		if err != nil {
			return err
		}
		start, first := time.Now(), true
		var failed error
		_, err = tx.Evaluate(ctx, db.EvaluateOptions{
			Share: 0.1, Sample: min(holdoutNodes, p.queries), Contenders: []db.Contender{{Model: trained, Version: m.Version}},
			Each: func(_ int, h db.HeldOut) {
				took := time.Since(start)
				if first {
					held.Add(float64(took), "hide-ns")
					first = false
				} else {
					held.Took = append(held.Took, took)
				}
				failed = errors.Join(failed, predicted.Time(func() error {
					return discard(tx.Predict(ctx, db.PredictOptions{For: h.Source, Model: trained}))
				}))
				start = time.Now()
			},
		})
		return errors.Join(err, failed)
	})
	if err != nil {
		return err
	}
	return errors.Join(held.Write(p.stdout), predicted.Write(p.stdout))
}

// heuristicNodes is the number of nodes that heuristics predict for; heuristicPasses is the number
// of measured passes over them. One more pass before these warms the caches of the processor.
const (
	heuristicNodes  = 200
	heuristicPasses = 5
)

func (p *predictor) heuristics(ctx context.Context) error {
	for _, policy := range []string{"adamic_adar", "common_neighbors", "resource_allocation"} {
		if err := p.heuristic(ctx, policy); err != nil {
			return err
		}
	}
	return nil
}

func (p *predictor) heuristic(ctx context.Context, policy string) error {
	l := p.line("Heuristic", "policy="+policy)
	nodes := p.nodes[:min(heuristicNodes, len(p.nodes))]
	for pass := range heuristicPasses + 1 {
		if pass == 1 {
			l.Took = nil
		}
		for _, k := range nodes {
			err := l.Time(func() error {
				return discard(p.g.Predict(ctx, db.PredictOptions{For: k, Among: db.Neighbors(2), Model: policy, Top: 10}))
			})
			if err != nil {
				return err
			}
		}
	}
	return p.write(l)
}

// turns is the number of times that readers are measured alone, and with a writer.
const turns = 5

// besideWriter measures readers alone and with a writer, alternating between them, because the
// machine may have other work.
func (p *predictor) besideWriter(ctx context.Context) error {
	alone, beside := p.line("Readers", "writer=no"), p.line("Readers", "writer=yes")
	written := 0
	for range turns {
		if err := p.read(ctx, alone); err != nil {
			return err
		}
		busy, stop := context.WithCancel(ctx)
		var failed error
		var writer sync.WaitGroup
		writer.Go(func() {
			var n int
			n, failed = p.insert(busy)
			written += n
		})
		err := p.read(ctx, beside)
		stop()
		writer.Wait()
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	beside.Add(float64(written)/(p.span.Seconds()), "edges/s")
	lost := 1 - float64(len(beside.Took))/float64(len(alone.Took))
	beside.Add(100*lost, "lost-%")
	for _, l := range []*benchfmt.Line{alone, beside} {
		l.Add(float64(len(l.Took))/p.span.Seconds(), "predictions/s")
		if err := l.Write(p.stdout); err != nil {
			return err
		}
	}
	return nil
}

// read predicts with all readers for one turn.
func (p *predictor) read(ctx context.Context, l *benchfmt.Line) error {
	random := make([]*rand.Rand, p.readers)
	for i := range random {
		random[i] = rand.New(rand.NewPCG(p.random.Uint64(), 0))
	}
	took, err := inParallel(p.readers, p.span/turns, func(reader, _ int) func() error {
		nodes := p.question(random[reader])
		return func() error { return p.predict(ctx, nodes) }
	})
	l.Took = append(l.Took, took...)
	return err
}

// The rate of the writer.
const (
	edgesPerSecond = 1000
	edgesPerCommit = 10
)

// insert inserts edges between random nodes until ctx ends, and returns the number of edges.
func (p *predictor) insert(ctx context.Context) (n int, err error) {
	r := rand.New(rand.NewPCG(p.seed, 1))
	tick := time.NewTicker(time.Second * edgesPerCommit / edgesPerSecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return n, nil
		case <-tick.C:
		}
		err := p.g.Update(ctx, func(tx *db.Tx) error {
			for range edgesPerCommit {
				if err := tx.PutEdge(p.nodes[r.IntN(len(p.nodes))], p.nodes[r.IntN(len(p.nodes))]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			if ctx.Err() != nil {
				return n, nil
			}
			return n, err
		}
		n += edgesPerCommit
	}
}
