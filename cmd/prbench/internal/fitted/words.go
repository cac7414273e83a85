package fitted

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"kith/model/nn"
)

// words holds the nodes' feature vectors weighted as in a text index: entry times log(1 + n / (1 +
// nodes with this entry)), in rows of unit length, without the zeros.
type words struct {
	len    int // length of a vector
	rows   []nn.Sparse
	rarity []float32 // the logarithm, for each entry
}

// wordsOf reads the vectors of a world's nodes.
func wordsOf(c *config, w World) (words, error) {
	t := words{len: c.FeatureLen, rows: make([]nn.Sparse, w.Graph.NumNodes())}
	f := make([]float32, t.len)
	holders := make([]float64, t.len)
	for u := range t.rows {
		clear(f)
		if w.Features != nil {
			from := w.Features(ID(u))
			if len(from) > len(f) {
				return t, fmt.Errorf("node %d has %d features, want %d", u, len(from), len(f))
			}
			copy(f, from)
		}
		t.rows[u].AppendVector(f)
		for _, at := range t.rows[u].At {
			holders[at]++
		}
	}
	n := float64(len(t.rows))
	for _, h := range holders {
		t.rarity = append(t.rarity, float32(math.Log1p(n/(1+h))))
	}
	for u, r := range t.rows {
		t.rows[u] = wordRow(r, t.rarity)
	}
	return t, nil
}

// wordRow returns the row of a feature vector: its entries times their rarity, scaled to length 1.
// Entries without a rarity are left out.
func wordRow(of nn.Sparse, rarity []float32) nn.Sparse {
	known, _ := slices.BinarySearch(of.At, uint32(len(rarity)))
	row := nn.Sparse{At: of.At[:known], Value: make([]float32, known)}
	square := 0.0
	for i, at := range row.At {
		x := float64(of.Value[i]) * float64(rarity[at])
		square += x * x
	}
	if square == 0 {
		return nn.Sparse{}
	}
	for i, at := range row.At {
		row.Value[i] = float32(float64(of.Value[i]) * float64(rarity[at]) / math.Sqrt(square))
	}
	return row
}

// dense returns the rows as a dense matrix.
func (t words) dense() blas32.General {
	x := nn.Resize(blas32.General{}, len(t.rows), t.len)
	for u, r := range t.rows {
		to := nn.Row(x, u)
		for i, at := range r.At {
			to[at] = r.Value[i]
		}
	}
	return x
}

// average returns N x, N = D⁻¹A, or with self W x, W = (D + I)⁻¹(A + I): the mean over the
// neighbours, with self also over the node itself. A node without neighbours gets zeros in N x.
func (a adjacency) average(ctx context.Context, x blas32.General, self bool) blas32.General {
	return rowByRow(ctx, len(a), x.Cols, func(u int, to []float32) {
		n := len(a[u])
		if self {
			n++
			copy(to, nn.Row(x, u))
		}
		for _, w := range a[u] {
			nn.AddTo(to, nn.Row(x, int(w)))
		}
		if n > 1 {
			blas32.Scal(1/float32(n), blas32.Vector{N: len(to), Inc: 1, Data: to})
		}
	})
}

// unitAverages returns x, Wx, W²x and so on, n matrices, with rows of length 1.
func (a adjacency) unitAverages(ctx context.Context, x blas32.General, n int) (all []blas32.General) {
	for k := range n {
		if k > 0 {
			x = a.average(ctx, x, true)
		}
		all = append(all, nn.UnitRows(x))
	}
	return all
}

// rowByRow returns a matrix whose rows fill computes, in parallel. If ctx ends, some rows are zero.
// Callers compute several matrices and then check ctx once.
func rowByRow(ctx context.Context, rows, cols int, fill func(i int, row []float32)) blas32.General {
	y := nn.Resize(blas32.General{}, rows, cols)
	_ = nn.Parallel(ctx, rows, func(i int) { fill(i, nn.Row(y, i)) })
	return y
}

// smooth returns (1-α) Σ αᵏ Nᵏ x over the first stepsOf(α) terms.
func (a adjacency) smooth(ctx context.Context, alpha float64, x blas32.General) blas32.General {
	sum := nn.Resize(blas32.General{}, x.Rows, x.Cols)
	weight := 1 - alpha
	for range stepsOf(alpha) {
		nn.Axpy(float32(weight), x.Data, sum.Data)
		x = a.average(ctx, x, false)
		weight *= alpha
	}
	return sum
}

// stepsOf returns the number of steps after which αᵏ has fallen to about 1/1000, at most walkSteps.
func stepsOf(alpha float64) int {
	return min(int(math.Log(1e-3)/math.Log(alpha)), walkSteps)
}

// content holds the data that depend on the nodes' words T alone, not on edges.
type content struct {
	words
	topics blas32.General // basis of the latent vectors, one row for each word
	vector blas32.General // latent vectors, one row for each node
	kin    adjacency
}

// contentOf returns nil for nodes without feature vectors. Latent vectors have at most the given
// length.
func contentOf(ctx context.Context, c *config, w World, length int) (*content, error) {
	if c.FeatureLen == 0 {
		return nil, nil
	}
	words, err := wordsOf(c, w)
	if err != nil {
		return nil, err
	}
	topics := words.topics(ctx, length)
	return &content{words, topics, sparseProduct(ctx, words.rows, topics), words.kin(ctx)}, ctx.Err()
}

const (
	latentLen   = 100 // largest length of a latent vector of pair_net
	latentSteps = 5   // steps of the subspace iteration
)

