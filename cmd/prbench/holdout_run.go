package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kith/cmd/prbench/internal/trial"
	"kith/db"
	"kith/model"
	"kith/model/metric"
	"kith/query"
	"kith/query/parse"
)

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
	asked := p.question
	asked.Data, asked.DataSum, asked.Kind, asked.Columns = g.name, sum, g.kind, strings.Join(g.columns, ",")
	s := session[holdoutSettings, holdoutResult]{shelf: p.shelf(), workers: p.workers, log: p.log, line: holdoutLine}
	_, err = s.play(ctx, p.jobs(store, asked, sets))
	return err
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

// jobs returns a job for each policy and seed. A policy is trained once, and asked for links among
// all sets of candidates.
func (p *holdoutPlan) jobs(store *db.DB, asked holdoutQuestion, sets []parse.Set) (jobs []holdoutJob) {
	for seed := p.firstSeed; seed < p.firstSeed+uint64(p.seeds); seed++ {
		for _, policy := range p.policies {
			j := holdoutJob{what: asked.Data, size: 1}
			for _, set := range sets {
				asked.Among = set.String()
				j.settings = append(j.settings, holdoutSettings{asked, policy, seed})
			}
			j.play = func(ctx context.Context, missing []holdoutSettings, _ func(int)) (results []holdoutResult, err error) {
				err = store.View(ctx, func(tx *db.Tx) error {
					results, err = hold(ctx, tx, missing)
					return err
				})
				if err != nil {
					err = fmt.Errorf("%s, seed %d: %w", policy, seed, err)
				}
				return results, err
			}
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// holdoutLine describes a run in a line.
func holdoutLine(r *holdoutRun) string {
	s, is := r.Settings, r.Result
	what := fmt.Sprintf("%s AMONG %s: %s, seed %d: ", s.Data, s.Among, s.Policy, s.Seed)
	if is.Refused != "" {
		return what + "refused: " + is.Refused
	}
	return what + fmt.Sprintf("MRR %.4f, hits@10 %.4f, training %.1f s, a question %.2f ms", is.MRR, is.Hits, is.Train, 1e3*is.Question)
}

// hold hides edges and asks a policy, which may refuse. The settings differ in their candidates
// only.
func hold(ctx context.Context, tx *db.Tx, settings []holdoutSettings) ([]holdoutResult, error) {
	s := settings[0]
	h := db.HoldoutOptions{Share: s.Share, Sample: s.Sample, Seed: s.Seed}
	for _, of := range settings {
		among, err := parse.ParseSet(of.Among)
		if err != nil {
			return nil, err
		}
		candidates, err := query.Candidates(among)
		if err != nil {
			return nil, err
		}
		h.Among = append(h.Among, candidates)
	}
	set, err := tx.Holdout(ctx, h)
	if err != nil {
		return nil, err
	}
	results := slices.Repeat([]holdoutResult{{Edges: set.Edges, Hidden: set.Hidden, Sources: set.Sources}}, len(settings))
	err = ask(ctx, set, s, results)
	if refusal(err) {
		return slices.Repeat([]holdoutResult{{Refused: err.Error()}}, len(settings)), nil
	}
	return results, err
}

// refusal reports whether an error means that the policy does not accept the graph.
func refusal(err error) bool {
	return errors.Is(err, db.ErrTooLarge) || errors.Is(err, db.ErrInput) || errors.Is(err, model.ErrInput)
}

// ask trains a policy, asks it, and fills a result for each set of candidates.
func ask(ctx context.Context, set *db.Holdout, s holdoutSettings, results []holdoutResult) error {
	c := db.Contender{Prior: s.Policy == priorName}
	if !c.Prior {
		spec, err := trial.Base(db.ModelSpec{Policy: s.Policy, Seed: s.Seed})
		if err != nil {
			return err
		}
		c.Spec = &spec
	}
	start := time.Now()
	_, asked, err := set.Ask(ctx, c)
	if err != nil {
		return err
	}
	train := time.Since(start)
	took := make([][]time.Duration, len(results))
	start = time.Now()
	for out, err := range asked {
		if err != nil {
			return err
		}
		took[out.Among] = append(took[out.Among], time.Since(start))
		results[out.Among].add(&out)
		start = time.Now()
	}
	first := took[0][0]
	for i := range results {
		r := &results[i]
		r.MRR, r.Hits = r.MRR/float64(r.Links), r.Hits/float64(r.Links)
		slices.Sort(took[i])
		r.Question = took[i][len(took[i])/2].Seconds()
		r.Train = train.Seconds() + max(0, first.Seconds()-results[0].Question) // some policies read the graph at the first question
	}
	return nil
}

// add adds the measurements of one source, which are those of EVALUATE. MRR and Hits are sums until
// all sources have been added.
func (r *holdoutResult) add(h *db.HeldOut) {
	r.Links += len(h.Hidden)
	r.Reached += len(h.Found)
	r.Candidates += len(h.Others)
	found := float64(len(h.Found))
	r.MRR += found * metric.MRR(h.Found, h.Others)
	r.Hits += found * metric.HitsAt(10, h.Found, h.Others)
}
