package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"kith/db/walk"
	"kith/db/words"
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
	alpha := cmp.Or(q.Alpha, m.Alpha)
	switch {
	case !(alpha > 0 && alpha <= 0.999):
		return nil, inputf("alpha %v: want a number above 0, at most 0.999", alpha)
	case !(q.Epsilon >= 0 && q.Epsilon < 1):
		return nil, inputf("epsilon %v: want a number above 0 and below 1", q.Epsilon)
	}
	form, nodes := ppr.Column, slices.Collect(tx.view().Nodes())
	if q.Row {
		form = ppr.Row
	}
	p := Prediction{Top: q.Top}
	if err := tx.db.fitsWork("ranking "+words.Count(len(nodes), "node"), valueBytes*int64(len(nodes))+linkBytes*int64(p.top(len(nodes)))); err != nil {
		return nil, err
	}
	v, bound, err := tx.walker(source, q.NoCache, q.Epsilon).FromSource(ctx, form, alpha, nodes)
	if err != nil {
		return nil, err
	}
	r := &PageRank{Source: tx.key(source), Alpha: alpha, GraphVersion: m.Version}
	top := walk.Best(len(v), p.top(len(v)), func(i int) (float64, float64) { return v[i], bound[i] })
	for i, b := range top {
		if b.Score == 0 {
			break
		}
		r.Nodes = append(r.Nodes, RankedNode{tx.key(nodes[b.Place]), i + 1, b.Score, b.Bound, b.Certain})
	}
	return r, nil
}

// walker returns the walker of a request. It does not use the cache if the transaction has changes, because no cached
// state includes them.
func (tx *Tx) walker(source index.ID, noCache bool, eps float64) *walk.Walker {
	w := &walk.Walker{States: tx.db.states, View: tx.view(), Source: source, Epsilon: eps}
	if !noCache && (tx.batch == nil || tx.batch.Empty()) {
		w.Reader = tx.reader
	}
	return w
}

// Warm brings the PageRank states of nodes into the cache and up to date, with the database's damping factor. A
// prediction that can use them then does. Warm returns ErrNotFound for a missing node.
func (tx *Tx) Warm(ctx context.Context, keys ...any) error {
	ids, err := tx.listed(keys)
	if err != nil {
		return err
	}
	forms := []ppr.Form{ppr.Column}
	if tx.snap.Meta.Directed {
		forms = append(forms, ppr.Row)
	}
	for _, id := range ids {
		if !tx.snap.Live(id) {
			return fmt.Errorf("%w: node %v, before the transaction that makes it has committed", ErrNotFound, tx.key(id))
		}
		for _, form := range forms {
			of := index.StateID{Form: form, Alpha: tx.snap.Meta.Alpha, Source: id}
			if _, err := tx.db.states.State(ctx, tx.snap.Snapshot, tx.reader, of); err != nil {
				return err
			}
		}
	}
	return nil
}
