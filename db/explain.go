package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kith/index"
	"kith/ppr"
)

// Step is a step of a plan.
type Step struct {
	Name   string  `json:"step"`
	Detail string  `json:"detail"`
	Cost   float64 `json:"cost_ms"` // predicted, in milliseconds; 0 means not predicted
	Took   float64 `json:"took_ms"` // in milliseconds; 0 in a plan
}

// Explain describes how Predict would answer. It finds the candidates and scores none.
func (tx *Tx) Explain(ctx context.Context, p Prediction) ([]Step, error) {
	q, err := tx.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	return tx.steps(q, &p, q.choices()), nil
}

// Profile answers as Predict does, and returns the time that each step took.
func (tx *Tx) Profile(ctx context.Context, p Prediction) (*Ranking, []Step, error) {
	start := time.Now()
	q, err := tx.prepare(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	found := time.Now()
	scores, err := q.score(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	scored := time.Now()
	r := q.rank(tx, &p, scores)
	steps := tx.steps(q, &p, q.walk.planned)
	took := map[string]time.Duration{
		"candidates": found.Sub(start),
		"score":      scored.Sub(found) - q.walk.took,
		"walk":       q.walk.took,
		"rank":       time.Since(scored),
	}
	for i := range steps {
		steps[i].Took = float64(took[steps[i].Name]) / float64(time.Millisecond)
	}
	return r, steps, nil
}

// choices predicts the strategies of the walk before the start values are known, as if they were all 1.
func (q *question) choices() []choice {
	if !q.scorer.Walks() {
		return nil
	}
	t := &task{form: ppr.Row, source: q.source, at: q.candidates}
	for name, value := range q.scorer.Options() {
		switch {
		case name == "alpha":
			t.alpha, _ = value.(float64)
		case name == "norm" && value == "column":
			t.form = ppr.Column
		}
	}
	t.h.Node = slices.Clone(q.candidates)
	if i, found := slices.BinarySearch(t.h.Node, q.source); !found {
		t.h.Node = slices.Insert(t.h.Node, i, q.source)
	}
	t.h.Value = slices.Repeat([]float64{1}, len(t.h.Node))
	return q.walk.choices(t)
}

func (tx *Tx) steps(q *question, p *Prediction, walk []choice) []Step {
	w := Step{Name: "walk", Detail: q.explainWalk(walk)}
	if len(walk) > 0 {
		w.Cost = walk[0].ms
	}
	return []Step{
		{Name: "source", Detail: tx.explainSource(q.source)},
		{Name: "candidates", Detail: explainCandidates(q)},
		{Name: "model", Detail: explainModel(q.ranking)},
		{Name: "score", Detail: q.explainScore()},
		w,
		{Name: "rank", Detail: fmt.Sprintf("the best %d of %d", p.top(len(q.candidates)), len(q.candidates))},
	}
}

func (tx *Tx) explainSource(id index.ID) string {
	n := tx.node(id)
	return fmt.Sprintf("node %v, %s, graph version %d", n.Key, counted(n.Edges, "edge"), tx.view().Meta.Version)
}

func explainCandidates(q *question) string {
	s := fmt.Sprintf("%v: %s", q.among, counted(len(q.candidates), "node"))
	if q.ranking.Linked > 0 {
		s += fmt.Sprintf(", %d more are linked already and left out", q.ranking.Linked)
	}
	return s
}

func explainModel(r *Ranking) string {
	if r.ModelVersion == 0 {
		return r.AnsweredBy
	}
	return fmt.Sprintf("%s version %d, %s observed", r.Model, r.ModelVersion, counted(r.Rounds, "round"))
}

// explainScore describes the basis of the scores and the options that determine them.
func (q *question) explainScore() string {
	s := q.scorer.Basis()
	for name, value := range q.scorer.Options() {
		if name == "preset" || name == "blocks" || name == "normalize" {
			s += fmt.Sprintf(", %s %v", name, value)
		}
	}
	return s
}

func (q *question) explainWalk(all []choice) string {
	if len(all) == 0 {
		return "none"
	}
	parts := []string{q.walk.describe(all)}
	for name, value := range q.scorer.Options() {
		if name == "alpha" || name == "norm" || name == "seed_weight" {
			parts = append(parts, fmt.Sprintf("%s %v", name, value))
		}
	}
	parts = append(parts, fmt.Sprintf("epsilon %g", q.walk.tolerance()))
	return strings.Join(parts, "; ")
}

// counted returns a number with its noun: "1 edge" or "2 edges".
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
