package spectral

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/nn"
)

// spectrum is a truncated singular value decomposition, N ≈ UΣVᵀ, of the adjacency matrix A with
// the degrees of its nodes partly divided out: N[u, v] = A[u, v] / (d(u) d(v))^(1/4), where d(u)
// counts the edges out of u and d(v) the edges into v. It describes the graph at the time of the
// computation. Weights are ignored, and so are loops except in the degrees. On an undirected graph
// it is the eigendecomposition: the entries of Σ have signs and V is U.
//
// The eigenvalues of an undirected bipartite graph come in pairs, σ and -σ, whose vectors differ in
// the sign of the nodes of one part. Only σ is kept, and a row of length 1 for both vectors of a
// pair: for nodes of different parts all formulas are the same, and for nodes of one part they give
// 0.
//
// Its columns are the estimates of linear autoencoders. With the full decomposition, EASE (Steck,
// WWW 2019) on N is, for a pair without an edge, y(u, v) = Σ U[u, i] f(Σ[i]) V[v, i] / (1 -
// leverage of v) with f(s) = s³/(s² + λ). The columns multiply y by (d(u) d(v))^(1/4), the factor
// between N and A.
type spectrum struct {
	rows             // of all nodes, unless there are pages
	pages  *pages    // nil: all rows are in memory
	value  []float32 // diagonal of Σ, descending by absolute value
	square float64   // mean square of all singular values of N

	directed bool
	parts    []byte // of an undirected bipartite graph: 1 or 2, the part of each node; nil: another graph

	filter   [numRidges][]float32 // f(Σ) for each ridge
	cube     []float32            // Σ³
	leverage [numEase][]float32   // s²/(s² + λ) at easeRidges: weight of a node's own entries
}

// rows are the rows of a spectrum of consecutive nodes.
type rows struct {
	first   ID           // the first node
	out     factor       // U; on an undirected graph, it is in
	in      factor       // V
	targets []rowNumbers // numbers of the rows of V
}

// nodes returns the number of nodes.
func (s *spectrum) nodes() int {
	if s.pages != nil {
		return s.pages.nodes
	}
	return s.in.row.Rows
}

// rowsOf returns rows with those of u, which must be less than nodes.
func (s *spectrum) rowsOf(u ID) *rows {
	if s.pages != nil {
		return s.pages.rows(u)
	}
	return &s.rows
}

// has reports whether V has a row of u that is not all zeros. The row of a node that had no edges
// at the time of the computation is.
func (s *spectrum) has(u ID) bool {
	if int(u) >= s.nodes() {
		return false
	}
	r := s.rowsOf(u)
	return hasRow(r.in.row, u-r.first)
}

// factor is U or V, with one row for each node.
type factor struct {
	row  blas32.General
	root blas32.General // the fourth root of the degree of each node, 0 for a node that does not exist; one column
}

// ofOut returns the row of U of a node, and its root.
func (r *rows) ofOut(u ID) (row []float32, root float32) { return r.out.of(u - r.first) }

// ofIn is ofOut for V.
func (r *rows) ofIn(u ID) (row []float32, root float32) { return r.in.of(u - r.first) }

func (f *factor) of(i ID) (row []float32, root float32) {
	return nn.Row(f.row, int(i)), f.root.Data[i]
}

// rootOf returns the fourth root of a degree, 1 for a node without edges.
func rootOf(degree int) float32 { return float32(math.Sqrt(math.Sqrt(float64(max(degree, 1))))) }

// rootsOf returns the fourth roots of the degrees of all nodes.
func rootsOf(g Graph, degree func(Graph, ID) int) blas32.General {
	x := nn.Resize(blas32.General{}, g.NumNodes(), 1)
	for u := range x.Data {
		x.Data[u] = rootOf(degree(g, ID(u)))
	}
	return x
}

