package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
)

// maxSmooth is the largest number of entries, nodes times words, of a matrix of smoothed features.
const maxSmooth = 1 << 26

// Numbers of features of a pair: by the graph, and with feature vectors.
const (
	graphFeatures = 13
	wordFeatures  = 21
)

func pairFeatures(c *config) int {
	if c.FeatureLen == 0 {
		return graphFeatures
	}
	return graphFeatures + wordFeatures
}

// surroundings is what the features of a pair are computed from: T are the nodes' words, K = TTᵀ.
type surroundings struct {
	adjacency
	words   words
	similar *smoothed // nil: no feature vectors
	scratch sync.Pool // of *walks
}

// smoothed holds T averaged over surroundings of different sizes, and shapes.
type smoothed struct {
	wt   [3]blas32.General // WT, W²T, W³T: the node counts as its own neighbour
	norm [3][]float64      // length of their rows
	nt   [2]blas32.General // NT, N²T: it does not
	rank [2]blas32.General // PageRank-weighted, α = 0.5 and 0.85
}

func surroundingsOf(ctx context.Context, c *config, w World) (*surroundings, error) {
	s := &surroundings{adjacency: adjacencyOf(w.Graph)}
	s.scratch.New = func() any { return newWalks(len(s.adjacency)) }
	if c.FeatureLen == 0 {
		return s, nil
	}
	if n := len(s.adjacency) * c.FeatureLen; n > maxSmooth {
		return nil, fmt.Errorf("%w: %d nodes with %d features each (accepted: up to %d in all)", ErrInput, len(s.adjacency), c.FeatureLen, maxSmooth)
	}
	var err error
	if s.words, err = wordsOf(c, w); err != nil {
		return nil, err
	}
	s.similar, err = s.smoothed(ctx)
	return s, err
}

func (s *surroundings) smoothed(ctx context.Context) (*smoothed, error) {
	m, t := &smoothed{}, s.words.dense()
	var err error
	average := func(of blas32.General, self bool) (x blas32.General) {
		if err == nil {
			x, err = s.average(ctx, of, self)
		}
		return x
	}
	x := t
	for k := range m.wt {
		x = average(x, true)
		m.wt[k], m.norm[k] = x, lengths(x)
	}
	m.nt[0] = average(t, false)
	m.nt[1] = average(m.nt[0], false)
	for i := range m.rank {
		if err == nil {
			m.rank[i], err = s.smooth(ctx, walkAlphas()[i], t)
		}
	}
	return m, err
}

func lengths(x blas32.General) []float64 {
	v := make([]float64, x.Rows)
	for i := range v {
		v[i] = math.Max(float64(blas32.Nrm2(blas32.Vector{N: x.Cols, Inc: 1, Data: row(x, i)})), 1e-9)
	}
	return v
}

// features fills a row of x for each pair; they do not depend on which end is the source.
func (s *surroundings) features(ctx context.Context, pairs []Pair, x blas32.General) error {
	order := make([]int, len(pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(pairs[i].Source, pairs[j].Source) })
	var runs [][]int
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && pairs[order[to]].Source == pairs[order[from]].Source {
			to++
		}
		runs = append(runs, order[from:to])
		from = to
	}
	return parallel(ctx, len(runs), func(i int) {
		w := s.scratch.Get().(*walks)
		defer s.scratch.Put(w)
		targets := make([]ID, len(runs[i]))
		for j, n := range runs[i] {
			targets[j] = pairs[n].Target
		}
		w.from(s.adjacency, pairs[runs[i][0]].Source, targets)
		for j, n := range runs[i] {
			r := fields(row(x, n)[:0])
			s.byGraph(&r, w, pairs[n], j)
			if s.similar != nil {
				s.byWords(&r, pairs[n])
			}
		}
	})
}

// fields are the features of a pair, one after the other.
type fields []float32

func (f *fields) add(v float64) { *f = append(*f, float32(v)) }

// both adds the values of the two directions, the smaller one first.
func (f *fields) both(a, b float64) {
	f.add(math.Min(a, b))
	f.add(math.Max(a, b))
}

// byGraph: PageRank in both directions (d_u π_u(v) = d_v π_v(u)), common neighbours, longer walks, degrees.
// The pair's target is the j-th of the walks.
func (s *surroundings) byGraph(f *fields, w *walks, p Pair, j int) {
	du, dv := float64(len(s.adjacency[p.Source])), float64(len(s.adjacency[p.Target]))
	for _, rank := range w.rank {
		there := rank[j]
		back := there * du / math.Max(dv, 1)
		f.both(math.Log(1e-6+there), math.Log(1e-6+back))
	}
	for _, v := range [][]float64{w.paths[2], w.adamic, w.resource, w.paths[3], w.paths[4]} {
		f.add(math.Log1p(v[p.Target]))
	}
	f.both(math.Log1p(du), math.Log1p(dv))
}

// byWords: K smoothed over the surroundings of one end or both.
func (s *surroundings) byWords(f *fields, p Pair) {
	u, v := int(p.Source), int(p.Target)
	tu, tv := s.words.rows[u], s.words.rows[v]
	m := s.similar
	oneSided := func(x blas32.General) { f.both(tv.times(row(x, u)), tu.times(row(x, v))) }
	f.add(tu.dot(tv))
	oneSided(m.wt[0])
	f.both(product(m.wt[1], u, m.wt[0], v), product(m.wt[1], v, m.wt[0], u))
	for k, x := range m.wt {
		f.add(product(x, u, x, v) / (m.norm[k][u] * m.norm[k][v]))
	}
	oneSided(m.nt[0])
	oneSided(m.nt[1])
	f.add(product(m.nt[0], u, m.nt[0], v))
	for _, x := range m.rank {
		oneSided(x)
		f.add(product(x, u, x, v))
	}
	f.both(s.nearest(u, tv), s.nearest(v, tu))
}

// nearest is the largest similarity of a neighbour of u to the words t.
func (s *surroundings) nearest(u int, t sparse) (best float64) {
	for _, w := range s.adjacency[u] {
		best = math.Max(best, s.words.rows[w].dot(t))
	}
	return best
}

// product is the scalar product of a row of a and a row of b.
func product(a blas32.General, i int, b blas32.General, j int) float64 {
	return float64(dot(row(a, i), row(b, j)))
}
