package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/cmd/prbench/internal/fitted"
	"kith/cmd/prbench/internal/trial"
	"kith/model"
	"kith/query"
)

// holdoutPlan holds the options of prbench holdout.
type holdoutPlan struct {
	data, among, policies []string
	question              holdoutQuestion // holds the share and the sample
	seeds                 int
	firstSeed             uint64
	workers               int
	out                   string
	log                   io.Writer

	graphs []graphFile // the parsed data
}

// holdoutQuestion is what all policies are asked: they are ranked among each other.
type holdoutQuestion struct {
	Data    string  `json:"data"`
	DataSum string  `json:"data_sum"`
	Kind    string  `json:"kind"`
	Columns string  `json:"columns,omitempty"` // columns given on the command line
	Among   string  `json:"among"`
	Share   float64 `json:"share"`
	Sample  int     `json:"sample"`
}

// holdoutSettings are all parameters that determine the result of a run.
type holdoutSettings struct {
	holdoutQuestion
	Policy string `json:"policy"`
	Seed   uint64 `json:"seed"`
}

// holdoutResult says how well a policy found the hidden edges of a seed among one set of
// candidates.
type holdoutResult struct {
	Refused string `json:"refused,omitempty"` // why the policy refused the graph; "" means that it did not

	Edges      int64   `json:"edges"`      // number of edges of the graph
	Hidden     int64   `json:"hidden"`     // number of hidden edges
	Sources    int     `json:"sources"`    // number of nodes whose links were predicted
	Links      int     `json:"links"`      // number of links to find
	Reached    int     `json:"reached"`    // number of links to find that were among the candidates
	Candidates int     `json:"candidates"` // number of candidates that are not links
	MRR        float64 `json:"mrr"`
	Hits       float64 `json:"hits_at_10"`
	Train      float64 `json:"train_seconds"`    // hiding the edges, making and training the model, and the excess of its first question over the median
	Question   float64 `json:"question_seconds"` // median time of the predictions for a node
}

type (
	holdoutRun   = run[holdoutSettings, holdoutResult]
	holdoutJob   = job[holdoutSettings, holdoutResult]
	holdoutShelf = shelf[holdoutSettings, holdoutResult]
)

func (s holdoutSettings) data() (name, sum string) { return s.Data, s.DataSum }

func (s holdoutSettings) name() string {
	among := regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.Among, "")
	return runName(s, s.Data, among, s.Policy, fmt.Sprintf("s%d", s.Seed))
}

// model returns a new model of the policy, or nil for priorName and the fitted policies.
func (s holdoutSettings) model() (*model.Model, error) {
	if s.Policy == priorName || fitted.Is(s.Policy) {
		return nil, nil
	}
	return trial.NewModel(model.Spec{Policy: s.Policy})
}

// priorName is the name of the contender without a model.
const priorName = "prior"

