package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/model"
)

// feedbackPlan holds the options of prbench feedback.
type feedbackPlan struct {
	data, policies []string
	with           feedbackSettings // holds what all runs share
	seeds          int
	firstSeed      uint64
	workers        int
	out            string

	graphs []graphFile // the parsed data
}

// feedbackSettings are all parameters that determine the result of a run.
type feedbackSettings struct {
	Data    string `json:"data"`
	DataSum string `json:"data_sum"`
	Form    string `json:"form"` // kind and columns of the graph
	Policy  string `json:"policy"`
	// Train trains the model on the known edges before the first outcome.
	Train    bool    `json:"train"`
	Share    float64 `json:"share"`    // share of the edges that are hidden
	Sample   int     `json:"sample"`   // number of nodes whose hidden edges are ranked
	Offered  int     `json:"offered"`  // number of links that are offered
	Outcomes []int   `json:"outcomes"` // numbers of outcomes after which links are predicted, ascending
	Seed     uint64  `json:"seed"`
}

// feedbackResult has an entry for each number of outcomes.
type feedbackResult struct {
	MRR []float64 `json:"mrr"`
	Won []int     `json:"won"` // number of the outcomes so far that were links
	// Plain is the MRR of plainPolicy, which outcomes do not change.
	Plain float64 `json:"plain"`
}

// plainPolicy is the policy that a model is compared with.
const plainPolicy = "resource_allocation"

type (
	feedbackRun   = run[feedbackSettings, feedbackResult]
	feedbackJob   = job[feedbackSettings, feedbackResult]
	feedbackShelf = shelf[feedbackSettings, feedbackResult]
)

func (s feedbackSettings) data() (name, sum string) { return s.Data, s.DataSum }

func (s feedbackSettings) title() string {
	if s.Train {
		return s.Policy + ", trained"
	}
	return s.Policy
}

func (s feedbackSettings) name() string {
	return runName(s, s.Data, strings.ReplaceAll(s.title(), ", ", "-"), fmt.Sprintf("s%d", s.Seed))
}

func (s feedbackSettings) model() (*model.Model, error) {
	return holdoutSettings{Policy: s.Policy}.model()
}

func newFeedback() *cobra.Command {
	var p feedbackPlan
	c := &cobra.Command{
		Use:   "feedback --data FILE|DIR,... --out DIR",
		Short: "Rank hidden edges of a known graph after more and more outcomes",
		Long: `Feedback does what a user does with a graph that is loaded: it asks a model for links,
offers the best of them, and tells it what became of the first one. A share of the edges is
hidden, and the nodes that have hidden edges are divided in two halves at random. Nodes of the
first half are asked about. Offered links come true if they are hidden, and a node is not
offered a link again when its outcome is known. After each number of outcomes, the hidden edges
within the second half are ranked among NEIGHBORS(2) (NEIGHBORS(3) in a bipartite graph) as by
EVALUATE PREDICT LINKS ... ON SPLIT. Resource allocation ranks them too, for comparison.

Graphs are given as for holdout. Completed runs are kept in --out, so an interrupted command
can be repeated to continue. The table is made from all runs in --out.`,
		Example: `  prbench feedback --data snap/facebook_combined.txt,cora --out results
  prbench feedback --data snap/facebook_combined.txt --train --outcomes 0,100 --out results`,
	}
	f := c.Flags()
	f.StringSliceVar(&p.data, "data", nil, "files and folders of graphs, as for holdout")
	f.StringSliceVar(&p.policies, "policies", []string{judgedPolicy}, "policies that learn from outcomes")
	f.BoolVar(&p.with.Train, "train", false, "train on the known edges first, with no options")
	f.Float64Var(&p.with.Share, "share", 0.15, "share of the edges to hide")
	f.IntVar(&p.with.Sample, "sample", 300, "number of nodes whose hidden edges are ranked")
	f.IntVar(&p.with.Offered, "offered", 10, "number of links that are offered")
	f.IntSliceVar(&p.with.Outcomes, "outcomes", []int{0, 1, 5, 20, 100, 500}, "ascending numbers of outcomes after which links are predicted")
	f.IntVar(&p.seeds, "seeds", 3, "number of seeds")
	f.Uint64Var(&p.firstSeed, "first-seed", 1, "the first of the seeds")
	f.IntVar(&p.workers, "workers", runtime.GOMAXPROCS(0), "maximum number of concurrent runs")
	f.StringVar(&p.out, "out", "", "folder for the results")
	return command(c, p.check, p.run)
}

