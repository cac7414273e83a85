package db

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"kith/db/walk"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// resolver resolves a candidate set as seen from one source. The set is resolved completely; only then are the nodes
// removed that are linked to the source and not listed. So each part of a combination is complete.
type resolver struct {
	tx     *Tx
	source index.ID
	scorer *model.Scorer
	walk   *walk.Walker
	listed []index.ID // nodes listed by key, ascending; they are offered whether or not they are linked
	linked int        // number of nodes left out so far because they are linked
}

// candidates resolves a set to ids, ascending. It returns how many nodes of a generated set were left out because they
// are linked to the source.
func (tx *Tx) candidates(
	ctx context.Context, source index.ID, c Candidates, s *model.Scorer, w *walk.Walker,
) (ids []index.ID, linked int, err error) {
	r := resolver{tx: tx, source: source, scorer: s, walk: w}
	if ids, err = r.set(ctx, c); err != nil {
		return nil, 0, err
	}
	linkedTo := tx.linkedTo(source)
	ids = slices.DeleteFunc(ids, func(id index.ID) bool {
		if _, named := slices.BinarySearch(r.listed, id); named {
			return false
		}
		if id != source && linkedTo(id) {
			r.linked++
			return true
		}
		return id == source
	})
	return ids, r.linked, nil
}

// set returns the nodes of a set, ascending. The zero value of Candidates means the default of a prediction. The caller
// owns the slice.
func (r *resolver) set(ctx context.Context, c Candidates) (ids []index.ID, err error) {
	tx := r.tx
	switch c = tx.among(c, r.source, r.scorer); c.kind {
	case byKeys:
		ids, err = tx.listed(c.keys)
		return ids, r.list(ids, err)
	case byClass:
		ids, err = tx.classes(r.scorer)
		return ids, r.list(ids, err)
	case byHops:
		if c.n < 1 {
			return nil, inputf("NEIGHBORS(%d): want at least 1 step", c.n)
		}
		return tx.within(ctx, r.source, c.n)
	case byLabel:
		label, ok := tx.view().Meta.LabelNumber(c.label)
		if !ok || c.label == "" {
			return nil, noLabel(c.label, tx.view())
		}
		return slices.Collect(tx.view().Labelled(label)), nil
	case byAll:
		return slices.Collect(tx.view().Nodes()), nil
	case bySample:
		return r.sample(c)
	case bySimilarity:
		return r.similar(ctx, c)
	case byUnion, byExcept, byIntersect:
		return r.combine(ctx, c)
	}
	if c.n < 1 {
		return nil, inputf("PPR(%d): want at least 1 node", c.n)
	}
	return r.nearest(ctx, c)
}

// list records nodes that are listed by key.
func (r *resolver) list(ids []index.ID, err error) error {
	r.listed = union(r.listed, ids)
	return err
}

// combine returns the union, the difference or the intersection of two sets.
func (r *resolver) combine(ctx context.Context, c Candidates) ([]index.ID, error) {
	a, err := r.set(ctx, c.parts[0])
	if err != nil {
		return nil, err
	}
	listed := r.listed
	b, err := r.set(ctx, c.parts[1])
	if err != nil {
		return nil, err
	}
	if c.kind == byUnion {
		return union(a, b), nil
	}
	if c.kind == byExcept {
		r.listed = listed // excluded nodes are not offered
	}
	return slices.DeleteFunc(a, func(id index.ID) bool {
		_, both := slices.BinarySearch(b, id)
		return both == (c.kind == byExcept)
	}), nil
}