// rowNumbers are the sums over a row of U or V that the columns of a pair need.
type rowNumbers struct {
	left   [numEase]float64 // 1 - the leverage of the row at each of easeRidges, at least 0.05
	length float64          // Euclidean length of the row of U√f or V√f
}

// ridges returns the values of λ as multiples of the mean square of the singular values.
func ridges() [numRidges]float64 { return [...]float64{0.5, 2, 6, 16} }

// easeRidges returns the indices of the ridges whose y has a column with leverage.
func easeRidges() [numEase]int { return [...]int{middleRidge, 3} }

const (
	numRidges   = 4
	numEase     = 2
	middleRidge = 1
)

// Columns of a spectrum, in order. All but the last are near 0 for most pairs and near 1 for edges
// that other edges imply.
const (
	spectralRidge   = 0                         // y without leverage, one column per ridge; the columns below use ridge 2 unless stated otherwise
	spectralEase    = spectralRidge + numRidges // y at easeRidges, the mean of the two directions
	spectralReverse = spectralEase + numEase    // y of the reverse pair, without leverage
	spectralTail    = spectralReverse + 1       // y without leverage from half the values, plus an estimate of the rest of the spectrum; without the estimate: y from all values
	spectralCosine  = spectralTail + 1          // cosine of the rows of U√f and V√f
	spectralLen     = spectralCosine + 1
)

// spectrumOf computes the k largest singular values and their vectors.
func spectrumOf(ctx context.Context, rng *rand.Rand, g Graph, k int, by iteration) (*spectrum, error) {
	s := &spectrum{directed: g.Directed(), parts: partsOf(g)}
	s.out.root = rootsOf(g, graph.OutLen)
	if s.in.root = s.out.root; s.directed {
		s.in.root = rootsOf(g, graph.InLen)
	}
	s.square = s.meanSquare(g)
	var err error
	switch {
	case s.directed:
		err = s.decomposeSquare(ctx, rng, g, k, by, nil, nil)
	case s.parts != nil:
		err = s.decomposeSquare(ctx, rng, g, k, by, nodesOf(s.parts, 1), nodesOf(s.parts, 2))
	default:
		l := nn.Krylov{Rng: rng, Power: 3, Product: s.forward(g).times}
		s.value, s.in.row, err = by.eigen(ctx, &l, g.NumNodes(), k, nil)
		s.out.row = s.in.row
	}
	if err != nil {
		return nil, err
	}
	s.clearUnlinked(g)
	s.prepare()
	s.readAllTargets()
	return s, ctx.Err()
}

// iteration says how a spectrum is computed.
type iteration struct {
	short bool      // by a shorter basis; see nn.Krylov
	near  *spectrum // of nearly the same graph, to start from; nil: none
}

// eigen returns the k eigenvalues and eigenvectors of l of dimension n. Its rows are of the given
// nodes; nil means all.
func (by iteration) eigen(ctx context.Context, l *nn.Krylov, n, k int, nodes []ID) ([]float32, blas32.General, error) {
	l.Short = by.short
	if by.near == nil || by.near.in.row.Cols != min(k, n) {
		return l.Eigen(ctx, n, k)
	}
	near := by.near.in.row
	if nodes != nil {
		near = nn.Resize(blas32.General{}, n, near.Cols)
		for i, u := range nodes {
			copy(nn.Row(near, i), nn.Row(by.near.in.row, int(u)))
		}
	}
	return l.Refine(ctx, near)
}

