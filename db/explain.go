package db

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"kith/index"
)

// Step is a step of a plan.
type Step struct{ Name, Detail string }

// Explain says how Predict would answer. It finds the candidates, and scores none.
func (tx *Tx) Explain(ctx context.Context, p Prediction) ([]Step, error) {
	q, err := tx.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	return []Step{
		{"source", tx.explainSource(q.source)},
		{"candidates", explainCandidates(p.Among, q)},
		{"model", explainModel(q.ranking)},
		{"score", q.explainScore()},
		{"walk", q.explainWalk()},
		{"rank", explainTop(p.Top, len(q.candidates))},
	}, nil
}

func (tx *Tx) explainSource(id index.ID) string {
	n := tx.node(id)
	return fmt.Sprintf("node %v, %d edges, graph version %d", n.Key, n.Edges, tx.view().Meta.Version)
}

func explainCandidates(c Candidates, q *question) string {
	s := fmt.Sprintf("%v: %d nodes", c, len(q.candidates))
	if q.ranking.Linked > 0 {
		s += fmt.Sprintf(", %d more are linked already and left out", q.ranking.Linked)
	}
	return s
}

func explainModel(r *Ranking) string {
	if r.Model == "" {
		return "none"
	}
	return fmt.Sprintf("%s version %d, %d rounds observed", r.Model, r.ModelVersion, r.Rounds)
}

// explainScore tells what the scores rest on, and the options that settle them.
func (q *question) explainScore() string {
	s := q.ranking.Basis
	for name, value := range q.scorer.Options() {
		if name == "preset" || name == "blocks" || name == "normalize" {
			s += fmt.Sprintf(", %s %v", name, value)
		}
	}
	return s
}

func (q *question) explainWalk() string {
	if !q.scorer.Walks() {
		return "none"
	}
	var parts []string
	for name, value := range q.scorer.Options() {
		if name == "alpha" || name == "norm" || name == "seed_weight" {
			parts = append(parts, fmt.Sprintf("%s %v", name, value))
		}
	}
	parts = append(parts, fmt.Sprintf("error at most %g of the largest start value", q.walk.tolerance()))
	return q.walk.plan(len(q.candidates)+1) + ", " + strings.Join(parts, ", ")
}

func explainTop(top, n int) string {
	if top < 0 {
		return fmt.Sprintf("all %d", n)
	}
	return fmt.Sprintf("the best %d of %d", min(cmp.Or(top, 10), n), n)
}