func newHoldout() *cobra.Command {
	var p holdoutPlan
	c := &cobra.Command{
		Use:   "holdout --data FILE|DIR,... --out DIR",
		Short: "Rank hidden edges after training with no options, as a user does",
		Long: `Holdout does what a user does: it loads a graph, hides a share of its edges, makes a
model of each policy, trains it with no options, and predicts links of nodes that have
hidden edges. It uses the code, measures and seeds of EVALUATE PREDICT LINKS ... ON
HOLDOUT. All policies of a seed see the same graph, nodes and candidates.

A graph is a file that kith load reads, or a folder in the layout of the Open Graph
Benchmark, whose features are loaded too. Its kind follows a colon: undirected (the
default), directed, or bipartite, whose sources and targets are nodes of two kinds. Further
columns of a file follow a plus, in their order: bipartite+weight+time. By default they
are detected.

Candidates are sets as in AMONG. ALL is left out if a graph has more than 20,000 nodes,
and NEIGHBORS(2) is replaced by NEIGHBORS(3) if the graph is bipartite.

Policies are those of kith's models, prior, which is no model, and rivals that are fitted to
the whole graph (pair_net, embedding, pair_mix, ease). A policy that refuses
a graph because of its size is shown as refused.

Completed runs are kept in --out, so an interrupted command can be repeated to continue,
and a command with more graphs, sets, policies or seeds adds to the tables. To repeat the
runs of a policy that has changed, remove them:

  rm OUT/runs/*-POLICY-s*

The tables are made from all runs in --out. Unless --workers is 1, runs compete for the
processor, and times are longer.`,
		Example: `  prbench holdout --data snap/facebook_combined.txt,snap/wiki-Vote.txt:directed,cora --out results
  prbench holdout --data ml-100k/u.data:bipartite+weight+time --policies default,prior,ppr --seeds 1 --out results
  prbench holdout --data snap/CA-GrQc.txt --among 'NEIGHBORS(2)','NEIGHBORS(3) EXCEPT PPR(50)' --out results`,
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "files and folders of graphs, each followed by :undirected, :directed or :bipartite, and +columns")
	f.StringSliceVar(&p.among, "among", []string{"NEIGHBORS(2)", "PPR(200)", "ALL"}, "sets of candidates")
	f.StringSliceVar(&p.policies, "policies", []string{"all"}, "policies to compare; all: every policy, and prior")
	f.Float64Var(&p.question.Share, "share", 0.1, "share of the edges to hide")
	f.IntVar(&p.question.Sample, "sample", 300, "number of nodes to predict links of")
	f.IntVar(&p.seeds, "seeds", 3, "number of seeds")
	f.Uint64Var(&p.firstSeed, "first-seed", 1, "the first of the seeds")
	f.IntVar(&p.workers, "workers", runtime.GOMAXPROCS(0), "maximum number of concurrent runs")
	f.StringVar(&p.out, "out", "", "folder for the results")
	return command(c, p.check, p.run)
}

// check reports what is wrong with the plan before any graph is read.
func (p *holdoutPlan) check() error {
	switch {
	case len(p.data) == 0:
		return errors.New("--data FILE is missing")
	case p.out == "":
		return errors.New("--out DIR is missing")
	case !(p.question.Share > 0 && p.question.Share < 1):
		return fmt.Errorf("--share must be between 0 and 1, got %v", p.question.Share)
	}
	err := cmp.Or(cli.Least("sample", p.question.Sample, 1), cli.Least("seeds", p.seeds, 1), cli.Least("first-seed", p.firstSeed, 1),
		cli.Least("workers", p.workers, 1), p.resolvePolicies())
	if err != nil {
		return err
	}
	for _, set := range p.among {
		if _, err := query.Candidates(set); err != nil {
			return fmt.Errorf("--among %s: %w", set, err)
		}
	}
	p.graphs, err = parseGraphFiles(p.data)
	return err
}

// resolvePolicies replaces "all" by the policies that can be asked, and returns an error for
// unknown names.
func (p *holdoutPlan) resolvePolicies() error {
	askable := []string{priorName}
	for _, name := range policyOrder() {
		if _, err := (holdoutSettings{Policy: name}).model(); err == nil && !trial.Online(name) && !trial.Classifies(name) {
			askable = append(askable, name)
		}
	}
	if slices.Equal(p.policies, []string{"all"}) {
		p.policies = askable
	}
	for _, name := range p.policies {
		if !slices.Contains(askable, name) {
			return fmt.Errorf("--policies %s: unknown policy (accepted: all, or some of %s)", name, strings.Join(askable, ", "))
		}
	}
	return nil
}

// run plays the missing runs, graph by graph, and makes tables of all kept runs, even if the
// playing ends early.
func (p *holdoutPlan) run(ctx context.Context, cmd *cobra.Command) error {
	p.log = cmd.ErrOrStderr()
	played := p.play(ctx)
	runs, err := p.shelf().runs(holdoutSettings.data)
	if err != nil || len(runs) == 0 {
		return errors.Join(played, err)
	}
	r := newHoldoutReport(runs)
	return writeResults(cmd.OutOrStdout(), p.out, r, r.markdown(), played)
}

func (p *holdoutPlan) shelf() holdoutShelf { return holdoutShelf(filepath.Join(p.out, "runs")) }

// play plays all graphs. It continues after a graph that cannot be played.
func (p *holdoutPlan) play(ctx context.Context) error {
	var all []error
	for _, g := range p.graphs {
		if err := p.playGraph(ctx, g); err != nil {
			all = append(all, fmt.Errorf("%s: %w", g.path, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(all...)
}
