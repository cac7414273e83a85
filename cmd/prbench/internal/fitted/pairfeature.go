package fitted

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// Numbers of features of a pair: from the graph, and from feature vectors.
const (
	graphFeatures = 13
	wordFeatures  = 37
)

func pairFeatures(c *config) int {
	if c.FeatureLen == 0 {
		return graphFeatures
	}
	return graphFeatures + wordFeatures
}

// surroundings holds the data from which the features of pairs are computed. K = TTᵀ is the
// similarity of words.
type surroundings struct {
	adjacency
	*nn.Content           // nil: no feature vectors
	similar     *smoothed // nil: no feature vectors
	related     adjacency // adjacency of neighbours and kin
	scratch     sync.Pool // pool of *walks
}

// smoothed holds T averaged over surroundings of different sizes and kinds.
type smoothed struct {
	t    blas32.General    // T
	wt   [3]blas32.General // WT, W²T, W³T: each node is its own neighbour
	norm [3][]float64      // lengths of the rows of wt
	nt   [2]blas32.General // NT, N²T: a node is not its own neighbour
	rank [2]blas32.General // weighted by PageRank, α = 0.5 and 0.85

	// Rows of unit length:
	latent    [4]blas32.General // Z, WZ, W²Z, W³Z, where Z are the latent vectors
	neighbors blas32.General    // NZ
	kin       blas32.General    // WT among neighbours and kin
}

func surroundingsOf(ctx context.Context, c *config, w World) (*surroundings, error) {
	t, err := pairContent(ctx, c, w)
	if err != nil {
		return nil, err
	}
	return surroundingsIn(ctx, t, w.Graph), ctx.Err()
}

// maxSmooth is the largest number of entries (nodes times words) of a matrix of smoothed features.
const maxSmooth = 1 << 26

// pairContent returns the content of the nodes' words. It returns an error if the nodes have too
// many features in total.
func pairContent(ctx context.Context, c *config, w World) (*nn.Content, error) {
	if n := w.Graph.NumNodes(); n*c.FeatureLen > maxSmooth {
		return nil, fmt.Errorf("%w: %d nodes with %d features each (accepted: up to %d in all)", ErrRefused, n, c.FeatureLen, maxSmooth)
	}
	return contentOf(ctx, c, w, latentLen)
}

// surroundingsIn returns the surroundings of the content in a graph.
func surroundingsIn(ctx context.Context, t *nn.Content, g Graph) *surroundings {
	s := &surroundings{adjacency: adjacencyOf(g), Content: t}
	s.scratch.New = func() any { return newWalks(len(s.adjacency)) }
	if t != nil {
		s.related = s.union(t.Kin)
		s.similar = s.smoothed(ctx)
	}
	return s
}

func (s *surroundings) smoothed(ctx context.Context) *smoothed {
	t := s.Dense()
	m := &smoothed{t: t}
	x := t
	for k := range m.wt {
		x = nn.Average(ctx, s.adjacency, x, true)
		m.wt[k], m.norm[k] = x, lengths(x)
	}
	m.nt[0] = nn.Average(ctx, s.adjacency, t, false)
	m.nt[1] = nn.Average(ctx, s.adjacency, m.nt[0], false)
	for i := range m.rank {
		m.rank[i] = s.smooth(ctx, walkAlphas()[i], t)
	}
	copy(m.latent[:], nn.UnitAverages(ctx, s.adjacency, s.Vector, len(m.latent)))
	m.neighbors = nn.UnitRows(nn.Average(ctx, s.adjacency, s.Vector, false))
	m.kin = nn.UnitRows(nn.Average(ctx, s.related, t, true))
	return m
}

func lengths(x blas32.General) []float64 {
	v := make([]float64, x.Rows)
	for i := range v {
		v[i] = math.Max(float64(blas32.Nrm2(blas32.Vector{N: x.Cols, Inc: 1, Data: nn.Row(x, i)})), 1e-9)
	}
	return v
}

// features fills one row of x for each pair. The features are symmetric in source and target. If
// ctx ends, some rows are incomplete.
func (s *surroundings) features(ctx context.Context, pairs []Pair, x blas32.General) {
	bySource := map[ID][]int{}
	for i, p := range pairs {
		bySource[p.Source] = append(bySource[p.Source], i)
	}
	runs := slices.Collect(maps.Values(bySource))
	_ = nn.Parallel(ctx, len(runs), func(i int) {
		w := s.scratch.Get().(*walks)
		defer s.scratch.Put(w)
		targets := make([]ID, len(runs[i]))
		for j, n := range runs[i] {
			targets[j] = pairs[n].Target
		}
		source := pairs[runs[i][0]].Source
		w.from(ctx, s.adjacency, source, targets)
		if s.Content != nil {
			w.ranks(ctx, s.related, source, targets, &w.kin)
		}
		for j, n := range runs[i] {
			if j%nn.BatchLen == 0 && ctx.Err() != nil {
				return
			}
			r := fields(nn.Row(x, n)[:0])
			s.byGraph(&r, w, pairs[n], j)
			if s.Content != nil {
				s.byWords(&r, pairs[n])
				s.byKin(&r, w, pairs[n], j)
			}
		}
	})
}

// fields is the row of features of a pair, to which features are appended.
type fields []float32

func (f *fields) add(v float64) { *f = append(*f, float32(v)) }

// both appends the values of the two directions, the smaller one first.
func (f *fields) both(a, b float64) {
	f.add(math.Min(a, b))
	f.add(math.Max(a, b))
}