// check reports what is wrong with the plan before any graph is read.
func (p *feedbackPlan) check() (err error) {
	counts := p.with.Outcomes
	switch {
	case len(p.data) == 0:
		return errors.New("--data FILE is missing")
	case p.out == "":
		return errors.New("--out DIR is missing")
	case !(p.with.Share > 0 && p.with.Share < 1):
		return fmt.Errorf("--share must be between 0 and 1, got %v", p.with.Share)
	case len(counts) == 0 || counts[0] < 0 || !slices.IsSorted(counts):
		return fmt.Errorf("--outcomes must ascend from 0 or more, got %v", counts)
	}
	for _, policy := range p.policies {
		m, err := feedbackSettings{Policy: policy}.model()
		if err != nil {
			return err
		}
		if m == nil || !m.Learns() {
			return fmt.Errorf("--policies %s: the policy does not learn from outcomes", policy)
		}
	}
	if p.graphs, err = parseGraphFiles(p.data); err != nil {
		return err
	}
	return cmp.Or(cli.Least("sample", p.with.Sample, 1), cli.Least("offered", p.with.Offered, 1), cli.Least("seeds", p.seeds, 1),
		cli.Least("first-seed", p.firstSeed, 1), cli.Least("workers", p.workers, 1))
}

// run plays the missing runs and makes a table of all kept runs.
func (p *feedbackPlan) run(ctx context.Context, cmd *cobra.Command) error {
	kept := feedbackShelf(filepath.Join(p.out, "runs"))
	jobs, err := p.jobs()
	if err != nil {
		return err
	}
	s := session[feedbackSettings, feedbackResult]{shelf: kept, workers: p.workers, log: cmd.ErrOrStderr(), line: feedbackLine}
	_, played := s.play(ctx, jobs)
	runs, err := kept.runs(feedbackSettings.data)
	if err != nil || len(runs) == 0 {
		return errors.Join(played, err)
	}
	return writeResults(cmd.OutOrStdout(), p.out, runs, feedbackTable(runs), played)
}

// jobs returns a job for each graph, policy and seed.
func (p *feedbackPlan) jobs() (jobs []feedbackJob, err error) {
	for _, g := range p.graphs {
		s := p.with
		s.Data, s.Form = g.name, g.form()
		if s.DataSum, err = g.sum(); err != nil {
			return nil, err
		}
		for _, s.Policy = range p.policies {
			for s.Seed = p.firstSeed; s.Seed < p.firstSeed+uint64(p.seeds); s.Seed++ {
				jobs = append(jobs, feedbackJob{
					what: s.Data, settings: []feedbackSettings{s}, size: s.Outcomes[len(s.Outcomes)-1],
					play: func(ctx context.Context, missing []feedbackSettings, progress func(int)) ([]feedbackResult, error) {
						r, err := giveFeedback(ctx, g, missing[0], progress)
						if err != nil {
							err = fmt.Errorf("%s, %s, seed %d: %w", g.path, missing[0].title(), missing[0].Seed, err)
						}
						return []feedbackResult{r}, err
					},
				})
			}
		}
	}
	return jobs, nil
}

// feedbackLine describes a run in a line.
func feedbackLine(r *feedbackRun) string {
	s := r.Settings
	return fmt.Sprintf("%s: %s, seed %d: MRR %.4f after %v outcomes", s.Data, s.title(), s.Seed, r.Result.MRR, s.Outcomes)
}

// feedbackTable returns a table with a row for each graph and policy and a column for each number
// of outcomes.
func feedbackTable(runs []*feedbackRun) (text string) {
	outcomes := func(r *feedbackRun) string { return fmt.Sprint(r.Settings.Outcomes) }
	for _, alike := range grouped(runs, outcomes) {
		heading := []string{"graph", "policy", "seeds", "MRR of " + plainPolicy}
		for _, n := range alike[0].Settings.Outcomes {
			heading = append(heading, fmt.Sprintf("MRR after %d", n))
		}
		var rows [][]string
		for _, of := range grouped(alike, func(r *feedbackRun) string { return r.Settings.Data + " " + r.Settings.title() }) {
			mean := func(mrr func(*feedbackRun) float64) string { return fmt.Sprintf("%.4f", spreadOf(of, mrr).Mean) }
			row := []string{of[0].Settings.Data, of[0].Settings.title(), strconv.Itoa(len(of)),
				mean(func(r *feedbackRun) float64 { return r.Result.Plain })}
			for i := range of[0].Settings.Outcomes {
				row = append(row, mean(func(r *feedbackRun) float64 { return r.Result.MRR[i] }))
			}
			rows = append(rows, row)
		}
		text += markdown(heading, rows)
	}
	return text
}

// feedback is a database without some edges, and a model that learns what became of the links that
// it offered.
type feedback struct {
	feedbackSettings
	store   *db.DB
	rng     *rand.Rand
	among   db.Candidates
	hidden  []db.Edge          // undirected edges are here from both ends
	real    map[[2]db.Key]bool // the source and the target of each hidden edge
	second  map[db.Key]bool    // whether an end of hidden is in the second half
	sources []db.Key           // nodes of the first half, once for each hidden edge
	judged  []any              // nodes of the second half, once for each hidden edge within it
	known   map[db.Key][]any   // targets of the links whose outcome is known, by source
}

// feedbackModel is the name of the model.
const feedbackModel = "m"