// union returns the union of two ascending lists.
func union(a, b []index.ID) []index.ID {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// sample draws nodes uniformly without replacement.
func (r *resolver) sample(c Candidates) ([]index.ID, error) {
	if c.n < 1 {
		return nil, inputf("SAMPLE(%d): want at least 1 node", c.n)
	}
	linkedTo := r.tx.linkedTo(r.source)
	var ids []index.ID
	for id := range r.tx.view().Nodes() {
		if id != r.source && !linkedTo(id) {
			ids = append(ids, id)
		}
	}
	random := rand.New(rand.NewPCG(orDefault(c.seed, r.tx.view().Meta.Seed), uint64(r.source)))
	n := min(c.n, len(ids))
	for i := range n { // the first n steps of a shuffle (Fisher and Yates)
		j := i + random.IntN(len(ids)-i)
		ids[i], ids[j] = ids[j], ids[i]
	}
	ids = ids[:n]
	slices.Sort(ids)
	return ids, nil
}

// classes returns the nodes that represent the classes of a model, without deleted ones.
func (tx *Tx) classes(s *model.Scorer) ([]index.ID, error) {
	if s.Classes() == nil {
		return nil, inputf("the model has no classes (see option classes)")
	}
	gone := func(id index.ID) bool { return !tx.view().Live(id) }
	return slices.DeleteFunc(slices.Clone(s.Classes()), gone), nil
}

// linkedTo returns a function that reports whether a node has an edge from source.
func (tx *Tx) linkedTo(source index.ID) func(index.ID) bool {
	to, _ := tx.view().Graph.Out(source)
	return func(id index.ID) bool {
		_, ok := slices.BinarySearch(to, id)
		return ok
	}
}

// listed resolves keys to ids, ascending.
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

// nearest returns the nodes of a set PPR: those with the highest personalised PageRank, without those linked to the
// source.
func (r *resolver) nearest(ctx context.Context, c Candidates) ([]index.ID, error) {
	tx, source := r.tx, r.source
	st, err := r.walk.State(ctx, ppr.Column, tx.view().Meta.Alpha, source)
	if err != nil {
		return nil, err
	}
	type near struct {
		id    index.ID
		value float64
	}
	v := tx.view()
	linkedTo := tx.linkedTo(source)
	var found []near
	nodes, _ := st.Estimate()
	for _, id := range nodes {
		switch {
		case id == source, !tx.isOf(c.kinds, id):
		case linkedTo(id):
			r.linked++
		default:
			value, _ := st.Value(v.Graph, id)
			found = append(found, near{id, value})
		}
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.id, b.id)) })
	found = found[:min(c.n, len(found))]
	ids := make([]index.ID, len(found))
	for i, f := range found {
		ids[i] = f.id
	}
	slices.Sort(ids)
	return ids, nil
}

// isOf reports whether a node has one of the given labels. Nil means any.
func (tx *Tx) isOf(kinds []string, id index.ID) bool {
	v := tx.view()
	return kinds == nil || slices.Contains(kinds, v.Meta.Labels[v.Label(id)].Name)
}

// similar returns the nodes of a set SIMILAR.
func (r *resolver) similar(ctx context.Context, c Candidates) ([]index.ID, error) {
	if c.n < 1 {
		return nil, inputf("SIMILAR(%d): want at least 1 node", c.n)
	}
	tx, v := r.tx, r.tx.view()
	linkedTo := tx.linkedTo(r.source)
	accept := func(id index.ID) bool { return v.Live(id) && !linkedTo(id) && tx.isOf(c.kinds, id) }
	ids, err := r.scorer.Similar(ctx, r.walk.World(), r.source, c.n, accept)
	if err != nil {
		return nil, err
	}
	if len(ids) < c.n {
		found := union(nil, ids)
		ids = append(ids, tx.popular(c.n-len(ids), func(id index.ID) bool {
			_, known := slices.BinarySearch(found, id)
			return id != r.source && !known && accept(id)
		})...)
	}
	slices.Sort(ids)
	return ids, nil
}

// popular returns the up to n nodes with the most incoming edges that accept accepts.
func (tx *Tx) popular(n int, accept func(index.ID) bool) []index.ID {
	v := tx.view()
	var ids []index.ID
	edges := func(id index.ID) int {
		from, _ := v.Graph.In(id)
		return len(from)
	}
	for id := range v.Nodes() {
		if edges(id) > 0 && accept(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b index.ID) int { return cmp.Or(cmp.Compare(edges(b), edges(a)), cmp.Compare(a, b)) })
	return ids[:min(n, len(ids))]
}