// ranks appends the PageRank of the pair in both directions, using d_u π_u(v) = d_v π_v(u). The
// pair's target is the j-th one of the walks.
func (f *fields) ranks(a adjacency, rank [3][]float64, p Pair, j int) {
	du, dv := float64(len(a[p.Source])), float64(len(a[p.Target]))
	for _, r := range rank {
		there := r[j]
		back := there * du / math.Max(dv, 1)
		f.both(math.Log(1e-6+there), math.Log(1e-6+back))
	}
}

func (f *fields) degrees(a adjacency, p Pair) {
	f.both(math.Log1p(float64(len(a[p.Source]))), math.Log1p(float64(len(a[p.Target]))))
}

// byGraph appends PageRank, common neighbours, longer walks and degrees.
func (s *surroundings) byGraph(f *fields, w *walks, p Pair, j int) {
	f.ranks(s.adjacency, w.rank, p, j)
	for _, v := range [][]float64{w.paths[2], w.adamic, w.resource, w.paths[3], w.paths[4]} {
		f.add(math.Log1p(v[p.Target]))
	}
	f.degrees(s.adjacency, p)
}

// byWords appends K smoothed over the surroundings of one end or both.
func (s *surroundings) byWords(f *fields, p Pair) {
	u, v := int(p.Source), int(p.Target)
	tu, tv := s.Rows[u], s.Rows[v]
	m := s.similar
	oneSided := func(x blas32.General) { f.both(tv.Times(nn.Row(x, u)), tu.Times(nn.Row(x, v))) }
	f.add(tu.Times(nn.Row(m.t, v)))
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

// byKin appends PageRank and similarity among neighbours and kin, and similarities of latent
// vectors.
func (s *surroundings) byKin(f *fields, w *walks, p Pair, j int) {
	u, v := int(p.Source), int(p.Target)
	m := s.similar
	f.ranks(s.related, w.kin, p, j)
	f.add(product(m.kin, u, m.kin, v))
	f.degrees(s.related, p)
	for _, x := range m.latent {
		f.add(product(x, u, x, v))
	}
	f.both(product(m.latent[0], u, m.neighbors, v), product(m.latent[0], v, m.neighbors, u))
	f.add(product(m.neighbors, u, m.neighbors, v))
}

// nearest returns the largest similarity between the words t and the words of a neighbour of u.
func (s *surroundings) nearest(u int, t nn.Sparse) (best float64) {
	for _, w := range s.adjacency[u] {
		best = math.Max(best, t.Times(nn.Row(s.similar.t, int(w))))
	}
	return best
}

// product returns the scalar product of a row of a and a row of b.
func product(a blas32.General, i int, b blas32.General, j int) float64 {
	return float64(nn.Dot(nn.Row(a, i), nn.Row(b, j)))
}

// walkSteps is the maximum number of steps of a walk.
const walkSteps = 40

// walkAlphas returns the dampings of the walks from a node.
func walkAlphas() [3]float64 { return [3]float64{0.5, 0.85, 0.95} }

// walks holds the results of walks from one source and the memory to compute them.
type walks struct {
	rank       [3][]float64 // personalised PageRank of each target, by damping, from walks of at most walkSteps steps
	kin        [3][]float64 // the same among neighbours and kin
	paths      [5][]float64 // paths[k] is the number of walks of k steps to every node, k from 1
	adamic     []float64    // Adamic-Adar of every node with the source
	resource   []float64
	step, next []float64
	all        []float64 // memory of the numbers of every node
}

func newWalks(n int) *walks {
	w := &walks{all: make([]float64, 9*n)}
	for i, v := range [...]*[]float64{
		&w.paths[0], &w.paths[1], &w.paths[2], &w.paths[3], &w.paths[4], &w.adamic, &w.resource, &w.step, &w.next,
	} {
		*v = w.all[i*n : (i+1)*n]
	}
	return w
}

// from computes the numbers of a source. If ctx ends, the rest is not computed.
func (w *walks) from(ctx context.Context, a adjacency, source ID, targets []ID) {
	clear(w.all)
	w.ranks(ctx, a, source, targets, &w.rank)
	w.paths[0][source] = 1
	for k := range len(w.paths) - 1 {
		if ctx.Err() != nil {
			return
		}
		for u, x := range w.paths[k] {
			if x != 0 {
				for _, v := range a[u] {
					w.paths[k+1][v] += x
				}
			}
		}
	}
	for _, u := range a[source] {
		d := float64(max(len(a[u]), 2))
		for _, v := range a[u] {
			w.adamic[v] += 1 / math.Log(d)
			w.resource[v] += 1 / d
		}
	}
}

// ranks sums the distributions of a walk that continues from every node to a random neighbour.
func (w *walks) ranks(ctx context.Context, a adjacency, source ID, targets []ID, rank *[3][]float64) {
	weight := walkAlphas()
	for i, alpha := range weight {
		weight[i] = 1 - alpha
		rank[i] = append(rank[i][:0], make([]float64, len(targets))...)
	}
	clear(w.step)
	w.step[source] = 1
	for range walkSteps {
		if ctx.Err() != nil {
			return
		}
		for j, v := range targets {
			for i := range rank {
				rank[i][j] += weight[i] * w.step[v]
			}
		}
		for i, alpha := range walkAlphas() {
			weight[i] *= alpha
		}
		w.walk(a)
	}
}

// walk makes one step.
func (w *walks) walk(a adjacency) {
	clear(w.next)
	for u, p := range w.step {
		if p != 0 && len(a[u]) > 0 {
			p /= float64(len(a[u]))
			for _, v := range a[u] {
				w.next[v] += p
			}
		}
	}
	w.step, w.next = w.next, w.step
}