// decomposeSquare computes the decomposition from the eigenvectors of NᵀN. Of a bipartite graph, it
// is given the nodes of both parts, and N has a row for each node of one and a column for each node
// of the other.
func (s *spectrum) decomposeSquare(
	ctx context.Context, rng *rand.Rand, g Graph, k int, by iteration, rows, cols []ID,
) (err error) {
	n := g.NumNodes()
	forward, back := s.forward(g), normalised{g: g, rows: graph.In, own: s.in.root.Data, other: s.out.root.Data}
	if s.parts != nil {
		if len(cols) > len(rows) {
			rows, cols = cols, rows
		}
		n = len(cols)
		forward.nodes, back.nodes = rows, cols
		forward.place = placesOf(g.NumNodes(), rows, cols)
		back.place = forward.place
	}
	var between blas32.General
	l := nn.Krylov{Rng: rng, Power: 2, Product: func(ctx context.Context, x, y blas32.General) error {
		between = nn.Resize(between, cmp.Or(len(rows), n), x.Cols)
		if err := forward.times(ctx, x, between); err != nil {
			return err
		}
		return back.times(ctx, between, y)
	}}
	if s.value, s.in.row, err = by.eigen(ctx, &l, n, k, cols); err != nil {
		return err
	}
	for i, v := range s.value {
		s.value[i] = float32(math.Sqrt(math.Max(float64(v), 0)))
	}
	if s.parts == nil {
		s.out.row = nn.RowByRow(ctx, n, s.in.row.Cols, func(u int, row []float32) { s.foldOut(g, ID(u), row) })
		return nil
	}
	of := s.in.row
	s.in.row = nn.Resize(blas32.General{}, g.NumNodes(), of.Cols)
	for i, v := range cols {
		copy(nn.Row(s.in.row, int(v)), nn.Row(of, i))
	}
	s.out.row = s.in.row
	return nn.Parallel(ctx, len(rows), func(i int) { s.foldOut(g, rows[i], nn.Row(s.in.row, int(rows[i]))) })
}

// foldOut computes the row of U of a node, its row of NVΣ⁻¹.
func (s *spectrum) foldOut(g Graph, u ID, row []float32) {
	s.foldIn(u, graph.Out(g, u), (*rows).ofIn, row)
}

// partsOf returns the parts of an undirected bipartite graph, 1 or 2 for each node; loops do not
// count. The first node of a component is in part 1. It returns nil for other graphs, and for one
// without edges.
func partsOf(g Graph) []byte {
	if g.Directed() {
		return nil
	}
	parts := make([]byte, g.NumNodes())
	var queue []ID
	for first := range parts {
		if parts[first] != 0 {
			continue
		}
		parts[first] = 1
		for queue = append(queue[:0], ID(first)); len(queue) > 0; {
			u := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, v := range graph.Out(g, u) {
				switch {
				case v == u:
				case parts[v] == parts[u]:
					return nil
				case parts[v] == 0:
					parts[v] = 3 - parts[u]
					queue = append(queue, v)
				}
			}
		}
	}
	if !slices.Contains(parts, 2) {
		return nil
	}
	return parts
}

// part returns the part of a node of a bipartite graph, also of a node that was added later. It is
// 0 if it is unknown, or if the graph is not bipartite.
func (s *spectrum) part(g Graph, u ID) byte {
	switch {
	case s.parts == nil:
		return 0
	case s.has(u):
		return s.parts[u]
	}
	for _, v := range graph.Out(g, u) {
		if s.has(v) {
			return 3 - s.parts[v]
		}
	}
	return 0
}

// together reports whether two nodes are in the same part of a bipartite graph.
func (s *spectrum) together(g Graph, part byte, v ID) bool { return part != 0 && s.part(g, v) == part }

// nodesOf returns the nodes of a part.
func nodesOf(parts []byte, part byte) (nodes []ID) {
	for u, p := range parts {
		if p == part {
			nodes = append(nodes, ID(u))
		}
	}
	return nodes
}

// placesOf returns the place of each of n nodes in its list.
func placesOf(n int, lists ...[]ID) []uint32 {
	places := make([]uint32, n)
	for _, nodes := range lists {
		for i, u := range nodes {
			places[u] = uint32(i)
		}
	}
	return places
}

