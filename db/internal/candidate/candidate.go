// Package candidate finds the nodes that a source may be linked to: those near it, similar to it,
// or drawn from the graph.
//
// A [Source] belongs to one request and one version of the graph. Its methods return ids in
// ascending order, which the caller owns. [Nearby] finds the nodes at a distance, or a sample of
// them where there are many. Sets of candidates, their combinations and the names of nodes belong
// to package db; this package knows nothing of transactions.
package candidate

import (
	"cmp"
	"context"
	"iter"
	"math/rand/v2"
	"slices"

	"kith/db/internal/walk"
	"kith/index"
	"kith/model"
	"kith/ppr"
)

// Source is a node, or a weighted set of nodes, for which candidates are found.
type Source struct {
	View   *index.Snapshot
	Start  ppr.Vector // distribution of the nodes, ascending
	Scorer *model.Scorer
	Walk   *walk.Walker
	Linked func(index.ID) bool // whether a node has an edge from one of the nodes
	Accept func(index.ID) bool // whether a node may be a candidate; nil: all may
}

// Ends returns the nodes that have an edge from one of the sources, ascending. The caller must not
// modify the slice.
func Ends(g *index.Graph, sources ...index.ID) []index.ID {
	to, _ := g.Out(sources[0])
	for _, source := range sources[1:] {
		row, _ := g.Out(source)
		to = Union(to, row)
	}
	return to
}

// In returns a function that reports whether a node is in an ascending list.
func In(to []index.ID) func(index.ID) bool {
	var ends [1 << 10]bool // whether a node with the same last ten bits is in the list, which few are
	for _, id := range to {
		ends[id%index.ID(len(ends))] = true
	}
	return func(id index.ID) bool {
		if !ends[id%index.ID(len(ends))] {
			return false
		}
		_, ok := slices.BinarySearch(to, id)
		return ok
	}
}

// Has reports whether a node is one of the nodes of the source.
func (s *Source) Has(id index.ID) bool {
	_, found := slices.BinarySearch(s.Start.Node, id)
	return found
}

// Within returns the nodes at most n steps from the nearest node of the source.
func (s *Source) Within(ctx context.Context, n int) ([]index.ID, error) {
	return joined(walk.Layers(ctx, s.View.Graph, n, s.Start.Node...))
}

// Recent returns the nodes at most n steps from the nearest node of the source, with steps along
// the edges of some graphs whose time is later than since and not later than until.
func (s *Source) Recent(ctx context.Context, graphs []*index.Graph, n int, since, until int64) ([]index.ID, error) {
	return joined(walk.Recent(ctx, graphs, since, until, n, s.Start.Node...))
}

// joined returns the nodes of layers, ascending.
func joined(layers iter.Seq2[[]index.ID, error]) (found []index.ID, err error) {
	for layer, err := range layers {
		if err != nil {
			return nil, err
		}
		found = append(found, layer...)
	}
	slices.Sort(found)
	return found, nil
}

// Sample returns n nodes, drawn uniformly without replacement, that are neither of the source nor
// linked to it, or all such nodes if there are fewer. The draw is a function of graph, source and
// seed.
func (s *Source) Sample(n int, seed uint64) []index.ID {
	var ids []index.ID
	for id := range s.View.Nodes() {
		if !s.Has(id) && !s.Linked(id) && s.accepts(id) {
			ids = append(ids, id)
		}
	}
	stream := uint64(0)
	for _, source := range s.Start.Node {
		stream = 1099511628211*stream ^ uint64(source)
	}
	ids = Drawn(rand.New(rand.NewPCG(seed, stream)), ids, n)
	slices.Sort(ids)
	return ids
}

// Nearest returns the n nodes with the highest personalised PageRank that have one of the given
// labels, nil meaning any, and are not linked to the source. linked is the number of nodes that
// were left out because they are.
func (s *Source) Nearest(ctx context.Context, n int, labels []string) (found []index.ID, linked int, err error) {
	nodes, values, err := s.Walk.Near(ctx, s.View.Meta.Alpha, s.Start)
	if err != nil {
		return nil, 0, err
	}
	var ids []index.ID
	var value []float64
	for i, id := range nodes {
		switch {
		case s.Has(id), !s.hasLabel(labels, id), !s.accepts(id):
		case s.Linked(id):
			linked++
		default:
			ids, value = append(ids, id), append(value, values[i])
		}
	}
	return best(ids, n, func(i int) float64 { return value[i] }), linked, nil
}

