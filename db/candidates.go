package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"kith/index"
	"kith/model"
	"kith/ppr"
)

// Candidates says which nodes are on offer. The zero value leaves it open.
type Candidates struct {
	kind  candidateKind
	keys  []any
	n     int
	label string
}

type candidateKind uint8

const (
	unsaid candidateKind = iota
	byPPR
	byKeys
	byHops
	byLabel
	byAll
	byClass
)

const defaultPPR = 1000

// Keys are exactly these nodes. They are ranked whether or not they are linked to the source; one
// named twice counts once.
func Keys(keys ...any) Candidates { return Candidates{kind: byKeys, keys: keys} }

// Neighbors are the nodes within n steps of the source that it is not linked to; a directed graph
// is walked along its edges.
func Neighbors(n int) Candidates { return Candidates{kind: byHops, n: n} }

// PPR are the n nodes with the most personalised PageRank as seen from the source, without itself
// and the nodes it is linked to.
func PPR(n int) Candidates { return Candidates{kind: byPPR, n: n} }

// Label are the nodes of a label that the source is not linked to, without itself.
func Label(name string) Candidates { return Candidates{kind: byLabel, label: name} }

// All are all nodes that the source is not linked to, without itself.
func All() Candidates { return Candidates{kind: byAll} }

// Classes are the nodes that stand for the classes of the model (see its option classes), whether or
// not the source is linked to them: what such a model is asked about where nothing else is said.
func Classes() Candidates { return Candidates{kind: byClass} }

// String says it as the query language does.
func (c Candidates) String() string {
	switch c.kind {
	case byKeys:
		return fmt.Sprintf("%d nodes as listed", len(c.keys))
	case byHops:
		return fmt.Sprintf("NEIGHBORS(%d)", c.n)
	case byLabel:
		return fmt.Sprintf("LABEL %s", c.label)
	case byAll:
		return "ALL"
	case byClass:
		return "the classes of the model"
	case unsaid:
		c.n = defaultPPR
	}
	return fmt.Sprintf("PPR(%d)", c.n)
}

// or is c, or what is on offer to a scorer where c leaves that open.
func (c Candidates) or(s *model.Scorer) Candidates {
	switch {
	case c.kind != unsaid:
		return c
	case s.Classes() != nil:
		return Classes()
	}
	return PPR(defaultPPR)
}

// candidates resolves a set that is not left open to ids, ascending, and tells how many of a generated
// set were left out because they are linked to the source.
func (tx *Tx) candidates(
	ctx context.Context, source index.ID, c Candidates, s *model.Scorer, w *walker,
) (ids []index.ID, linked int, err error) {
	switch c.kind {
	case byKeys:
		ids, err = tx.listed(c.keys)
		return ids, 0, err
	case byClass:
		ids, err = tx.classes(s)
		return ids, 0, err
	case byHops:
		if c.n < 1 {
			return nil, 0, fmt.Errorf("%w: NEIGHBORS(%d): want at least 1 step", ErrInput, c.n)
		}
		ids, err = tx.within(ctx, source, c.n)
	case byLabel:
		label, ok := tx.view().Meta.LabelNumber(c.label)
		if !ok || c.label == "" {
			return nil, 0, fmt.Errorf("%w: label %q", ErrNotFound, c.label)
		}
		ids = slices.Collect(tx.view().Labelled(label))
	case byAll:
		ids = slices.Collect(tx.view().Nodes())
	default:
		if c.n < 1 {
			return nil, 0, fmt.Errorf("%w: PPR(%d): want at least 1 node", ErrInput, c.n)
		}
		return tx.nearest(ctx, source, c.n, w)
	}
	if err != nil {
		return nil, 0, err
	}
	ids = slices.DeleteFunc(ids, func(id index.ID) bool { return id == source })
	all := len(ids)
	ids = slices.DeleteFunc(ids, tx.linkedTo(source))
	return ids, all - len(ids), nil
}

// classes returns the nodes that stand for the classes of a model, without those that were deleted.
func (tx *Tx) classes(s *model.Scorer) ([]index.ID, error) {
	if s.Classes() == nil {
		return nil, fmt.Errorf("%w: the model has no classes (see option classes)", ErrInput)
	}
	gone := func(id index.ID) bool { return !tx.view().Live(id) }
	return slices.DeleteFunc(slices.Clone(s.Classes()), gone), nil
}

// linkedTo reports whether a node has an edge from source.
func (tx *Tx) linkedTo(source index.ID) func(index.ID) bool {
	to, _ := tx.view().Graph.Out(source)
	return func(id index.ID) bool {
		_, ok := slices.BinarySearch(to, id)
		return ok
	}
}

// listed resolves keys.
func (tx *Tx) listed(keys []any) ([]index.ID, error) {
	ids := make([]index.ID, 0, len(keys))
	for _, k := range keys {
		id, err := tx.id(k)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// within returns the nodes at most n steps from source, ascending.
func (tx *Tx) within(ctx context.Context, source index.ID, n int) ([]index.ID, error) {
	var found []index.ID
	for layer, err := range tx.layers(ctx, source, n) {
		if err != nil {
			return nil, err
		}
		found = append(found, layer...)
	}
	slices.Sort(found)
	return found, nil
}

// nearest returns the n nodes with the most personalised PageRank, those linked to the source left
// out.
func (tx *Tx) nearest(ctx context.Context, source index.ID, n int, w *walker) ([]index.ID, int, error) {
	st, err := w.fresh(ctx, ppr.Column, tx.view().Meta.Alpha, source)
	if err != nil {
		return nil, 0, err
	}
	type near struct {
		id index.ID
		v  float64
	}
	g := tx.view().Graph
	linkedTo, linked := tx.linkedTo(source), 0
	var found []near
	nodes, _ := st.Estimate()
	for _, id := range nodes {
		switch {
		case id == source:
		case linkedTo(id):
			linked++
		default:
			v, _ := st.Value(g, id)
			found = append(found, near{id, v})
		}
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.id, b.id)) })
	found = found[:min(n, len(found))]
	ids := make([]index.ID, len(found))
	for i, f := range found {
		ids[i] = f.id
	}
	slices.Sort(ids)
	return ids, linked, nil
}