// meanSquare returns the mean square of the singular values of N, which is the sum of the squares
// of its entries divided by the number of nodes.
func (s *spectrum) meanSquare(g Graph) (sum float64) {
	for u, root := range s.out.root.Data {
		for _, v := range graph.Out(g, ID(u)) {
			if int(v) != u {
				x := 1 / float64(root*s.in.root.Data[v])
				sum += x * x
			}
		}
	}
	return sum / float64(max(g.NumNodes(), 1))
}

// normalised multiplies matrices by N or its transpose, or by a part of these.
type normalised struct {
	g          Graph
	rows       func(Graph, ID) []ID
	own, other []float32 // roots of the nodes of the result and of the factor
	nodes      []ID      // of the rows of the result; nil: all
	place      []uint32  // of a node among the rows of the factor; nil: nodes are their own places
}

// forward returns N.
func (s *spectrum) forward(g Graph) *normalised {
	return &normalised{g: g, rows: graph.Out, own: s.out.root.Data, other: s.in.root.Data}
}

// times sets y to the product of the matrix and x.
func (p *normalised) times(ctx context.Context, x, y blas32.General) error {
	return nn.InBlocks(ctx, y.Rows, func(first, end int) {
		for i := first; i < end; i++ {
			u, sum := ID(i), nn.Row(y, i)
			if p.nodes != nil {
				u = p.nodes[i]
			}
			clear(sum)
			for _, v := range p.rows(p.g, u) {
				if v == u {
					continue
				}
				at := uint32(v)
				if p.place != nil {
					at = p.place[v]
				}
				nn.Axpy(1/(p.own[u]*p.other[v]), nn.Row(x, int(at)), sum)
			}
		}
	})
}

// clearUnlinked sets the rows of V of nodes without in-edges other than a loop to 0, their exact
// value. A vector that has not converged still contains a part of the random start vector.
func (s *spectrum) clearUnlinked(g Graph) {
	for v := range s.in.row.Rows {
		if column.CountWithout(graph.In(g, ID(v)), ID(v)) == 0 {
			clear(nn.Row(s.in.row, v))
		}
	}
}

// foldIn computes the row of a node with the given neighbours, the sum of their entries of N times
// their rows of the factor other, divided by Σ, and its root.
func (s *spectrum) foldIn(u ID, neighbours []ID, other func(*rows, ID) ([]float32, float32), into []float32) (row []float32, root float32) {
	clear(into)
	for _, v := range neighbours {
		if v != u && int(v) < s.nodes() {
			row, root := other(s.rowsOf(v), v)
			nn.Axpy(1/max(root, 1), row, into)
		}
	}
	root = rootOf(len(neighbours))
	for i, v := range s.value {
		if math.Abs(float64(v)) > 1e-3*math.Abs(float64(s.value[0])) {
			into[i] /= v * root
		} else {
			into[i] = 0
		}
	}
	return into, root
}

// prepare computes the fields that follow from the singular values.
func (s *spectrum) prepare() {
	for r, c := range ridges() {
		s.filter[r] = make([]float32, len(s.value))
		for i, v := range s.value {
			x := float64(v)
			s.filter[r][i] = float32(x * x * x / (x*x + c*s.square + 1e-9))
		}
	}
	for i, v := range s.value {
		if i < (len(s.value)+1)/2 {
			s.cube = append(s.cube, v*v*v)
		}
		for k, r := range easeRidges() {
			s.leverage[k] = append(s.leverage[k], 0)
			if v != 0 {
				s.leverage[k][i] = s.filter[r][i] / v
			}
		}
	}
}

// readAllTargets computes the numbers of all rows of V.
func (s *spectrum) readAllTargets() {
	s.targets = make([]rowNumbers, s.in.row.Rows)
	s.readTargets(0, len(s.targets))
}

// readTargets computes the numbers of the rows of V from row first up to but not including row end.
func (s *spectrum) readTargets(first, end int) {
	for v := first; v < end; v++ {
		s.targets[v] = s.numbers(nn.Row(s.in.row, v))
	}
}