// topics returns one row for each word with its entries of the n largest right singular vectors of
// T. The scalar products of nodes' words in these coordinates approximate the products of the
// words, without words that only few nodes share: latent semantic analysis (Deerwester et al.,
// JASIS 41, 1990), by subspace iteration from random vectors (Halko, Martinsson and Tropp, SIAM
// Review 53, 2011, algorithm 4.4).
func (t words) topics(ctx context.Context, n int) blas32.General {
	rng := rand.New(rand.NewPCG(0, 0)) // the start hardly affects the result
	basis := nn.Resize(blas32.General{}, t.len, min(n, t.len))
	for i := range basis.Data {
		basis.Data[i] = float32(rng.NormFloat64())
	}
	columns := t.transpose()
	for i := 0; i < latentSteps && ctx.Err() == nil; i++ {
		basis = sparseProduct(ctx, columns, sparseProduct(ctx, t.rows, basis))
		orthonormalise(basis)
	}
	return basis
}

// transpose returns the nodes of each word.
func (t words) transpose() []nn.Sparse {
	columns := make([]nn.Sparse, t.len)
	for u, r := range t.rows {
		for i, at := range r.At {
			columns[at].Append(u, r.Value[i])
		}
	}
	return columns
}

// sparseProduct returns the product of a sparse matrix and x.
func sparseProduct(ctx context.Context, sparse []nn.Sparse, x blas32.General) blas32.General {
	return rowByRow(ctx, len(sparse), x.Cols, func(i int, row []float32) { sparse[i].Combine(1, x, row) })
}

// orthonormalise replaces the columns of x by an orthonormal basis of their span. x must not have
// more columns than rows.
func orthonormalise(x blas32.General) {
	m := mat.NewDense(x.Rows, x.Cols, nil)
	for i := range x.Rows {
		for j, v := range nn.Row(x, i) {
			m.Set(i, j, float64(v))
		}
	}
	// mat.QR would make all columns of Q, as many as x has rows.
	q, tau := m.RawMatrix(), make([]float64, x.Cols)
	size := []float64{0}
	lapack64.Geqrf(q, tau, size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Geqrf(q, tau, work, len(work))
	lapack64.Orgqr(q, tau, size, -1)
	work = make([]float64, int(size[0]))
	lapack64.Orgqr(q, tau, work, len(work))
	for i := range x.Rows {
		for j := range x.Cols {
			nn.Row(x, i)[j] = float32(m.At(i, j))
		}
	}
}

// adjacency holds the neighbours of every node in ascending order, without the node itself. Each
// edge counts in both directions; weights are ignored.
type adjacency [][]ID

func adjacencyOf(g Graph) adjacency {
	a := make(adjacency, g.NumNodes())
	for u := range a {
		a[u] = slices.Clone(neighboursOf(g, ID(u)))
	}
	return a
}

const (
	kinLinks  = 5       // links from each node to nodes with similar words
	maxShared = 1 << 34 // kin gives up above this number of pairs of nodes that share a word, counted once per shared word
)

// kin links each node to the kinLinks nodes with the most similar words. A link from either end
// counts. If too many pairs share words (maxShared), there are no links.
func (t words) kin(ctx context.Context) adjacency {
	links, columns := make(adjacency, len(t.rows)), t.transpose()
	shared := 0
	for _, c := range columns {
		shared += len(c.At) * len(c.At)
	}
	if shared > maxShared {
		return links
	}
	best := make([][]ID, len(t.rows))
	scratch := sync.Pool{New: func() any { v := make([]float32, len(t.rows)); return &v }}
	_ = nn.Parallel(ctx, len(t.rows), func(u int) {
		p := scratch.Get().(*[]float32)
		defer scratch.Put(p)
		similar := *p
		clear(similar)
		for i, w := range t.rows[u].At {
			for j, v := range columns[w].At {
				similar[v] += t.rows[u].Value[i] * columns[w].Value[j]
			}
		}
		similar[u] = 0
		best[u] = largest(similar, kinLinks, 0)
	})
	for u, row := range best {
		for _, v := range row {
			links[u] = append(links[u], v)
			links[v] = append(links[v], ID(u))
		}
	}
	for u, row := range links {
		slices.Sort(row)
		links[u] = slices.Compact(row)
	}
	return links
}

// largest returns the indices of the k largest entries above bar, largest first. Equal entries are
// in order of their index.
func largest(of []float32, k int, bar float32) []ID {
	var at []ID // contains the k best so far
	prune := func() {
		slices.SortFunc(at, func(a, b ID) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
		at = at[:min(k, len(at))]
	}
	for v, x := range of {
		if x <= bar {
			continue
		}
		if at = append(at, ID(v)); len(at) >= 4*k+64 {
			if prune(); len(at) > 0 {
				bar = of[at[len(at)-1]]
			}
		}
	}
	prune()
	return at
}

// union returns the links of a and b without duplicates.
func (a adjacency) union(b adjacency) adjacency {
	all := make(adjacency, len(a))
	for u := range all {
		all[u] = merged(a[u], b[u])
	}
	return all
}

// neighboursOf returns the nodes other than u that are linked with u in either direction,
// ascending.
func neighboursOf(g Graph, u ID) []ID {
	near, _ := g.Out(u)
	if g.Directed() {
		in, _ := g.In(u)
		near = merged(near, in)
	}
	if at, loop := slices.BinarySearch(near, u); loop {
		return slices.Concat(near[:at], near[at+1:])
	}
	return near
}

// merged returns the union of two ascending rows.
func merged(a, b []ID) []ID {
	all := make([]ID, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			all, a = append(all, a[0]), a[1:]
		case a[0] > b[0]:
			all, b = append(all, b[0]), b[1:]
		default:
			all, a, b = append(all, a[0]), a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}
