package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/sync/errgroup"

	"kith/cmd/internal/cli"
	"kith/db"
	"kith/model"
	"kith/model/trial"
	"kith/query"
	"kith/query/parse"
)

// holdoutSettings are all parameters that determine the result of a run. They also determine its name.
type holdoutSettings struct {
	Data    string  `json:"data"`
	DataSum string  `json:"data_sum"`
	Kind    string  `json:"kind"`
	Columns string  `json:"columns,omitempty"` // columns given on the command line
	Among   string  `json:"among"`
	Share   float64 `json:"share"`
	Sample  int     `json:"sample"`
	Policy  string  `json:"policy"`
	Seed    uint64  `json:"seed"`
}

func (s holdoutSettings) name() string {
	among := regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(s.Among, "")
	return runName(s, s.Data, among, s.Policy, fmt.Sprintf("s%d", s.Seed))
}

// model returns a new model of the policy, for nodes without features unless the policy needs them, or nil for
// priorName.
func (s holdoutSettings) model() (*model.Model, error) {
	if s.Policy == priorName {
		return nil, nil
	}
	if m, err := model.New(model.Spec{Policy: s.Policy}); err == nil {
		return m, nil
	}
	return model.New(model.Spec{Policy: s.Policy, FeatureLen: 1})
}

// holdoutRecord is a run as it is stored: how well a policy found the hidden edges of a seed among one set of
// candidates.
type holdoutRecord struct {
	keptRun[holdoutSettings]
	Refused string `json:"refused,omitempty"` // why the policy refused the graph; "" means that it did not

	Edges      int64   `json:"edges"`      // number of edges of the graph
	Hidden     int64   `json:"hidden"`     // number of hidden edges
	Sources    int     `json:"sources"`    // number of nodes whose links were predicted
	Links      int     `json:"links"`      // number of links to find
	Reached    int     `json:"reached"`    // number of these links that were among the candidates
	Candidates int     `json:"candidates"` // number of candidates that are not links
	MRR        float64 `json:"mrr"`
	Hits       float64 `json:"hits_at_10"`
	Train      float64 `json:"train_seconds"`    // making and training the model, plus the excess of its first question over the median
	Question   float64 `json:"question_seconds"` // median time of the predictions for a node
}

type holdoutShelf = shelf[holdoutRecord, *holdoutRecord]

// holdoutJob is a policy that is trained once, and asked for the links of one seed among several sets of candidates.
type holdoutJob struct {
	policy string
	seed   uint64
	runs   []holdoutSettings // one for each set
	sets   []parse.Set
}

// maxAll is the maximum number of nodes for which all of them are candidates.
const maxAll = 20_000

// playGraph plays the runs of a graph that are not on the shelf, several jobs at a time.
func (p *holdoutPlan) playGraph(ctx context.Context, g graphFile) error {
	sum, err := g.sum()
	if err != nil {
		return err
	}
	store, err := g.load(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	sets, err := p.setsFor(ctx, store, g)
	if err != nil {
		return err
	}
	jobs, err := p.jobs(g, sum, sets)
	if err != nil {
		return err
	}
	s := holdoutSession{plan: p, store: store, bar: cli.NewBar(p.log), total: int64(len(jobs))}
	defer s.bar.End()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.workers)
	for _, j := range jobs {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return s.play(ctx, j)
		})
	}
	return group.Wait()
}

// setsFor returns the sets of candidates to play on a graph.
func (p *holdoutPlan) setsFor(ctx context.Context, store *db.DB, g graphFile) (sets []parse.Set, err error) {
	return sets, store.View(ctx, func(tx *db.Tx) error {
		for _, s := range p.sets {
			if s.String() == "ALL" && tx.Stats().Nodes > maxAll {
				continue
			}
			if s.String() == "NEIGHBORS(2)" && g.kind == "bipartite" {
				if s, err = parse.ParseSet("NEIGHBORS(3)"); err != nil {
					return err
				}
			}
			sets = append(sets, s)
		}
		return nil
	})
}

