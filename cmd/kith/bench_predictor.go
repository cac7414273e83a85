package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"kith/db"
	"kith/query"
)

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
	if err := p.prepare(ctx); err != nil {
		return err
	}
	if err := p.inOneThread(ctx); err != nil {
		return err
	}
	return p.besideWriter(ctx)
}

func (p *predictor) inOneThread(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := p.predictions(ctx); err != nil {
		return err
	}
	if err := p.holdout(ctx); err != nil {
		return err
	}
	for _, policy := range []string{"adamic_adar", "common_neighbors", "resource_allocation"} {
		if err := p.heuristic(ctx, policy); err != nil {
			return err
		}
	}
	return nil
}

// trained is the name of the measured model.
const trained = "trained"

// prepare trains a model and warms the sources.
func (p *predictor) prepare(ctx context.Context) error {
	err := p.g.CreateModel(ctx, trained, db.ModelSpec{})
	if err == nil {
		_, err = p.g.Train(ctx, db.Training{Model: trained, Deploy: db.DeployAlways})
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
func (p *predictor) line(benchmark string, parameters ...string) *benchLine {
	name := append([]string{"Benchmark" + benchmark, "graph=" + p.graph}, parameters...)
	return &benchLine{name: strings.Join(name, "/"), per: 1}
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
	_, err := p.g.Predict(ctx, db.Prediction{For: nodes[0], Among: db.Keys(nodes[1:]...), Model: trained})
	return err
}

// statement returns a prediction as a statement.
func statement(nodes []any) string {
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
	for range p.queries {
		nodes := p.question(p.random)
		if err := api.time(func() error { return p.predict(ctx, nodes) }); err != nil {
			return err
		}
		text := statement(p.question(p.random))
		if err := language.time(func() error { return discard(query.Run(ctx, p.g, text)) }); err != nil {
			return err
		}
	}
	for _, l := range []*benchLine{api, language} {
		l.add(l.quantile(0.99), "p99-ns/op")
		if err := l.write(p.stdout); err != nil {
			return err
		}
	}
	return nil
}

func discard[T any](_ T, err error) error { return err }

// heuristicNodes is the number of nodes that heuristics predict for; heuristicPasses is the number of measured passes
// over them. One more pass before these warms the caches of the processor.
const (
	heuristicNodes  = 200
	heuristicPasses = 5
)

func (p *predictor) heuristic(ctx context.Context, policy string) error {
	l := p.line("Heuristic", "policy="+policy)
	nodes := p.nodes[:min(heuristicNodes, len(p.nodes))]
	for pass := range heuristicPasses + 1 {
		if pass == 1 {
			l.took = nil
		}
		for _, k := range nodes {
			err := l.time(func() error {
				return discard(p.g.Predict(ctx, db.Prediction{For: k, Among: db.Neighbors(2), Model: policy, Top: 10}))
			})
			if err != nil {
				return err
			}
		}
	}
	l.add(l.quantile(0.99), "p99-ns/op")
	return l.write(p.stdout)
}

// turns is the number of times that readers are measured alone, and with a writer.
const turns = 5

// besideWriter measures readers alone and with a writer, alternating between them, because the machine may have other
// work.
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
			n, failed = p.write(busy)
			written += n
		})
		err := p.read(ctx, beside)
		stop()
		writer.Wait()
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	beside.add(float64(written)/(p.span.Seconds()), "edges/s")
	lost := 1 - float64(len(beside.took))/float64(len(alone.took))
	beside.add(100*lost, "lost-%")
	for _, l := range []*benchLine{alone, beside} {
		l.add(float64(len(l.took))/p.span.Seconds(), "predictions/s")
		if err := l.write(p.stdout); err != nil {
			return err
		}
	}
	return nil
}

// read predicts with all readers for one turn.
func (p *predictor) read(ctx context.Context, l *benchLine) error {
	end := time.Now().Add(p.span / turns)
	took, errs := make([]benchLine, p.readers), make([]error, p.readers)
	var all sync.WaitGroup
	for i := range p.readers {
		r := rand.New(rand.NewPCG(p.random.Uint64(), 0))
		all.Go(func() {
			for errs[i] == nil && (time.Now().Before(end) || len(took[i].took) == 0) {
				nodes := p.question(r)
				errs[i] = took[i].time(func() error { return p.predict(ctx, nodes) })
			}
		})
	}
	all.Wait()
	for i := range took {
		l.took = append(l.took, took[i].took...)
	}
	return errors.Join(errs...)
}

// The rate of the writer.
const (
	edgesPerSecond = 1000
	edgesPerCommit = 10
)

// write inserts edges between random nodes until ctx ends, and returns the number of edges.
func (p *predictor) write(ctx context.Context) (n int, err error) {
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
				if err := tx.AddEdge(p.nodes[r.IntN(len(p.nodes))], p.nodes[r.IntN(len(p.nodes))], 1); err != nil {
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