// giveFeedback loads a graph, hides edges, and plays all outcomes.
func giveFeedback(ctx context.Context, g graphFile, s feedbackSettings, progress func(int)) (r feedbackResult, err error) {
	store, err := g.load(ctx)
	if err != nil {
		return r, err
	}
	defer store.Close()
	f := &feedback{
		feedbackSettings: s, store: store, rng: rand.New(rand.NewPCG(s.Seed, 3)), among: db.Neighbors(2),
		real: map[[2]db.Key]bool{}, second: map[db.Key]bool{}, known: map[db.Key][]any{},
	}
	if g.kind == "bipartite" {
		f.among = db.Neighbors(3)
	}
	if err := f.hide(ctx); err != nil {
		return r, err
	}
	if err := store.Model(feedbackModel).Create(ctx, model.Spec{Policy: s.Policy, Seed: s.Seed}); err != nil {
		return r, err
	}
	if s.Train {
		if _, err := store.Model(feedbackModel).Train(ctx, db.TrainOptions{}); err != nil {
			return r, err
		}
	}
	if r.Plain, err = f.mrr(ctx, db.Contender{Spec: &model.Spec{Policy: plainPolicy}}); err != nil {
		return r, err
	}
	played, won := 0, 0
	for _, n := range s.Outcomes {
		for ; played < n; played++ {
			reward, err := f.outcome(ctx)
			if err != nil {
				return r, err
			}
			won += int(reward)
			progress(played)
		}
		mrr, err := f.mrr(ctx, db.Contender{Model: feedbackModel})
		if err != nil {
			return r, err
		}
		r.MRR, r.Won = append(r.MRR, mrr), append(r.Won, won)
	}
	return r, nil
}

// hide deletes edges from the database and divides the nodes.
func (f *feedback) hide(ctx context.Context) error {
	return f.store.Update(ctx, func(tx *db.Tx) error {
		var all []db.Edge
		for e, err := range tx.Edges() {
			if err != nil {
				return err
			}
			if e.Src != e.Dst {
				all = append(all, e)
			}
		}
		f.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, e := range all[:int(f.Share*float64(len(all)))] {
			if err := tx.DeleteEdge(e.Src, e.Dst); err != nil {
				return err
			}
			f.hidden = append(f.hidden, e)
			if !tx.Stats().Directed {
				f.hidden = append(f.hidden, db.Edge{Src: e.Dst, Dst: e.Src})
			}
		}
		if f.divide(); len(f.sources) == 0 || len(f.judged) == 0 {
			return fmt.Errorf("%v of %d edges are too few to hide", f.Share, len(all))
		}
		return nil
	})
}

// divide assigns the ends of the hidden edges to the halves.
func (f *feedback) divide() {
	for _, e := range f.hidden {
		for _, end := range []db.Key{e.Src, e.Dst} {
			if _, drawn := f.second[end]; !drawn {
				f.second[end] = f.rng.IntN(2) == 1
			}
		}
		f.real[[2]db.Key{e.Src, e.Dst}] = true
		switch {
		case !f.second[e.Src]:
			f.sources = append(f.sources, e.Src)
		case f.second[e.Dst]:
			f.judged = append(f.judged, e.Src)
		}
	}
}

// outcome offers links of a node and reports what became of the best. A node is not offered a link
// again when its outcome is known. Nodes without other candidates are passed over.
func (f *feedback) outcome(ctx context.Context) (reward float64, err error) {
	for range 100 * len(f.sources) {
		source := f.sources[f.rng.IntN(len(f.sources))]
		among := f.among.Except(db.Keys(f.known[source]...))
		r, err := f.store.Predict(ctx, db.PredictOptions{For: source, Among: among, Model: feedbackModel, Top: f.Offered, NoCache: true})
		if err != nil {
			return 0, err
		}
		if len(r.Links) == 0 {
			continue
		}
		var offer []any
		for _, l := range r.Links {
			offer = append(offer, l.Target)
		}
		best := r.Links[0].Target
		f.known[source] = append(f.known[source], best)
		if f.real[[2]db.Key{source, best}] {
			reward = 1
		}
		return reward, f.store.Observe(ctx, db.ObserveOptions{
			Source: source, Target: best, Reward: reward, Among: db.Keys(offer...), Model: feedbackModel, NoCache: true,
		})
	}
	return 0, errors.New("no node has candidates left")
}

// mrr returns the mean reciprocal rank of the hidden edges within the second half, as c ranks them.
func (f *feedback) mrr(ctx context.Context, c db.Contender) (mrr float64, err error) {
	links := 0
	_, err = f.store.Evaluate(ctx, db.EvaluateOptions{
		Links: f.hidden, For: f.judged, Sample: f.Sample, Among: []db.Candidates{f.among}, Seed: f.Seed, Contenders: []db.Contender{c},
		Each: func(_ int, h db.HeldOut) {
			var found []float64
			for i, target := range h.Hidden {
				if !f.second[target] {
					continue
				}
				links++
				if i < len(h.Found) {
					found = append(found, h.Found[i])
				}
			}
			mrr += float64(len(found)) * model.MRR(found, h.Others)
		},
	})
	return mrr / float64(max(links, 1)), err
}
