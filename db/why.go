package db

import (
	"context"
	"slices"

	"kith/db/walk"
	"kith/index"
	"kith/model"
)

// Reasons explains the score of a link.
type Reasons struct {
	Ranking         // answer to the prediction
	Link    Link    `json:"link"`     // the link with its score and the parts of that
	Added   bool    `json:"added"`    // the target was not a candidate of the prediction, and was added
	Inputs  []Input `json:"inputs"`   // model inputs for the pair and their contributions; empty for a heuristic
	AddsTo  string  `json:"adds_to"`  // meaning of the sum of Input.Adds: "log-odds" of the link, "exploit", or "" if there is no such sum
	PPR     float64 `json:"pagerank"` // personalised PageRank of the target as seen from the source
	Alpha   float64 `json:"alpha"`    // damping factor of PPR
	Paths   []Path  `json:"paths"`    // paths that carry most of PPR, in descending order
	Unseen  float64 `json:"unseen"`   // upper bound of the mass of any path that is not in Paths
}

// Input is one number on which the estimate of a link depends.
type Input struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Adds  float64 `json:"adds"` // its term of the sum that gives the estimate; NaN if the estimate is not such a sum
}

// Path is a path without repeated nodes and its contribution to PageRank: the probability that a walk follows the path
// and ends at its end.
type Path struct {
	Nodes []Key   `json:"nodes"` // including both ends
	Mass  float64 `json:"mass"`
}

// Why explains the score of a link: the score that Predict gives it, with the same candidates. A target that is not a
// candidate is added, and Reasons.Added is set. paths is the number of paths to find.
func (tx *Tx) Why(ctx context.Context, p Prediction, target any, paths int) (*Reasons, error) {
	id, err := tx.id(target)
	if err != nil {
		return nil, err
	}
	q, err := tx.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	at, ok := slices.BinarySearch(q.candidates, id)
	if !ok {
		p.Among = Union(q.among, Keys(target))
		if q, err = tx.prepare(ctx, p); err != nil {
			return nil, err
		}
	}
	scores, err := q.score(ctx, tx)
	if err != nil {
		return nil, err
	}
	r := &Reasons{Added: !ok, AddsTo: q.scorer.AddsTo(), Alpha: tx.view().Meta.Alpha}
	r.Ranking, r.Link = *q.rank(tx, &p, scores), q.link(tx, scores, at)
	if r.Inputs, err = tx.inputs(ctx, q, id); err != nil {
		return nil, err
	}
	var found []walk.Path
	r.PPR, found, r.Unseen, err = q.walk.Paths(ctx, r.Alpha, id, paths)
	for _, f := range found {
		p := Path{Mass: f.Mass}
		for _, id := range f.Nodes {
			p.Nodes = append(p.Nodes, tx.key(id))
		}
		r.Paths = append(r.Paths, p)
	}
	return r, err
}

// link returns the candidate at a place, ranked among all.
func (q *question) link(tx *Tx, scores []model.Score, place int) Link {
	all := q.links(tx, scores, len(scores))
	return all[slices.IndexFunc(all, func(l Link) bool { return l.Target == tx.key(q.candidates[place]) })]
}

// inputs returns the model's inputs for a pair.
func (tx *Tx) inputs(ctx context.Context, q *question, target index.ID) ([]Input, error) {
	all, err := q.scorer.Inputs(ctx, q.walk.World(), model.Pair{Source: q.source, Target: target})
	inputs := make([]Input, len(all))
	for i, in := range all {
		inputs[i] = Input(in)
	}
	return inputs, tx.named(err)
}
