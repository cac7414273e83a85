package nn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Words holds the nodes' feature vectors weighted as in a text index: entry times log(1 + n / (1 +
// nodes with this entry)), in rows of unit length, without the zeros.
type Words struct {
	Len    int // length of a vector
	Rows   []Sparse
	Rarity []float32 // the logarithm, for each entry
}

// WordsOf returns the words of feature vectors of a length, and replaces the vectors by their rows.
func WordsOf(vectors []Sparse, length int) Words {
	t := Words{Len: length, Rows: vectors}
	holders := make([]float64, t.Len)
	for _, v := range vectors {
		for _, at := range v.At {
			holders[at]++
		}
	}
	n := float64(len(t.Rows))
	for _, h := range holders {
		t.Rarity = append(t.Rarity, float32(math.Log1p(n/(1+h))))
	}
	for u, v := range vectors {
		t.Rows[u] = WordRow(v, t.Rarity)
	}
	return t
}

// WordRow returns the row of a feature vector: its entries times their rarity, scaled to length 1.
// Entries without a rarity are left out.
func WordRow(of Sparse, rarity []float32) Sparse {
	known, _ := slices.BinarySearch(of.At, uint32(len(rarity)))
	row := Sparse{At: of.At[:known], Value: make([]float32, known)}
	square := 0.0
	for i, at := range row.At {
		x := float64(of.Value[i]) * float64(rarity[at])
		square += x * x
	}
	if square == 0 {
		return Sparse{}
	}
	for i, at := range row.At {
		row.Value[i] = float32(float64(of.Value[i]) * float64(rarity[at]) / math.Sqrt(square))
	}
	return row
}

// Dense returns the rows as a dense matrix.
func (t Words) Dense() blas32.General {
	x := Resize(blas32.General{}, len(t.Rows), t.Len)
	for u, r := range t.Rows {
		to := Row(x, u)
		for i, at := range r.At {
			to[at] = r.Value[i]
		}
	}
	return x
}

// Content holds what depends on the nodes' words T alone, not on edges.
type Content struct {
	Words
	Topics blas32.General // basis of the latent vectors, one row for each word
	Vector blas32.General // latent vectors, one row for each node
	Kin    [][]uint32     // links from each node to nodes with similar words, in both directions, ascending
}

// Content returns the content of words. Latent vectors have at most the given length.
func (t Words) Content(ctx context.Context, length int) (*Content, error) {
	topics := t.topics(ctx, length)
	return &Content{t, topics, sparseProduct(ctx, t.Rows, topics), t.kin(ctx)}, ctx.Err()
}

// latentSteps is the number of steps of the subspace iteration.
const latentSteps = 5

// topics returns one row for each word with its entries of the n largest right singular vectors of
// T. The scalar products of nodes' words in these coordinates approximate the products of the
// words, without words that only few nodes share: latent semantic analysis (Deerwester et al.,
// JASIS 41, 1990), by subspace iteration from random vectors (Halko, Martinsson and Tropp, SIAM
// Review 53, 2011, algorithm 4.4).
func (t Words) topics(ctx context.Context, n int) blas32.General {
	rng := rand.New(rand.NewPCG(0, 0)) // the start hardly affects the result
	basis := Resize(blas32.General{}, t.Len, min(n, t.Len))
	for i := range basis.Data {
		basis.Data[i] = float32(rng.NormFloat64())
	}
	columns := t.Transpose()
	for i := 0; i < latentSteps && ctx.Err() == nil; i++ {
		basis = sparseProduct(ctx, columns, sparseProduct(ctx, t.Rows, basis))
		orthonormalise(basis)
	}
	return basis
}

// Transpose returns the nodes of each word.
func (t Words) Transpose() []Sparse {
	columns := make([]Sparse, t.Len)
	for u, r := range t.Rows {
		for i, at := range r.At {
			columns[at].Append(u, r.Value[i])
		}
	}
	return columns
}

const (
	kinLinks  = 5       // links from each node to nodes with similar words
	maxShared = 1 << 34 // kin gives up above this number of pairs of nodes that share a word, counted once per shared word
)

