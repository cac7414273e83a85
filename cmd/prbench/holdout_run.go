package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kith/cmd/prbench/internal/fitted"
	"kith/cmd/prbench/internal/trial"
	"kith/db"
	"kith/model"
	"kith/query"
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
func (p *holdoutPlan) setsFor(ctx context.Context, store *db.DB, g graphFile) (sets []string, err error) {
	return sets, store.View(ctx, func(tx *db.Tx) error {
		for _, set := range p.among {
			if strings.EqualFold(set, "ALL") && tx.Stats().Nodes > maxAll {
				continue
			}
			if strings.EqualFold(set, "NEIGHBORS(2)") && g.kind == "bipartite" {
				set = "NEIGHBORS(3)"
			}
			sets = append(sets, set)
		}
		return nil
	})
}

// jobs returns a job for each policy and seed. A policy is trained once, and asked for links among
// all sets of candidates.
func (p *holdoutPlan) jobs(store *db.DB, asked holdoutQuestion, sets []string) (jobs []holdoutJob) {
	for seed := p.firstSeed; seed < p.firstSeed+uint64(p.seeds); seed++ {
		for _, policy := range p.policies {
			j := holdoutJob{what: asked.Data, size: 1}
			for _, set := range sets {
				asked.Among = set
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
	o := db.EvaluateOptions{Share: s.Share, Sample: s.Sample, Seed: s.Seed}
	for _, of := range settings {
		candidates, err := query.Candidates(of.Among)
		if err != nil {
			return nil, err
		}
		o.Among = append(o.Among, candidates)
	}
	results, err := ask(ctx, tx, s, o)
	if refusal(err) {
		return slices.Repeat([]holdoutResult{{Refused: err.Error()}}, len(settings)), nil
	}
	return results, err
}

// refusal reports whether an error means that the policy does not accept the graph.
func refusal(err error) bool {
	return errors.Is(err, db.ErrTooLarge) || errors.Is(err, db.ErrInput) || errors.Is(err, model.ErrInput) || errors.Is(err, fitted.ErrRefused)
}

// ask trains a policy and asks it, and returns a result for each set of candidates.
func ask(ctx context.Context, tx *db.Tx, s holdoutSettings, o db.EvaluateOptions) ([]holdoutResult, error) {
	c := db.Contender{Prior: s.Policy == priorName}
	switch {
	case fitted.Is(s.Policy):
		c.Rank = (&rivalContender{policy: s.Policy, seed: s.Seed}).rank
	case !c.Prior:
		spec, err := trial.Base(db.ModelSpec{Policy: s.Policy, Seed: s.Seed})
		if err != nil {
			return nil, err
		}
		c.Spec = &spec
	}
	o.Contenders = []db.Contender{c}
	took := make([][]time.Duration, len(o.Among))
	start := time.Now()
	o.Each = func(_ int, h db.HeldOut) {
		took[h.Among] = append(took[h.Among], time.Since(start))
		start = time.Now()
	}
	of, err := tx.Evaluate(ctx, o)
	if err != nil {
		return nil, err
	}
	first := took[0][0] // of hiding, training and the first question
	var results []holdoutResult
	for i, r := range of.Results {
		slices.Sort(took[i])
		results = append(results, holdoutResult{
			Edges: of.Edges, Hidden: of.Hidden, Sources: of.Sources, Links: r.Links, Reached: r.Reached, Candidates: r.Others,
			MRR: r.MRR, Hits: r.Hits[0].Share, Question: took[i][len(took[i])/2].Seconds(),
		})
	}
	for i := range results {
		results[i].Train = max(0, first.Seconds()-results[0].Question)
	}
	return results, nil
}
