package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/model"
)

// learnPlan holds the options of prbench learn.
type learnPlan struct {
	data, leaveOut []string
	links          int
	plan           model.StartPlan
	date, out      string

	graphs []graphFile // the graphs of data, except for leaveOut
}

func newLearn() *cobra.Command {
	var p learnPlan
	c := &cobra.Command{
		Use:   "learn --data FILE|DIR,... --out FILE",
		Short: "Learn from many graphs the weights that a model begins with",
		Long: `Learn makes the weights of the policy default before it has seen an outcome or was trained: a
network that ranks links above other candidates. It learns from edges of many graphs, which
have equal weight. It hides a few edges of each graph, in further worlds also a tenth or six
tenths of all edges, and learns to distinguish the hidden edges from nearby nodes, nodes with
high PageRank, and random nodes. It also learns from the dense cores of each graph that is not
bipartite, and from a few graphs that it generates by simple rules. It trains three networks.
Their weights decay, and resource allocation is a part of their target; both reduce
overfitting to these graphs. A last network learns the mean of the three and is written.

Graphs are given as for holdout. A graph may be given twice, as directed and as undirected.
A graph with feature vectors is used with and without them.

The output is the file that package model embeds. The same command
writes the same bytes. To measure the weights on a graph that was not used, leave it out and
build prbench again:

  prbench learn --data ... --leave-out wiki-Vote --out model/start_weights.txt
  go run ./cmd/prbench holdout --data wiki-Vote.txt:directed --policies prior,resource_allocation --out results`,
		Example: `  prbench learn --data snap/CA-GrQc.txt,snap/wiki-Vote.txt:directed,snap/wiki-Vote.txt:undirected,cora --out model/start_weights.txt --date 2026-11-22`,
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "files and folders of graphs, as for holdout")
	f.StringSliceVar(&p.leaveOut, "leave-out", nil, "names of graphs to leave out")
	f.IntVar(&p.links, "links", 400, "number of links to learn from in each graph and world")
	f.IntVar(&p.plan.Passes, "passes", 12, "number of passes over the choices of each graph")
	f.Float64Var(&p.plan.Rate, "rate", 0.005, "learning rate at the beginning")
	f.Float64Var(&p.plan.Drop, "drop", 0.05, "probability that a column is ignored in a choice")
	f.Float64Var(&p.plan.Decay, "decay", 0.05, "decay of the weights, for each unit of the rate")
	f.Float64Var(&p.plan.ResourceShare, "lean", 0.2, "share of resource allocation in the target of the learning")
	f.Uint64Var(&p.plan.Seed, "seed", 1, "seed of all random draws")
	f.StringVar(&p.date, "date", "", "date to write into the file")
	f.StringVar(&p.out, "out", "", "file for the weights")
	return command(c, p.check, p.run)
}

// check reports what is wrong with the plan before any graph is read.
func (p *learnPlan) check() error {
	if err := cmp.Or(checkStart("FILE", p.data, p.out, &p.plan), cli.Least("links", p.links, 2), cli.Within("lean", p.plan.ResourceShare, 0, 1)); err != nil {
		return err
	}
	if !(p.plan.Decay >= 0 && p.plan.Decay*p.plan.Rate < 1) {
		return fmt.Errorf("--decay must be at least 0 and below 1/rate, got %v", p.plan.Decay)
	}
	var names []string
	p.graphs = nil
	for _, text := range p.data {
		g, err := parseGraphFile(text)
		if err != nil {
			return err
		}
		names = append(names, g.name)
		if !slices.Contains(p.leaveOut, g.name) {
			p.graphs = append(p.graphs, g)
		}
	}
	for _, name := range p.leaveOut {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--leave-out %s: no such graph (accepted: %s)", name, strings.Join(slices.Compact(names), ", "))
		}
	}
	if len(p.graphs) == 0 {
		return errors.New("all graphs are left out")
	}
	return nil
}

