package trial

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"kith/model"
	"kith/ppr"
)

// ID is a dense node number.
type ID = model.ID

// Pair is a candidate link, an arm of a round.
type Pair = model.Pair

// Graph is an undirected unweighted graph in memory that grows edge by edge. It satisfies ppr.Graph and model.Graph
// between two changes. One goroutine at a time uses it.
type Graph struct {
	rows [][]ID // neighbours, ascending

	survey *ppr.Survey // of the present graph, nil until a solver asks
	run    ppr.Run     // all rows, likewise
}

// NewGraph returns a graph of n nodes without edges.
func NewGraph(n int) *Graph { return &Graph{rows: make([][]ID, n)} }

// NumNodes returns the number of nodes.
func (g *Graph) NumNodes() int { return len(g.rows) }

// Directed is false.
func (g *Graph) Directed() bool { return false }

// Degree returns the number of neighbours of u; a loop counts once.
func (g *Graph) Degree(u ID) float64 { return float64(len(g.rows[u])) }

// Out returns the neighbours of u; the row is shared with the graph.
func (g *Graph) Out(u ID) ([]ID, []float32) { return g.rows[u], nil }

// In is Out.
func (g *Graph) In(u ID) ([]ID, []float32) { return g.rows[u], nil }

// Has reports whether u and v are linked.
func (g *Graph) Has(u, v ID) bool {
	_, found := slices.BinarySearch(g.rows[u], v)
	return found
}

// Add links u and v and reports whether they were not linked before.
func (g *Graph) Add(u, v ID) bool {
	at, found := slices.BinarySearch(g.rows[u], v)
	if found {
		return false
	}
	g.survey, g.run.Start = nil, g.run.Start[:0]
	g.rows[u] = slices.Insert(g.rows[u], at, v)
	if u != v {
		at, _ = slices.BinarySearch(g.rows[v], u)
		g.rows[v] = slices.Insert(g.rows[v], at, u)
	}
	return true
}

// Survey returns what solvers want to know of the graph as a whole.
func (g *Graph) Survey() *ppr.Survey {
	if g.survey == nil {
		g.survey = ppr.NewSurvey(g)
	}
	return g.survey
}

// Runs yields all rows in order, which are its Out and its In rows.
func (g *Graph) Runs(bool) iter.Seq2[ID, ppr.Run] {
	if len(g.run.Start) == 0 {
		g.run.Start, g.run.To = append(g.run.Start, 0), g.run.To[:0]
		for _, row := range g.rows {
			g.run.To = append(g.run.To, row...)
			g.run.Start = append(g.run.Start, uint32(len(g.run.To)))
		}
	}
	return func(yield func(ID, ppr.Run) bool) { yield(0, g.run) }
}

// Without returns a copy of the graph that lacks the given edges.
func (g *Graph) Without(edges [][2]ID) *Graph {
	c := NewGraph(len(g.rows))
	for u, row := range g.rows {
		c.rows[u] = slices.Clone(row)
	}
	drop := func(u, v ID) {
		if at, found := slices.BinarySearch(c.rows[u], v); found {
			c.rows[u] = slices.Delete(c.rows[u], at, at+1)
		}
	}
	for _, e := range edges {
		drop(e[0], e[1])
		drop(e[1], e[0])
	}
	return c
}

// Walker answers a model's PageRank questions on a Graph by solving, to a certified error in the largest value. It
// keeps the answer for the last source until the graph gets another edge. One goroutine at a time uses it.
type Walker struct {
	graph  *Graph
	eps    float64
	solver *ppr.Solver

	state  *ppr.State // of source, nil if none is valid
	source ID
	alpha  float64

	to, from, v, bound []float64 // memory of the answers, valid until the next question of that kind
}

// NewWalker returns a walker on g with the given error.
func NewWalker(g *Graph, eps float64) *Walker {
	return &Walker{graph: g, eps: eps, solver: ppr.NewSolver()}
}

// Changed says that the graph is not what it was at the last question.
func (w *Walker) Changed() { w.state = nil }

// Proximity solves for source; the other direction follows from d_s π_s(c) = d_c π_c(s).
func (w *Walker) Proximity(ctx context.Context, alpha float64, source ID, at []ID) (to, from []float64, err error) {
	if w.state == nil || w.source != source || w.alpha != alpha {
		h := ppr.Vector{Node: []ID{source}, Value: []float64{1}}
		w.state, err = w.solver.Solve(ctx, w.graph, ppr.Column, alpha, h, w.target())
		if err != nil {
			return nil, nil, fmt.Errorf("trial: proximity of %d: %w", source, err)
		}
		w.source, w.alpha = source, alpha
	}
	w.to, w.from = resize(w.to, len(at)), resize(w.from, len(at))
	to, from = w.to, w.from
	for i, c := range at {
		to[i], _ = w.state.Value(w.graph, c)
		from[i] = to[i] * max(w.graph.Degree(source), 1) / max(w.graph.Degree(c), 1)
	}
	return to, from, nil
}

// Propagate solves for h.
func (w *Walker) Propagate(ctx context.Context, walk model.Walk, h model.Start, at []ID) (v, bound []float64, err error) {
	form := ppr.Row
	if walk.Column {
		form = ppr.Column
	}
	st, err := w.solver.Solve(ctx, w.graph, form, walk.Alpha, ppr.Vector(h), w.target())
	if err != nil {
		return nil, nil, fmt.Errorf("trial: walk: %w", err)
	}
	w.v, w.bound = resize(w.v, len(at)), resize(w.bound, len(at))
	v, bound = w.v, w.bound
	for i, c := range at {
		v[i], bound[i] = st.Value(w.graph, c)
	}
	return v, bound, nil
}

func resize(v []float64, n int) []float64 { return slices.Grow(v[:0], n)[:n] }

func (w *Walker) target() ppr.Target { return ppr.Target{Norm: ppr.MaxNorm, Eps: w.eps} }