// jobs returns the jobs with runs that are not on the shelf.
func (p *holdoutPlan) jobs(g graphFile, sum string, sets []parse.Set) (jobs []holdoutJob, err error) {
	for seed := p.firstSeed; seed < p.firstSeed+uint64(p.seeds); seed++ {
		for _, policy := range p.policies {
			j := holdoutJob{policy: policy, seed: seed}
			for _, set := range sets {
				run := holdoutSettings{
					Data: g.name, DataSum: sum, Kind: g.kind, Columns: strings.Join(g.columns, ","), Among: set.String(), Share: p.share, Sample: p.sample, Policy: policy, Seed: seed,
				}
				r, err := p.shelf().record(run.name())
				if err != nil {
					return nil, err
				}
				if r == nil {
					j.runs, j.sets = append(j.runs, run), append(j.sets, set)
				}
			}
			if len(j.runs) > 0 {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs, nil
}

// holdoutSession plays the jobs of one graph and stores their runs.
type holdoutSession struct {
	plan  *holdoutPlan
	store *db.DB

	mu          sync.Mutex // guards the fields below, and the log
	bar         *cli.Bar
	done, total int64
}

// play plays a job and stores its runs.
func (s *holdoutSession) play(ctx context.Context, j holdoutJob) error {
	var runs []*holdoutRecord
	err := s.store.View(ctx, func(tx *db.Tx) (err error) {
		runs, err = j.play(ctx, tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s, seed %d: %w", j.policy, j.seed, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range runs {
		if err := seal(r); err != nil {
			return err
		}
		if err := s.plan.shelf().keep(r); err != nil {
			return err
		}
		if !cli.IsTerminal(s.plan.log) {
			fmt.Fprintln(s.plan.log, r)
		}
	}
	s.done++
	s.bar.Show(runs[0].Settings.Data, progress.UnitsDefault, s.done, s.total)
	return nil
}

// String returns a one-line description of the run.
func (r *holdoutRecord) String() string {
	s := r.Settings
	what := fmt.Sprintf("%s AMONG %s: %s, seed %d: ", s.Data, s.Among, s.Policy, s.Seed)
	if r.Refused != "" {
		return what + "refused: " + r.Refused
	}
	return what + fmt.Sprintf("MRR %.4f, hits@10 %.4f, training %.1f s, a question %.2f ms", r.MRR, r.Hits, r.Train, 1e3*r.Question)
}

// play hides the edges of the job's seed and asks its policy, which may refuse.
func (j *holdoutJob) play(ctx context.Context, tx *db.Tx) ([]*holdoutRecord, error) {
	h := db.Holdout{Share: j.runs[0].Share, Sample: j.runs[0].Sample, Seed: j.seed}
	for _, s := range j.sets {
		c, err := query.Candidates(s)
		if err != nil {
			return nil, err
		}
		h.Among = append(h.Among, c)
	}
	set, err := tx.Holdout(ctx, h)
	if err != nil {
		return nil, err
	}
	runs := make([]*holdoutRecord, len(j.runs))
	for i, s := range j.runs {
		runs[i] = &holdoutRecord{keptRun: keptRun[holdoutSettings]{Settings: s}, Edges: set.Edges, Hidden: set.Hidden, Sources: set.Sources}
	}
	err = j.ask(ctx, set, runs)
	if refusal(err) {
		for _, r := range runs {
			*r = holdoutRecord{keptRun: r.keptRun, Refused: err.Error()}
		}
		err = nil
	}
	return runs, err
}

// refusal reports whether an error means that the policy does not accept the graph.
func refusal(err error) bool {
	return errors.Is(err, db.ErrTooLarge) || errors.Is(err, db.ErrInput) || errors.Is(err, model.ErrInput)
}

// ask trains the job's policy, asks it, and fills a run for each set of candidates.
func (j *holdoutJob) ask(ctx context.Context, set *db.HoldoutSet, runs []*holdoutRecord) error {
	c := db.Contender{Prior: j.policy == priorName}
	if !c.Prior {
		c.Spec = &db.ModelSpec{Policy: j.policy, Seed: j.seed}
	}
	start := time.Now()
	_, asked, err := set.Ask(ctx, c)
	if err != nil {
		return err
	}
	train := time.Since(start)
	took := make([][]time.Duration, len(runs))
	start = time.Now()
	for out, err := range asked {
		if err != nil {
			return err
		}
		took[out.Among] = append(took[out.Among], time.Since(start))
		runs[out.Among].add(&out)
		start = time.Now()
	}
	first := took[0][0]
	for i, r := range runs {
		r.MRR, r.Hits = r.MRR/float64(r.Links), r.Hits/float64(r.Links)
		slices.Sort(took[i])
		r.Question = took[i][len(took[i])/2].Seconds()
		r.Train = train.Seconds() + max(0, first.Seconds()-runs[0].Question) // some policies read the graph at the first question
	}
	return nil
}

// add adds the measurements of one source, which are those of EVALUATE. MRR and Hits are sums until all sources have
// been added.
func (r *holdoutRecord) add(h *db.HeldOut) {
	r.Links += len(h.Hidden)
	r.Reached += len(h.Found)
	r.Candidates += len(h.Others)
	found := float64(len(h.Found))
	r.MRR += found * trial.MRR(h.Found, h.Others)
	r.Hits += found * trial.HitsAt(10, h.Found, h.Others)
}