// checkStart reports what is wrong with the options that both kinds of starts are learned with.
// kind names what data consists of.
func checkStart(kind string, data []string, out string, p *model.StartPlan) error {
	switch {
	case len(data) == 0:
		return fmt.Errorf("--data %s is missing", kind)
	case out == "":
		return errors.New("--out FILE is missing")
	case !(p.Rate > 0):
		return fmt.Errorf("--rate must be above 0, got %v", p.Rate)
	case !(p.Drop >= 0 && p.Drop < 1):
		return fmt.Errorf("--drop must be at least 0 and below 1, got %v", p.Drop)
	}
	return cli.Least("passes", p.Passes, 1)
}

func (p *learnPlan) run(ctx context.Context, cmd *cobra.Command) error {
	start, err := p.learn(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	content, err := p.source(start)
	if err != nil {
		return err
	}
	return os.WriteFile(p.out, content, 0o644)
}

// learn reads the graphs one by one and learns from all of them.
func (p *learnPlan) learn(ctx context.Context, log io.Writer) (*model.StartWeights, error) {
	var l model.StartLearner
	for _, g := range p.graphs {
		fmt.Fprintf(log, "reading %s, %s\n", g.name, g.kind)
		store, err := g.load(ctx)
		if err == nil {
			err = p.add(ctx, &l, store, g.kind != "bipartite", g.kind == "directed")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.path, err)
		}
	}
	for _, g := range madeGraphs() {
		fmt.Fprintf(log, "making %s\n", g.name)
		store, err := g.load(ctx, p.plan.Seed)
		if err == nil {
			err = p.add(ctx, &l, store, false, g.directed)
		}
		if err != nil {
			return nil, fmt.Errorf("the made graph %s: %w", g.name, err)
		}
	}
	fmt.Fprintf(log, "learning from %d graphs\n", len(p.graphs)+len(madeGraphs()))
	return l.Learn(ctx, p.plan)
}

// learnShares returns the shares of its edges that are removed from a graph, in addition to the
// links that are learned from.
func learnShares() []float64 { return []float64{0, 0.1, 0.6} }

// add adds a graph to the learner, once for each of learnShares, and perhaps its cores. It closes
// the graph.
func (p *learnPlan) add(ctx context.Context, l *model.StartLearner, store *db.DB, cores, directed bool) error {
	defer store.Close()
	return store.View(ctx, func(tx *db.Tx) error {
		for i, share := range learnShares() {
			plan := model.EdgePlan{Samples: p.links, Folds: 2}
			if err := tx.AddToStart(ctx, l, share, p.plan.Seed+uint64(i), plan); err != nil {
				return err
			}
		}
		if !cores {
			return nil
		}
		return eachCore(ctx, tx, directed, p.links, func(core *db.DB) error { return p.add(ctx, l, core, false, directed) })
	})
}

// source returns the file that package model embeds.
func (p *learnPlan) source(start *model.StartWeights) ([]byte, error) {
	var graphs []string
	for _, g := range p.graphs {
		sum, err := g.sum()
		if err != nil {
			return nil, err
		}
		graphs = append(graphs, fmt.Sprintf("%s, %s, %s", g.name, g.form(), sum))
	}
	command := fmt.Sprintf("prbench learn --links %d --passes %d --rate %v --drop %v --decay %v --lean %v --seed %d",
		p.links, p.plan.Passes, p.plan.Rate, p.plan.Drop, p.plan.Decay, p.plan.ResourceShare, p.plan.Seed)
	return startFile("Weights of the learned start", command, p.date, "files", graphs, "#\n# their cores, and graphs that the command makes.\n", start), nil
}

// startFile returns a file with weights and how they were learned: the command, the date, or "",
// and the graphs with the first bytes of a SHA-256 of what was read of them.
func startFile(title, command, date, read string, graphs []string, end string, start fmt.Stringer) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s in base64. They were learned with\n#\n#\t%s\n#\n# ", title, command)
	if date != "" {
		fmt.Fprintf(&b, "on %s ", date)
	}
	fmt.Fprintf(&b, "from these graphs, of which the first bytes of a SHA-256 of their %s are given:\n#\n", read)
	for _, g := range graphs {
		fmt.Fprintf(&b, "#\t%s\n", g)
	}
	b.WriteString(end)
	for line := range slices.Chunk([]byte(start.String()), base64.StdEncoding.EncodedLen(90)) {
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.Bytes()
}