// numbers returns the numbers of a row of U or V.
func (s *spectrum) numbers(x []float32) (n rowNumbers) {
	for k, leverage := range s.leverage {
		sum := 0.0
		for i, v := range x {
			sum += float64(v * v * leverage[i])
		}
		n.left[k] = max(1-sum, 0.05)
	}
	sum := 0.0
	for i, v := range x {
		sum += float64(v * v * s.filter[middleRidge][i] * sign(s.value[i]))
	}
	n.length = math.Sqrt(sum)
	return n
}

// outOf returns the row of U of a node, and its root. For a node that is not in the decomposition
// or had no edges then, it computes the row from the node's edges in scratch.
func (s *spectrum) outOf(g Graph, u ID, scratch []float32) (row []float32, root float32) {
	if int(u) < s.nodes() {
		if r := s.rowsOf(u); hasRow(r.out.row, u-r.first) {
			return r.ofOut(u)
		}
	}
	return s.foldIn(u, graph.Out(g, u), (*rows).ofIn, scratch)
}

// inOf is outOf for V.
func (s *spectrum) inOf(g Graph, v ID, scratch []float32) (row []float32, root float32) {
	if s.has(v) {
		return s.rowsOf(v).ofIn(v)
	}
	return s.foldIn(v, graph.In(g, v), (*rows).ofOut, scratch)
}

// spectralSource holds the data of a source that the columns of its pairs need.
type spectralSource struct {
	*spectrum
	g        Graph
	source   ID
	weighted [numRidges][]float32 // row of U times each filter
	cubed    []float32            // row of U times the cubes
	tailed   []float32            // row of U times the middle filter, of the same length as cubed
	reverse  []float32            // row of V times the middle filter; on an undirected graph it is weighted[middleRidge]
	numbers  rowNumbers           // of the row of U
	root     float32              // of the row of U
	inRoot   float32              // of the row of V, on a directed graph
	part     byte                 // of the source, in a bipartite graph
	walks    []float32            // weights of the walks of two edges to each node, if counted; nil: too expensive to count
	counted  bool
	scratch  []float32
}

// read prepares the columns of pairs with a source. It does nothing if that source was read last,
// since the last release. It reuses the memory of f.
func (f *spectralSource) read(s *spectrum, g Graph, source ID) {
	if f.spectrum != nil && f.source == source {
		return
	}
	f.spectrum, f.g, f.source, f.walks, f.counted = s, g, source, nil, false
	f.part = s.part(g, source)
	if len(f.scratch) != len(s.value) {
		f.scratch = nn.NewVector(len(s.value))
	}
	u, root := s.outOf(g, source, f.scratch)
	f.root = root
	for r := range numRidges {
		f.weighted[r] = entries(f.weighted[r], u, s.filter[r])
	}
	h := len(s.cube)
	f.tailed = entries(f.tailed, u[:h], s.filter[middleRidge])
	f.cubed = entries(f.cubed, u[:h], s.cube)
	if !s.directed { // U and V have the same rows
		f.numbers = s.targetNumbers(source, u)
		return
	}
	f.numbers = s.numbers(u)
	v, inRoot := s.inOf(g, source, f.scratch)
	f.reverse, f.inRoot = entries(f.reverse, v, s.filter[middleRidge]), inRoot
}

// release forgets the source. The caller must call it before it reads another world.
func (f *spectralSource) release() { f.spectrum, f.g = nil, nil }

// entries returns the product of a and b entry by entry, in the memory of c if that is large
// enough.
func entries(c, a, b []float32) []float32 {
	c = c[:0]
	for i, x := range a {
		c = append(c, x*b[i])
	}
	return c
}

func sign(v float32) float32 { return float32(math.Copysign(1, float64(v))) }

