package model

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"kith/model/nn"
)

// words holds the nodes' feature vectors weighted as in a text index: entry times log(1 + n / (1 + nodes with this
// entry)), in rows of unit length, without the zeros.
type words struct {
	len    int // length of a vector
	rows   []sparse
	rarity []float32 // the logarithm, for each entry
	norm   []float32 // length of the rows before normalisation
}

// sparse holds the nonzero entries of a vector, in ascending order of their index.
type sparse struct {
	at    []uint32
	value []float32
}

// wordsOf reads the vectors of a world's nodes.
func wordsOf(c *config, w World) (words, error) {
	t := words{len: c.FeatureLen, rows: make([]sparse, w.Graph.NumNodes())}
	plain := config{FeatureLen: c.FeatureLen}
	f := make([]float32, t.len)
	holders := make([]float64, t.len)
	for u := range t.rows {
		if err := plain.vector(w, ID(u), f); err != nil {
			return t, err
		}
		for i, x := range f {
			if x != 0 {
				t.rows[u].at = append(t.rows[u].at, uint32(i))
				t.rows[u].value = append(t.rows[u].value, x)
				holders[i]++
			}
		}
	}
	n := float64(len(t.rows))
	for _, h := range holders {
		t.rarity = append(t.rarity, float32(math.Log1p(n/(1+h))))
	}
	for _, r := range t.rows {
		for i, at := range r.at {
			r.value[i] *= t.rarity[at]
		}
		t.norm = append(t.norm, float32(math.Sqrt(nn.Product64(r.value, r.value))))
		nn.Scale(r.value, 1)
	}
	return t, nil
}

// dense returns the rows as a dense matrix.
func (t words) dense() blas32.General {
	x := nn.Resize(blas32.General{}, len(t.rows), t.len)
	for u, r := range t.rows {
		to := nn.Row(x, u)
		for i, at := range r.at {
			to[at] = r.value[i]
		}
	}
	return x
}

// dot returns the scalar product with another sparse vector.
func (a sparse) dot(b sparse) (sum float64) {
	for i, j := 0, 0; i < len(a.at) && j < len(b.at); {
		switch {
		case a.at[i] < b.at[j]:
			i++
		case a.at[i] > b.at[j]:
			j++
		default:
			sum += float64(a.value[i]) * float64(b.value[j])
			i++
			j++
		}
	}
	return sum
}

// times returns the scalar product with a dense vector.
func (a sparse) times(b []float32) (sum float64) {
	for i, at := range a.at {
		sum += float64(a.value[i]) * float64(b[at])
	}
	return sum
}

// average returns N x, N = D⁻¹A, or with self W x, W = (D + I)⁻¹(A + I): the mean over the neighbours, with self also
// over the node itself. A node without neighbours gets zeros in N x.
func (a adjacency) average(ctx context.Context, x blas32.General, self bool) (blas32.General, error) {
	y := nn.Resize(blas32.General{}, x.Rows, x.Cols)
	return y, nn.Parallel(ctx, len(a), func(u int) {
		to := blas32.Vector{N: y.Cols, Inc: 1, Data: nn.Row(y, u)}
		n := len(a[u])
		if self {
			n++
			copy(to.Data, nn.Row(x, u))
		}
		for _, w := range a[u] {
			blas32.Axpy(1, blas32.Vector{N: x.Cols, Inc: 1, Data: nn.Row(x, int(w))}, to)
		}
		if n > 1 {
			blas32.Scal(1/float32(n), to)
		}
	})
}

// smooth returns (1-α) Σ αᵏ Nᵏ x over the first stepsOf(α) terms.
func (a adjacency) smooth(ctx context.Context, alpha float64, x blas32.General) (blas32.General, error) {
	all := func(m blas32.General) blas32.Vector { return blas32.Vector{N: len(m.Data), Inc: 1, Data: m.Data} }
	sum := nn.Resize(blas32.General{}, x.Rows, x.Cols)
	weight := 1 - alpha
	for range stepsOf(alpha) {
		blas32.Axpy(float32(weight), all(x), all(sum))
		var err error
		if x, err = a.average(ctx, x, false); err != nil {
			return sum, err
		}
		weight *= alpha
	}
	return sum, nil
}

// stepsOf returns the number of steps after which αᵏ has fallen to about 1/1000, at most walkSteps.
func stepsOf(alpha float64) int {
	return min(int(math.Log(1e-3)/math.Log(alpha)), walkSteps)
}

// content is what the nodes' words T tell without any edge.
type content struct {
	words
	topics blas32.General // basis of the latent vectors, one row for each word
	vector blas32.General // latent vectors, one row for each node
	kin    adjacency
}

// contentOf returns nil for nodes without feature vectors. Latent vectors have at most the given length.
func contentOf(ctx context.Context, c *config, w World, length int) (*content, error) {
	if c.FeatureLen == 0 {
		return nil, nil
	}
	t := &content{}
	var err error
	if t.words, err = wordsOf(c, w); err != nil {
		return nil, err
	}
	if t.topics, err = t.words.topics(ctx, length); err != nil {
		return nil, err
	}
	if t.vector, err = combined(ctx, t.rows, t.topics); err != nil {
		return nil, err
	}
	t.kin, err = t.words.kin(ctx)
	return t, err
}

