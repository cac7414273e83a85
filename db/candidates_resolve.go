package db

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"kith/db/internal/walk"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// resolver resolves a candidate set as seen from one source, which may be a set of nodes. The
// candidates are resolved completely; only then are the nodes removed that are linked to the source
// and not listed. So each part of a combination is complete.
type resolver struct {
	tx     *Tx
	start  ppr.Vector // distribution of the source nodes
	scorer *model.Scorer
	walk   *walk.Walker
	listed []index.ID // nodes listed by key, ascending; they are offered whether or not they are linked
	filter bool       // the set is the right part of EXCEPT or INTERSECT
	absent
}

// absent counts the nodes that are not among the candidates.
type absent struct {
	linked  int // of generated sets, because they are linked to the source
	missing int // listed after EXCEPT or INTERSECT, but not in the graph
}

// candidates resolves a set to ids, ascending.
func (tx *Tx) candidates(
	ctx context.Context, start ppr.Vector, c Candidates, s *model.Scorer, w *walk.Walker,
) (ids []index.ID, out absent, err error) {
	r := resolver{tx: tx, start: start, scorer: s, walk: w}
	if ids, err = r.set(ctx, c); err != nil {
		return nil, out, err
	}
	linkedTo := tx.linkedTo(start.Node...)
	ids = slices.DeleteFunc(ids, func(id index.ID) bool {
		if _, named := slices.BinarySearch(r.listed, id); named {
			return false
		}
		if !r.isSource(id) && linkedTo(id) {
			r.linked++
			return true
		}
		return r.isSource(id)
	})
	return ids, r.absent, nil
}

// isSource reports whether a node is one of the source's.
func (r *resolver) isSource(id index.ID) bool {
	_, found := slices.BinarySearch(r.start.Node, id)
	return found
}

// set returns the nodes of a set, ascending. The zero value of Candidates means the default of a
// prediction. The caller owns the slice.
func (r *resolver) set(ctx context.Context, c Candidates) (ids []index.ID, err error) {
	tx, v := r.tx, r.tx.view()
	c = tx.among(c, r.start)
	if err := c.checkSize(); err != nil {
		return nil, err
	}
	switch c.kind {
	case byKeys:
		ids, err = r.keys(c.keys)
		r.listed = union(r.listed, ids)
		return ids, err
	case byHops:
		return tx.withinSteps(ctx, c.n, r.start.Node...)
	case byLabel:
		label, err := labelNumber(v, c.label)
		if err != nil {
			return nil, err
		}
		return slices.Collect(v.Labelled(label)), nil
	case byAll:
		return slices.Collect(v.Nodes()), nil
	case bySample:
		return r.sample(c), nil
	case bySimilarity:
		return r.similar(ctx, c)
	case byUnion, byExcept, byIntersect:
		return r.combine(ctx, c)
	}
	return r.nearest(ctx, c)
}