// columns fills the columns of the pair with a target. walks is as in vectorColumns.
func (f *spectralSource) columns(target ID, walks float64, x []float32) {
	if f.together(f.g, f.part, target) {
		clear(x)
		return
	}
	v, root := f.inOf(f.g, target, f.scratch)
	for r, w := range f.weighted {
		x[spectralRidge+r] = nn.Dot(w, v)
	}
	y := float64(x[spectralRidge+middleRidge])
	other := f.targetNumbers(target, v)
	for k, r := range easeRidges() {
		z := float64(x[spectralRidge+r])
		x[spectralEase+k] = float32((z/f.numbers.left[k] + z/other.left[k]) / 2)
	}
	toA := f.root * root // the factor between N and A
	x[spectralTail] = float32(y)
	if n, ok := f.walksTo(target, walks); ok && f.square > 0 {
		// The filter of small values is nearly linear in s³: s² + λ is approximated by 2λ.
		h := v[:len(f.cubed)]
		x[spectralTail] = nn.Dot(f.tailed, h) + float32((n/float64(max(toA, 1))-nn.Product64(f.cubed, h))/(4*f.square))
	}
	for i := range spectralCosine {
		if i != spectralReverse {
			x[i] = logarithmic(x[i] * toA)
		}
	}
	if x[spectralReverse] = x[spectralRidge+middleRidge]; f.directed {
		u, root := f.outOf(f.g, target, f.scratch)
		x[spectralReverse] = logarithmic(nn.Dot(f.reverse, u) * f.inRoot * root)
	}
	x[spectralCosine] = float32(y / math.Max(f.numbers.length*other.length, minLength))
}

// walksTo returns the weight of the walks of three edges to a target, as in column.PairStats:
// known, or if that is negative, what it computes. It reports false on a directed graph, whose N³
// is not UΣ³Vᵀ, and if the computation is too expensive.
func (f *spectralSource) walksTo(target ID, known float64) (weight float64, ok bool) {
	if f.directed || f.g.NumNodes() > maxCounted {
		return 0, false
	}
	if known >= 0 {
		return known, true
	}
	if !f.counted {
		f.walks, f.counted = twoEdgeWalks(f.g, f.source), true
	}
	if f.walks == nil {
		return 0, false
	}
	for _, w := range graph.In(f.g, target) {
		if w != target {
			weight += float64(f.walks[w])
		}
	}
	return weight, true
}

// targetNumbers returns the numbers of row v of V, the row of a target.
func (s *spectrum) targetNumbers(target ID, v []float32) rowNumbers {
	if s.has(target) {
		r := s.rowsOf(target)
		return r.targets[target-r.first]
	}
	return s.numbers(v)
}

// minLength is the product of lengths below which rows of U and V are rounding errors.
const minLength = 1e-4

// logarithmic scales values of either sign so that small values remain distinguishable.
func logarithmic(y float32) float32 { return float32(math.Asinh(50 * float64(y))) }

// Walks of three edges are counted on graphs of up to maxCounted nodes, from sources whose
// neighbours have up to maxCountedEdges edges.
const (
	maxCounted      = 1 << 16
	maxCountedEdges = 1 << 22
)

// twoEdgeWalks returns the weight of the walks of two edges from a source to every node: each is
// divided by the root of the degrees of its second and its last node. It returns nil if that is too
// expensive.
func twoEdgeWalks(g Graph, source ID) []float32 {
	out := graph.Out(g, source)
	edges := 0
	for _, w := range out {
		edges += graph.OutLen(g, w)
	}
	if edges > maxCountedEdges {
		return nil
	}
	walks := make([]float32, g.NumNodes())
	for _, w := range out {
		if w == source {
			continue
		}
		next := graph.Out(g, w)
		weight := float32(1 / math.Sqrt(float64(len(next))))
		for _, v := range next {
			if v != w {
				walks[v] += weight
			}
		}
	}
	for v, weight := range walks {
		if weight != 0 {
			walks[v] = weight / float32(math.Sqrt(float64(graph.OutLen(g, ID(v)))))
		}
	}
	return walks
}
