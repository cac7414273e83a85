package db

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kith/index"
	"kith/ppr"
)

// Walk requests the personalised PageRank of a node: the distribution of a walk that starts at the node and returns to
// it with probability 1 - alpha at each step.
type Walk struct {
	From    any
	Top     int     // number of nodes returned; 0 means 10, a negative number means all that the walk reaches
	Alpha   float64 // 0 means the database's
	Epsilon float64 // allowed error, as in Options.Epsilon; 0 means the database's
	// Row averages over neighbours, v = αD⁻¹Av + (1-α)h, instead of spreading mass, v = αAᵀD⁻¹v + (1-α)h, with h = 1 at
	// the node. The values of the latter are probabilities.
	Row     bool
	NoCache bool // compute from scratch
}

// PageRank is the result of a Walk.
type PageRank struct {
	Source       Key          `json:"source"`
	Nodes        []RankedNode `json:"nodes"`
	Alpha        float64      `json:"alpha"`
	GraphVersion uint64       `json:"graph_version"`
}

// RankedNode is a node with its PageRank.
type RankedNode struct {
	Node    Key     `json:"node"`
	Rank    int     `json:"rank"` // from 1
	Score   float64 `json:"score"`
	Bound   float64 `json:"bound"`   // certified error of Score
	Certain bool    `json:"certain"` // no error within the bounds could change this rank
}

// valueBytes is the memory of a node and its PageRank while nodes are ranked.
const valueBytes = 40

// PageRank ranks all nodes, including the source, by their personalised PageRank. Nodes that the walk does not reach
// are left out. It returns ErrNotFound for a missing node, ErrInput for an invalid number, and ErrTooLarge for an
// answer that takes more than a quarter of Options.Memory.
func (tx *Tx) PageRank(ctx context.Context, q Walk) (*PageRank, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	source, err := tx.id(q.From)
	if err != nil {
		return nil, err
	}
	m := &tx.view().Meta
	alpha := orDefault(q.Alpha, m.Alpha)
	switch {
	case !(alpha > 0 && alpha <= 0.999):
		return nil, fmt.Errorf("%w: alpha %v: want a number above 0, at most 0.999", ErrInput, alpha)
	case !(q.Epsilon >= 0 && q.Epsilon < 1):
		return nil, fmt.Errorf("%w: epsilon %v: want a number above 0 and below 1", ErrInput, q.Epsilon)
	}
	t := &task{form: ppr.Column, alpha: alpha, source: source, at: slices.Collect(tx.view().Nodes())}
	t.h = ppr.Vector{Node: []index.ID{source}, Value: []float64{1}}
	if q.Row {
		t.form = ppr.Row
	}
	p := Prediction{Top: q.Top}
	if err := tx.db.affords("ranking "+counted(len(t.at), "node"), valueBytes*int64(len(t.at))+linkBytes*int64(p.top(len(t.at)))); err != nil {
		return nil, err
	}
	v, bound, err := tx.walker(source, q.NoCache, q.Epsilon).from(ctx, t)
	if err != nil {
		return nil, err
	}
	r := &PageRank{Source: tx.key(source), Alpha: alpha, GraphVersion: m.Version}
	top := best(len(v), p.top(len(v)), func(i int) (float64, float64) { return v[i], bound[i] })
	for i, b := range top {
		if b.score == 0 {
			break
		}
		r.Nodes = append(r.Nodes, RankedNode{tx.key(t.at[b.place]), i + 1, b.score, b.bound, b.certain})
	}
	return r, nil
}

// from computes the values for a single start node. It uses the node's cached state if that is accurate enough.
func (w *walker) from(ctx context.Context, t *task) (v, bound []float64, err error) {
	if w.reader != nil {
		v, bound, err = w.combine(ctx, t, false)
		unsure := errors.Is(err, ppr.ErrPrecision)
		if err != nil && !unsure || err == nil && w.within(t, bound, w.tolerance()) {
			return v, bound, err
		}
	}
	st, err := w.solve(ctx, t.form, t.alpha, t.h, w.tolerance())
	if failed(st, err) {
		return nil, nil, err
	}
	v, bound = make([]float64, len(t.at)), make([]float64, len(t.at))
	for i, j := range t.at {
		v[i], bound[i] = st.Value(w.view.Graph, j)
	}
	return v, bound, nil
}