// Similar returns the n nodes that are most similar to the source, have one of the given labels,
// nil meaning any, and are not linked to it. If there are fewer, the nodes with the most incoming
// edges follow. Several nodes of the source take turns to add their most similar nodes, starting
// with the node with the largest weight.
func (s *Source) Similar(ctx context.Context, n int, labels []string) ([]index.ID, error) {
	accept := func(id index.ID) bool {
		return s.View.Live(id) && !s.Has(id) && !s.Linked(id) && s.hasLabel(labels, id) && s.accepts(id)
	}
	lists := make([][]index.ID, len(s.Start.Node))
	for i, at := range s.byWeight() {
		var err error
		if lists[i], err = s.Scorer.Similar(ctx, s.Walk.World(), s.Start.Node[at], n, accept); err != nil {
			return nil, err
		}
	}
	ids := inTurn(lists, n)
	if len(ids) < n {
		found := Union(nil, ids)
		ids = append(ids, s.popular(n-len(ids), func(id index.ID) bool {
			_, known := slices.BinarySearch(found, id)
			return !known && accept(id)
		})...)
	}
	slices.Sort(ids)
	return ids, nil
}

// Likely returns the n nodes that are most promising by the evidence that the model reads. Several
// nodes of the source take turns, as in Similar.
func (s *Source) Likely(n int) []index.ID {
	lists := make([][]index.ID, len(s.Start.Node))
	for i, at := range s.byWeight() {
		lists[i] = s.Scorer.Reached(s.Walk.World(), s.Start.Node[at], n, func(id index.ID) bool {
			return s.View.Live(id) && !s.Has(id) && !s.Linked(id) && s.accepts(id)
		})
	}
	ids := inTurn(lists, n)
	slices.Sort(ids)
	return ids
}

// A search for fresh nodes reads the newest searchedFresh nodes, and compares the words of up to
// comparedFresh of them.
const (
	searchedFresh = 4096
	comparedFresh = 1000
)

// Fresh returns up to n of the newest nodes that have no edges and one of the given labels, nil
// meaning any: those whose words are most like the words of the source and of the nodes that it has
// links to. There are none for a model that reads no words.
func (s *Source) Fresh(n int, labels []string) []index.ID {
	if n == 0 {
		return nil
	}
	var ids []index.ID
	end := s.View.Graph.NumNodes()
	for u := end - 1; u >= max(0, end-searchedFresh) && len(ids) < comparedFresh; u-- {
		id := index.ID(u)
		if s.View.Live(id) && !s.View.Graph.HasEdges(id) && !s.Has(id) && s.hasLabel(labels, id) && s.accepts(id) {
			ids = append(ids, id)
		}
	}
	lists := make([][]index.ID, len(s.Start.Node))
	for i, at := range s.byWeight() {
		lists[i] = s.Scorer.Promising(s.Walk.World(), s.Start.Node[at], ids, n)
	}
	ids = inTurn(lists, n)
	slices.Sort(ids)
	return ids
}

// accepts reports whether a node may be a candidate.
func (s *Source) accepts(id index.ID) bool { return s.Accept == nil || s.Accept(id) }

// hasLabel reports whether a node has one of the given labels. Nil means any.
func (s *Source) hasLabel(labels []string, id index.ID) bool {
	return labels == nil || slices.Contains(labels, s.View.Meta.Labels[s.View.Label(id)].Name)
}

// byWeight returns the places of the nodes in descending order of their weights.
func (s *Source) byWeight() []int {
	places := make([]int, len(s.Start.Node))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(s.Start.Value[b], s.Start.Value[a]) })
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
func (s *Source) popular(n int, accept func(index.ID) bool) []index.ID {
	var ids []index.ID
	edges := func(id index.ID) float64 {
		from, _ := s.View.Graph.In(id)
		return float64(len(from))
	}
	for id := range s.View.Nodes() {
		if edges(id) > 0 && accept(id) {
			ids = append(ids, id)
		}
	}
	return best(ids, n, func(i int) float64 { return edges(ids[i]) })
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

// Union returns the union of two ascending lists.
func Union(a, b []index.ID) []index.ID {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Drawn returns up to n of the ids, drawn uniformly without replacement. It reorders ids.
func Drawn(random *rand.Rand, ids []index.ID, n int) []index.ID {
	n = min(n, len(ids))
	for i := range n { // the first n steps of a shuffle (Fisher and Yates)
		j := i + random.IntN(len(ids)-i)
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids[:n]
}
