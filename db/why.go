package db

import (
	"context"
	"slices"

	"kith/index"
	"kith/model"
	"kith/ppr"
)

// Reasons says where the score of a link comes from.
type Reasons struct {
	Ranking         // the answer to the prediction
	Link    Link    `json:"link"`     // its score and the parts of that
	Added   bool    `json:"added"`    // the target is no candidate of the prediction, and was added to them
	Inputs  []Input `json:"inputs"`   // what the model is shown of the pair, and what that adds; empty for a heuristic
	AddsTo  string  `json:"adds_to"`  // what the sum of Input.Adds is: "log-odds" of the link, "exploit", or "" where there is no such sum
	PPR     float64 `json:"pagerank"` // personalised PageRank of the target, seen from the source
	Alpha   float64 `json:"alpha"`    // of PPR
	Ways    []Way   `json:"ways"`     // the paths that carry most of it, the first the most
	Unseen  float64 `json:"unseen"`   // no path that is not in Ways carries more
}

// Input is one number that the estimate of a link rests on.
type Input struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Adds  float64 `json:"adds"` // its term of the sum that the estimate is made of; NaN where the estimate is no such sum
}

// Way is a path without repeated nodes, and what walks along it bring to PageRank: the probability that
// a walk goes this way and ends there.
type Way struct {
	Nodes []Key   `json:"nodes"` // both ends among them
	Mass  float64 `json:"mass"`
}

// Why explains the score of a link: the one that Predict gives it, from the same candidates. A target that is none of
// these, which Reasons.Added tells, is added to them. Why finds as many paths as are asked for.
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

// link is the candidate at a place, ranked among all.
func (q *question) link(tx *Tx, scores []model.Score, place int) Link {
	all := q.links(tx, scores, len(scores))
	return all[slices.IndexFunc(all, func(l Link) bool { return l.Target == tx.key(q.candidates[place]) })]
}

// inputs is what the model is shown of a pair.
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