const (
	latentLen   = 100 // largest length of a latent vector of pair_net
	latentSteps = 5   // steps of the subspace iteration
)

// topics returns one row for each word with its entries of the n largest right singular vectors of T. The scalar
// products of nodes' words in these coordinates approximate those of the words, without what only few nodes have in
// common: latent semantic analysis (Deerwester et al., JASIS 41, 1990), by subspace iteration from random vectors
// (Halko, Martinsson and Tropp, SIAM Review 53, 2011, algorithm 4.4).
func (t words) topics(ctx context.Context, n int) (blas32.General, error) {
	rng := rand.New(rand.NewPCG(0, 0)) // the start hardly affects the result
	basis := nn.Resize(blas32.General{}, t.len, min(n, t.len))
	for i := range basis.Data {
		basis.Data[i] = float32(rng.NormFloat64())
	}
	columns := t.transpose()
	for range latentSteps {
		nodes, err := combined(ctx, t.rows, basis)
		if err != nil {
			return nodes, err
		}
		if basis, err = combined(ctx, columns, nodes); err != nil {
			return nodes, err
		}
		orthonormalise(basis)
	}
	return basis, nil
}

// combined returns the product of a sparse matrix and x.
func combined(ctx context.Context, sparse []sparse, x blas32.General) (blas32.General, error) {
	y := nn.Resize(blas32.General{}, len(sparse), x.Cols)
	return y, nn.Parallel(ctx, len(sparse), func(i int) { sparse[i].combine(1, x, nn.Row(y, i)) })
}

// orthonormalise replaces the columns of x by an orthonormal basis of their span. x must not have more columns than
// rows.
func orthonormalise(x blas32.General) {
	m := mat.NewDense(x.Rows, x.Cols, nil)
	for i := range x.Rows {
		for j, v := range nn.Row(x, i) {
			m.Set(i, j, float64(v))
		}
	}
	var qr mat.QR
	qr.Factorize(m)
	var q mat.Dense
	qr.QTo(&q)
	for i := range x.Rows {
		for j := range x.Cols {
			nn.Row(x, i)[j] = float32(q.At(i, j))
		}
	}
}

// adjacency holds the neighbours of every node in ascending order, without the node itself. Each edge counts in both
// directions; weights are ignored.
type adjacency [][]ID

func adjacencyOf(g Graph) adjacency {
	a := make(adjacency, g.NumNodes())
	for u := range a {
		out, _ := g.Out(ID(u))
		row := slices.Clone(out)
		if g.Directed() {
			in, _ := g.In(ID(u))
			row = append(row, in...)
			slices.Sort(row)
			row = slices.Compact(row)
		}
		a[u] = slices.DeleteFunc(row, func(v ID) bool { return v == ID(u) })
	}
	return a
}

const (
	kinLinks  = 5       // links from each node to nodes with similar words
	maxShared = 1 << 34 // kin gives up above this number of pairs of nodes that share a word, counted once per shared word
)

// kin links each node to the kinLinks nodes with the most similar words. A link from either end counts. If too many
// pairs share words (maxShared), there are no links.
func (t words) kin(ctx context.Context) (adjacency, error) {
	links, columns := make(adjacency, len(t.rows)), t.transpose()
	shared := 0
	for _, c := range columns {
		shared += len(c.at) * len(c.at)
	}
	if shared > maxShared {
		return links, nil
	}
	best := make([][]ID, len(t.rows))
	scratch := sync.Pool{New: func() any { v := make([]float32, len(t.rows)); return &v }}
	err := nn.Parallel(ctx, len(t.rows), func(u int) {
		p := scratch.Get().(*[]float32)
		defer scratch.Put(p)
		similar := *p
		clear(similar)
		for i, w := range t.rows[u].at {
			for j, v := range columns[w].at {
				similar[v] += t.rows[u].value[i] * columns[w].value[j]
			}
		}
		similar[u] = 0
		best[u] = largest(similar, kinLinks)
	})
	for u, row := range best {
		for _, v := range row {
			links[u] = append(links[u], v)
			links[v] = append(links[v], ID(u))
		}
	}
	return links.union(make(adjacency, len(links))), err
}

// largest returns the indices of the k largest positive entries. Of equal entries the first wins.
func largest(of []float32, k int) (at []ID) {
	for v, x := range of {
		if x <= 0 || len(at) == k && x <= of[at[k-1]] {
			continue
		}
		i := len(at)
		for i > 0 && of[at[i-1]] < x {
			i--
		}
		at = slices.Insert(at[:min(len(at), k-1)], i, ID(v))
	}
	return at
}

// union returns the links of a and b without duplicates.
func (a adjacency) union(b adjacency) adjacency {
	all := make(adjacency, len(a))
	for u := range all {
		all[u] = slices.Concat(a[u], b[u])
		slices.Sort(all[u])
		all[u] = slices.Compact(all[u])
	}
	return all
}
