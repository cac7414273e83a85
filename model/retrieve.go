package model

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/nn"
)

// Retrieves returns how many candidates of sources must be scored so that the best 20 of all are
// hardly ever not among them: more in a directed graph, where more measures take turns, and few in
// a bipartite graph that the model was trained on. It returns 0 if Retrieve does not choose. It
// does if the ranker scores the candidates, which takes much longer than to compare single numbers.
func (s *Scorer) Retrieves(w World, sources Start) int {
	alone := func(source ID) bool { return s.forecast.answers(w, source) }
	switch {
	case s.belief == nil || s.belief.ranker == nil || s.answersRelation(w) || slices.ContainsFunc(sources.Node, alone):
		return 0
	case w.Graph.Directed():
		return 3000
	case s.belief.vectors != nil && s.belief.vectors.Bipartite():
		return 200
	}
	return 1800
}

// Retrieve returns the candidates that are worth scoring, about n for each source, ascending as the
// candidates are, and a world to score them in, which knows what was computed. The candidates are
// the best by measures that take little time for each, which take turns: products of the vectors of
// a training, PageRank in both directions, siblings in a directed graph, the content of nodes, the
// forecast, the outcomes of a candidate, and the number of its links. It returns all candidates if
// Retrieves returns 0.
func (s *Scorer) Retrieve(ctx context.Context, w World, sources Start, candidates []ID, n int) ([]ID, World, error) {
	if w = s.paced(w); s.Retrieves(w, sources) == 0 {
		return candidates, w, nil
	}
	known := &knownWalk{Walker: w.Walk, nodes: candidates}
	chosen := make([]bool, len(candidates))
	for _, source := range sources.Node {
		near, err := known.read(ctx, w, source)
		if err != nil {
			return nil, w, err
		}
		var lists [][]uint32
		for _, m := range s.measures(w, source, candidates, near) {
			lists = append(lists, m.best(n))
		}
		lists = append(lists, mostLinked(w.Graph, candidates, n/mostLinkedShare))
		choose(chosen, lists, n)
	}
	var found []ID
	for i, v := range candidates {
		if chosen[i] {
			found = append(found, v)
		}
	}
	w.Walk = known
	return found, w, ctx.Err()
}

// choose marks n of the places, or all if there are fewer: the first one of each list, then the
// second ones, and so on, and then places that no list has.
func choose(chosen []bool, lists [][]uint32, n int) {
	own, left := make([]bool, len(chosen)), n
	add := func(place uint32) {
		if left > 0 && !own[place] {
			own[place], chosen[place] = true, true
			left--
		}
	}
	for i := range n {
		for _, list := range lists {
			if i < len(list) {
				add(list[i])
			}
		}
	}
	for place := range uint32(min(len(chosen), n)) {
		add(place)
	}
}

// At most one in mostLinkedShare of the candidates is chosen by its number of links. Few are
// enough: they are the best of a source of which little else is known, and then in this order.
// Without them, 0.983 of the best 20 of ml-1m are found among 300, with them 0.997.
const mostLinkedShare = 8

// mostLinked returns the places of the n candidates with the most links to them.
func mostLinked(g Graph, candidates []ID, n int) []uint32 {
	if 4*len(candidates) >= g.NumNodes() {
		if places, ok := popularOf(g).among(candidates, n); ok {
			return places
		}
	}
	links := make([]float32, len(candidates))
	for i, v := range candidates {
		links[i] = float32(graph.InLen(g, v))
	}
	return nn.Largest(links, n, 0)
}

// popular are the nodes of a graph with the most links to them, the most first. The first question
// about a graph does not need them: the graph may change before the next.
type popular struct {
	asked atomic.Bool
	find  func() []ID
}

type popularKey struct{}

// maxPopular is the number of nodes of a popular, if the graph has as many.
const maxPopular = 4096

func popularOf(g Graph) *popular {
	return graph.Kept(g, popularKey{}, func() *popular {
		return &popular{find: sync.OnceValue(func() []ID {
			links := make([]float32, g.NumNodes())
			for v := range links {
				links[v] = float32(graph.InLen(g, ID(v)))
			}
			return nn.Largest(links, maxPopular, 0)
		})}
	})
}

// among returns the places of the n candidates, which ascend, that have the most links. It returns
// false if it does not know them.
func (p *popular) among(candidates []ID, n int) (places []uint32, ok bool) {
	if !p.asked.Swap(true) {
		return nil, false
	}
	for _, v := range p.find() {
		if len(places) == n {
			break
		}
		if place, found := slices.BinarySearch(candidates, v); found {
			places = append(places, uint32(place))
		}
	}
	return places, len(places) == n
}

// measure is what is known of candidates: the larger the value of one, the more promising it is;
// values of 0 and less say nothing.
type measure struct {
	value []float32
	place []uint32 // of the candidates that have the values, ascending; nil: all
}

// best returns the places of the n most promising candidates, the best first.
func (m measure) best(n int) []uint32 {
	best := nn.Largest(m.value, n, 0)
	if m.place != nil {
		for i, at := range best {
			best[i] = m.place[at]
		}
	}
	return best
}