// combine returns the union, the difference or the intersection of two sets.
func (r *resolver) combine(ctx context.Context, c Candidates) ([]index.ID, error) {
	a, err := r.set(ctx, c.parts[0])
	if err != nil {
		return nil, err
	}
	listed, filter := r.listed, r.filter
	r.filter = filter || c.kind != byUnion
	b, err := r.set(ctx, c.parts[1])
	r.filter = filter
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

// keys resolves listed keys to ids, ascending. It counts missing nodes instead of failing if the
// list is a filter: a candidate that was deleted a moment ago needs no filter.
func (r *resolver) keys(keys []any) ([]index.ID, error) {
	if !r.filter {
		return r.tx.ids(keys)
	}
	var ids []index.ID
	for _, k := range keys {
		switch id, err := r.tx.id(k); {
		case err == nil:
			ids = append(ids, id)
		case errors.Is(err, ErrNotFound):
			r.missing++
		default:
			return nil, err
		}
	}
	return union(nil, ids), nil
}

// sample draws nodes uniformly without replacement.
func (r *resolver) sample(c Candidates) []index.ID {
	linkedTo := r.tx.linkedTo(r.start.Node...)
	var ids []index.ID
	for id := range r.tx.view().Nodes() {
		if !r.isSource(id) && !linkedTo(id) {
			ids = append(ids, id)
		}
	}
	stream := uint64(0)
	for _, source := range r.start.Node {
		stream = 1099511628211*stream ^ uint64(source)
	}
	random := rand.New(rand.NewPCG(cmp.Or(c.seed, r.tx.view().Meta.Seed), stream))
	ids = drawn(random, ids, c.n)
	slices.Sort(ids)
	return ids
}

// drawn returns up to n of the ids, drawn uniformly without replacement. It reorders ids.
func drawn(random *rand.Rand, ids []index.ID, n int) []index.ID {
	n = min(n, len(ids))
	for i := range n { // the first n steps of a shuffle (Fisher and Yates)
		j := i + random.IntN(len(ids)-i)
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids[:n]
}

// linkedTo returns a function that reports whether a node has an edge from one of the sources.
func (tx *Tx) linkedTo(sources ...index.ID) func(index.ID) bool {
	to, _ := tx.view().Graph.Out(sources[0])
	if len(sources) > 1 {
		to = nil
		for _, source := range sources {
			row, _ := tx.view().Graph.Out(source)
			to = append(to, row...)
		}
		slices.Sort(to)
		to = slices.Compact(to)
	}
	return func(id index.ID) bool {
		_, ok := slices.BinarySearch(to, id)
		return ok
	}
}

// ids resolves keys to ids, ascending.
func (tx *Tx) ids(keys []any) ([]index.ID, error) {
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

// withinSteps returns the nodes at most n steps from the nearest source, ascending.
func (tx *Tx) withinSteps(ctx context.Context, n int, sources ...index.ID) ([]index.ID, error) {
	var found []index.ID
	for layer, err := range walk.Layers(ctx, tx.view().Graph, n, sources...) {
		if err != nil {
			return nil, err
		}
		found = append(found, layer...)
	}
	slices.Sort(found)
	return found, nil
}

// nearest returns the nodes of a set PPR: the nodes with the highest personalised PageRank
// that are not linked to the source.
func (r *resolver) nearest(ctx context.Context, c Candidates) ([]index.ID, error) {
	tx, v := r.tx, r.tx.view()
	nodes, values, err := r.walk.Near(ctx, v.Meta.Alpha, r.start)
	if err != nil {
		return nil, err
	}
	linkedTo := tx.linkedTo(r.start.Node...)
	var ids []index.ID
	var value []float64
	for i, id := range nodes {
		switch {
		case r.isSource(id), !tx.hasLabel(c.kinds, id):
		case linkedTo(id):
			r.linked++
		default:
			ids, value = append(ids, id), append(value, values[i])
		}
	}
	return best(ids, c.n, func(i int) float64 { return value[i] }), nil
}

// best returns the n of the ids with the largest values, ascending. The ids must ascend; of equal
// ones it takes the first.
func best(ids []index.ID, n int, value func(i int) float64) []index.ID {
	top := walk.Best(len(ids), n, func(i int) (float64, float64) { return value(i), 0 })
	found := make([]index.ID, len(top))
	for i, b := range top {
		found[i] = ids[b.Place]
	}
	slices.Sort(found)
	return found
}

// hasLabel reports whether a node has one of the given labels. Nil means any.
func (tx *Tx) hasLabel(kinds []string, id index.ID) bool {
	v := tx.view()
	return kinds == nil || slices.Contains(kinds, v.Meta.Labels[v.Label(id)].Name)
}

// similar returns the nodes of a set SIMILAR. With several sources, the sources take turns to add
// their most similar nodes, starting with the source with the largest weight.
func (r *resolver) similar(ctx context.Context, c Candidates) ([]index.ID, error) {
	tx, v := r.tx, r.tx.view()
	linkedTo := tx.linkedTo(r.start.Node...)
	accept := func(id index.ID) bool {
		return v.Live(id) && !r.isSource(id) && !linkedTo(id) && tx.hasLabel(c.kinds, id)
	}
	lists := make([][]index.ID, len(r.start.Node))
	for i, at := range r.byWeight() {
		var err error
		if lists[i], err = r.scorer.Similar(ctx, r.walk.World(), r.start.Node[at], c.n, accept); err != nil {
			return nil, err
		}
	}
	ids := inTurn(lists, c.n)
	if len(ids) < c.n {
		found := union(nil, ids)
		ids = append(ids, tx.popular(c.n-len(ids), func(id index.ID) bool {
			_, known := slices.BinarySearch(found, id)
			return !known && accept(id)
		})...)
	}
	slices.Sort(ids)
	return ids, nil
}

// byWeight returns the places of the sources in descending order of their weights.
func (r *resolver) byWeight() []int {
	places := make([]int, len(r.start.Node))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(r.start.Value[b], r.start.Value[a]) })
	return places
}

// inTurn returns the first n different nodes of the first nodes of the lists, then of the second
// ones, and so on.
func inTurn(lists [][]index.ID, n int) (ids []index.ID) {
	if len(lists) == 1 {
		return lists[0]
	}
	taken := map[index.ID]bool{}
	for place := 0; len(lists) > 0 && len(ids) < n; place++ {
		lists = slices.DeleteFunc(lists, func(list []index.ID) bool { return len(list) <= place })
		for _, list := range lists {
			if id := list[place]; !taken[id] && len(ids) < n {
				taken[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// popular returns the up to n nodes with the most incoming edges that accept accepts.
func (tx *Tx) popular(n int, accept func(index.ID) bool) []index.ID {
	v := tx.view()
	var ids []index.ID
	edges := func(id index.ID) float64 {
		from, _ := v.Graph.In(id)
		return float64(len(from))
	}
	for id := range v.Nodes() {
		if edges(id) > 0 && accept(id) {
			ids = append(ids, id)
		}
	}
	return best(ids, n, func(i int) float64 { return edges(ids[i]) })
}
