package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"kith/db"
	"kith/model"
)

// learnRelationsPlan holds the options of prbench learn-relations.
type learnRelationsPlan struct {
	data, leaveOut []string
	plan           model.StartPlan
	date, out      string
}

func newLearnRelations() *cobra.Command {
	var p learnRelationsPlan
	c := &cobra.Command{
		Use:   "learn-relations --data DIR,... --out FILE",
		Short: "Learn from several knowledge graphs how an untrained model answers questions about relations",
		Long: `Learn-relations makes the weights by which the built-in model answers a question about one relation
of several: networks that read the evidence of the rules of a graph, and the weights of the
ranker's scores beside them. It hides up to 450 triples of each graph, reads the evidence from the
rest, and learns to distinguish what is hidden from other nodes. There are three networks. The
first one does not learn from the first graph, the fourth, the seventh and so on, the second one
not from the second graph, the fifth and so on; the weights of the scores are fitted to what a
network has not learned. So graphs of one origin should have places that differ by threes.

Graphs are folders as for kg; train.tsv is read. The output is the file that package model embeds.
The same command writes the same bytes. To measure the weights on a graph that was not used,
leave it out, and what was made of it, and build prbench again:

  prbench learn-relations --data ... --leave-out wn18rr,WN18RR_v1 --out model/relation_weights.txt
  go run ./cmd/prbench kg --data wn18rr --policies prior`,
		Example: `  prbench learn-relations --data kg/codex-s,kg/wn18rr,kg/fb15k-237 --out model/relation_weights.txt --date 2026-11-29`,
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "folders of knowledge graphs, as for kg")
	f.StringSliceVar(&p.leaveOut, "leave-out", nil, "names of folders to leave out")
	f.IntVar(&p.plan.Passes, "passes", 6, "number of passes over the lists of each graph")
	f.Float64Var(&p.plan.Rate, "rate", 0.005, "learning rate at the beginning")
	f.Float64Var(&p.plan.Drop, "drop", 0.2, "probability that a column is ignored in a list")
	f.Uint64Var(&p.plan.Seed, "seed", 1, "seed of all random draws")
	f.StringVar(&p.date, "date", "", "date to write into the file")
	f.StringVar(&p.out, "out", "", "file for the weights")
	return command(c, p.check, p.run)
}

// check reports what is wrong with the plan before any graph is read.
func (p *learnRelationsPlan) check() error {
	for _, name := range p.leaveOut {
		if !slices.ContainsFunc(p.data, func(dir string) bool { return filepath.Base(dir) == name }) {
			return fmt.Errorf("--leave-out %s: no such graph", name)
		}
	}
	return checkStart("DIR", p.data, p.out, &p.plan)
}

// run reads the graphs one by one, learns from all of them, and writes the weights.
func (p *learnRelationsPlan) run(ctx context.Context, cmd *cobra.Command) error {
	var l model.RelationStartLearner
	var graphs []string
	for _, dir := range p.data {
		if slices.Contains(p.leaveOut, filepath.Base(dir)) {
			continue
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "reading %s\n", dir)
		k, err := readKnowledge(dir)
		if err == nil {
			err = k.addToStart(ctx, &l, p.plan.Seed)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		graphs = append(graphs, k.name+", "+k.sum())
	}
	start, err := l.Learn(ctx, p.plan)
	if err != nil {
		return err
	}
	command := fmt.Sprintf("prbench learn-relations --passes %d --rate %v --drop %v --seed %d", p.plan.Passes, p.plan.Rate, p.plan.Drop, p.plan.Seed)
	return os.WriteFile(p.out, startFile("Weights of questions about relations", command, p.date, "triples", graphs, "#\n", start), 0o644)
}

// addToStart makes a learner read the graph.
func (k *knowledge) addToStart(ctx context.Context, l *model.RelationStartLearner, seed uint64) error {
	g, err := k.load(ctx)
	if err != nil {
		return err
	}
	err = g.View(ctx, func(tx *db.Tx) error { return tx.AddToRelationStart(ctx, l, seed) })
	return errors.Join(err, g.Close())
}

// sum returns a checksum of the triples that are learned.
func (k *knowledge) sum() string {
	h := sha256.New()
	for _, t := range k.train {
		io.WriteString(h, t.source+"\t"+t.relation+"\t"+t.target+"\n")
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}