// kin links each node to the kinLinks nodes with the most similar words. A link from either end
// counts. If too many pairs share words (maxShared), there are no links.
func (t Words) kin(ctx context.Context) [][]uint32 {
	links, columns := make([][]uint32, len(t.Rows)), t.Transpose()
	shared := 0
	for _, c := range columns {
		shared += len(c.At) * len(c.At)
	}
	if shared > maxShared {
		return links
	}
	best := make([][]uint32, len(t.Rows))
	scratch := sync.Pool{New: func() any { v := make([]float32, len(t.Rows)); return &v }}
	_ = Parallel(ctx, len(t.Rows), func(u int) {
		p := scratch.Get().(*[]float32)
		defer scratch.Put(p)
		similar := *p
		clear(similar)
		for i, w := range t.Rows[u].At {
			for j, v := range columns[w].At {
				similar[v] += t.Rows[u].Value[i] * columns[w].Value[j]
			}
		}
		similar[u] = 0
		best[u] = Largest(similar, kinLinks, 0)
	})
	for u, row := range best {
		for _, v := range row {
			links[u] = append(links[u], v)
			links[v] = append(links[v], uint32(u))
		}
	}
	for u, row := range links {
		slices.Sort(row)
		links[u] = slices.Compact(row)
	}
	return links
}

// Largest returns the indices of the k largest entries above bar, largest first. Equal entries are
// in order of their index.
func Largest(of []float32, k int, bar float32) []uint32 {
	const shift = 20 // of what tells apart numbers that differ by an eighth
	var count [1 << (32 - shift)]int
	for _, x := range of {
		if x > bar {
			count[descending(x)>>shift]++
		}
	}
	last, n := 0, 0
	for ; last < len(count) && n < k; last++ {
		n += count[last]
	}
	best := make([]uint64, 0, n) // the entry, as descending returns it, and its index
	for v, x := range of {
		if x > bar && int(descending(x)>>shift) < last {
			best = append(best, uint64(descending(x))<<32|uint64(v))
		}
	}
	slices.Sort(best)
	at := make([]uint32, min(k, n))
	for i := range at {
		at[i] = uint32(best[i])
	}
	return at
}

// descending returns a number that is the smaller the larger x is.
func descending(x float32) uint32 {
	if b := math.Float32bits(x); b>>31 == 0 {
		return math.MaxInt32 - b
	} else {
		return b
	}
}

// orthonormalise replaces the columns of x by an orthonormal basis of their span. x must not have
// more columns than rows.
func orthonormalise(x blas32.General) {
	m := mat.NewDense(x.Rows, x.Cols, nil)
	for i := range x.Rows {
		for j, v := range Row(x, i) {
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
			Row(x, i)[j] = float32(m.At(i, j))
		}
	}
}

// sparseProduct returns the product of a sparse matrix and x.
func sparseProduct(ctx context.Context, sparse []Sparse, x blas32.General) blas32.General {
	return RowByRow(ctx, len(sparse), x.Cols, func(i int, row []float32) { sparse[i].Combine(1, x, row) })
}

// RowByRow returns a matrix whose rows fill computes, in parallel. If ctx ends, some rows are zero.
// Callers compute several matrices and then check ctx once.
func RowByRow(ctx context.Context, rows, cols int, fill func(i int, row []float32)) blas32.General {
	y := Resize(blas32.General{}, rows, cols)
	_ = Parallel(ctx, rows, func(i int) { fill(i, Row(y, i)) })
	return y
}

// Average returns N x, N = D⁻¹A, or with self W x, W = (D + I)⁻¹(A + I): the mean over the
// neighbours, with self also over the node itself. A node without neighbours gets zeros in N x.
func Average(ctx context.Context, links [][]uint32, x blas32.General, self bool) blas32.General {
	return RowByRow(ctx, len(links), x.Cols, func(u int, to []float32) {
		n := len(links[u])
		if self {
			n++
			copy(to, Row(x, u))
		}
		for _, w := range links[u] {
			AddTo(to, Row(x, int(w)))
		}
		if n > 1 {
			blas32.Scal(1/float32(n), blas32.Vector{N: len(to), Inc: 1, Data: to})
		}
	})
}

// UnitAverages returns x, Wx, W²x and so on, n matrices, with rows of length 1.
func UnitAverages(ctx context.Context, links [][]uint32, x blas32.General, n int) (all []blas32.General) {
	for k := range n {
		if k > 0 {
			x = Average(ctx, links, x, true)
		}
		all = append(all, UnitRows(x))
	}
	return all
}
