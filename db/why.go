package db

import (
	"context"
	"slices"

	"kith/index"
	"kith/model"
	"kith/ppr"
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
	Ways    []Way   `json:"ways"`     // paths that carry most of PPR, in descending order
	Unseen  float64 `json:"unseen"`   // upper bound of the mass of any path that is not in Ways
}

// Input is one number on which the estimate of a link depends.
type Input struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Adds  float64 `json:"adds"` // its term of the sum that gives the estimate; NaN if the estimate is not such a sum
}

// Way is a path without repeated nodes and its contribution to PageRank: the probability that a walk follows the path
// and ends at its end.
type Way struct {
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
	at, found := slices.BinarySearch(q.candidates, id)
	if !found {
		p.Among = Union(q.among, Keys(target))
		if q, err = tx.prepare(ctx, p); err != nil {
			return nil, err
		}
	}
	scores, err := q.score(ctx, tx)
	if err != nil {
		return nil, err
	}
	r := &Reasons{Added: !found, AddsTo: q.scorer.AddsTo(), Alpha: tx.view().Meta.Alpha}
	r.Ranking, r.Link = *q.rank(tx, &p, scores), q.link(tx, scores, at)
	if r.Inputs, err = tx.inputs(ctx, q, id); err != nil {
		return nil, err
	}
	return r, tx.explainPageRank(ctx, r, q, id, paths)
}

// link returns the candidate at a place, ranked among all.
func (q *question) link(tx *Tx, scores []model.Score, place int) Link {
	all := q.links(tx, scores, len(scores))
	return all[slices.IndexFunc(all, func(l Link) bool { return l.Target == tx.key(q.candidates[place]) })]
}

// inputs returns the model's inputs for a pair.
func (tx *Tx) inputs(ctx context.Context, q *question, target index.ID) ([]Input, error) {
	all, err := q.scorer.Inputs(ctx, tx.world(tx.view(), q.walk), model.Pair{Source: q.source, Target: target})
	inputs := make([]Input, len(all))
	for i, in := range all {
		inputs[i] = Input(in)
	}
	return inputs, tx.named(err)
}

// explainPageRank finds the PageRank of the target and the paths that carry it.
func (tx *Tx) explainPageRank(ctx context.Context, r *Reasons, q *question, target index.ID, paths int) error {
	g := tx.view().Graph
	form := ppr.Column
	if g.Directed() {
		form = ppr.Row
	}
	st, err := q.walk.fresh(ctx, form, r.Alpha, target)
	if err != nil {
		return err
	}
	s := waySearch{g: g, alpha: r.Alpha, target: target}
	s.ahead = func(u index.ID) float64 {
		v, bound := st.Value(g, u)
		if v += bound; form == ppr.Column { // d_u π_u(t) = d_t π_t(u)
			v *= pivot(g, target) / pivot(g, u)
		}
		return min(v, 1)
	}
	ways, unseen, err := s.best(ctx, q.source, paths)
	if err != nil {
		return err
	}
	r.Unseen = unseen
	value, _ := st.Value(g, q.source)
	if r.PPR = value; form == ppr.Column {
		r.PPR *= pivot(g, target) / pivot(g, q.source)
	}
	for _, w := range ways {
		way := Way{Mass: w.mass}
		for _, id := range w.nodes {
			way.Nodes = append(way.Nodes, tx.key(id))
		}
		r.Ways = append(r.Ways, way)
	}
	return nil
}