// measures returns what some measures say of the candidates of a source, given their proximities.
func (s *Scorer) measures(w World, source ID, candidates []ID, near *knownProximities) (all []measure) {
	add := func(of func(ID) float32) {
		if of == nil {
			return
		}
		m := make([]float32, len(candidates))
		for i, v := range candidates {
			m[i] = of(v)
		}
		all = append(all, measure{value: m})
	}
	if v := s.belief.vectors; v != nil {
		all = append(all, measure{value: v.ClosenessOf(w, source, candidates)})
	}
	all = append(all, measure{nn.Narrow(near.to), near.place}, measure{nn.Narrow(near.from), near.place})
	if w.Graph.Directed() {
		for _, siblings := range siblingsOf(w.Graph, source) {
			add(func(v ID) float32 { return siblings[v] })
		}
	}
	if s.config.hasContent() {
		add(s.contentCloseness(w, source))
	}
	if m := s.forecastOf(w, source, candidates); m != nil {
		all = append(all, measure{value: m})
	}
	if s.belief.learned {
		var history [historyLen]float32
		add(func(v ID) float32 {
			s.belief.memory.history(Pair{Source: source, Target: v}, history[:])
			return history[colTargetRate] + history[colOffered]
		})
	}
	return all
}

// forecastOf returns the probabilities of links to candidates by the forecast, 0 where it is not
// asked. It returns nil if it is asked about none.
func (s *Scorer) forecastOf(w World, source ID, candidates []ID) []float32 {
	if !s.forecast.reads(w) {
		return nil
	}
	pairs := Pairs(source, candidates)
	t := s.scratch()
	defer s.release(t)
	t.forecasts(w, pairs)
	if !slices.ContainsFunc(t.times.shares, share.asks) {
		return nil
	}
	m := make([]float32, len(pairs))
	for i, odds := range t.forecast.logOdds(&t.times, w, pairs) {
		if t.times.shares[i].asks() {
			m[i] = float32(nn.Sigmoid(float64(odds)))
		}
	}
	return m
}

// siblingEdges is the number of edges that siblingsOf follows at most, those of the nodes with the
// fewest first.
const siblingEdges = 1 << 17

// siblingsOf returns the weights of the paths from a node of a directed graph to nodes that have an
// edge to the same node, and to nodes that have an edge from the same node: each path is divided by
// the number of such edges.
func siblingsOf(g Graph, u ID) (all [2]map[ID]float32) {
	for i, rows := range [2][2]func(Graph, ID) []ID{{graph.Out, graph.In}, {graph.In, graph.Out}} {
		lengths := [2]func(Graph, ID) int{graph.InLen, graph.OutLen}
		middles, left := slices.Clone(rows[0](g, u)), siblingEdges
		slices.SortStableFunc(middles, func(a, b ID) int { return cmp.Compare(lengths[i](g, a), lengths[i](g, b)) })
		all[i] = map[ID]float32{}
		for _, middle := range middles {
			if left -= lengths[i](g, middle); left < 0 {
				break
			}
			near := rows[1](g, middle)
			for _, v := range near {
				all[i][v] += 1 / float32(len(near))
			}
		}
	}
	return all
}

// knownWalk is a Walker that knows the proximities of some nodes to some sources.
type knownWalk struct {
	Walker
	nodes   []ID // ascending
	sources []*knownProximities
}

// knownProximities are the proximities of the nodes of a knownWalk to a source that are not 0 in
// both directions.
type knownProximities struct {
	source   ID
	place    []uint32 // in nodes, ascending
	to, from []float64
}

// read learns the proximities of a source, and returns them.
func (k *knownWalk) read(ctx context.Context, w World, source ID) (*knownProximities, error) {
	to, from, err := column.Proximities(ctx, w, source, k.nodes)
	if err != nil {
		return nil, err
	}
	p := &knownProximities{source: source, place: []uint32{}}
	for i, x := range to {
		if x != 0 || from[i] != 0 {
			p.place, p.to, p.from = append(p.place, uint32(i)), append(p.to, x), append(p.from, from[i])
		}
	}
	k.sources = append(k.sources, p)
	return p, nil
}

// Proximity implements Walker.
func (k *knownWalk) Proximity(ctx context.Context, alpha float64, source ID, at []ID) (to, from []float64, err error) {
	i := slices.IndexFunc(k.sources, func(p *knownProximities) bool { return p.source == source })
	if i < 0 || alpha != column.ProximityAlpha {
		return k.Walker.Proximity(ctx, alpha, source, at)
	}
	known := k.sources[i]
	to, from = make([]float64, len(at)), make([]float64, len(at))
	for j, v := range at {
		place, found := slices.BinarySearch(k.nodes, v)
		if !found {
			return k.Walker.Proximity(ctx, alpha, source, at)
		}
		if i, found := slices.BinarySearch(known.place, uint32(place)); found {
			to[j], from[j] = known.to[i], known.from[i]
		}
	}
	return to, from, nil
}
