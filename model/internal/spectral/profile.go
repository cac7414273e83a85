package spectral

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/internal/graph"
	"kith/model/nn"
)

// profileHops is the number of times that words are averaged over the graph, kinHops over
// neighbours and kin.
const (
	profileHops = 3
	kinHops     = 2
)

// profileParts is the number of vectors per node in a profile.
const profileParts = 1 + profileHops + kinHops

// profile compares the ends of a pair by their words and the words around them: latent vectors Z
// averaged over surroundings of several sizes, in the graph at the time of the computation.
type profile struct {
	content  column.Content
	rarity   []float32                    // weight of each word
	topics   blas32.General               // basis of the latent vectors, one row for each word
	part     [profileParts]blas32.General // rows of unit length: Z, WZ, W²Z, W³Z, then SZ, S²Z with S among neighbours and kin
	kin      adjacency
	position *position // position in the graph of neighbours and kin
}

// profileIn averages the content over a graph.
func profileIn(ctx context.Context, rng *rand.Rand, of column.Content, t *nn.Content, g Graph, budget int64) (*profile, error) {
	p := &profile{content: of, rarity: t.Rarity, topics: t.Topics, kin: t.Kin}
	a := adjacencyOf(g)
	copy(p.part[:], nn.UnitAverages(ctx, a, t.Vector, 1+profileHops))
	a = a.union(t.Kin)
	copy(p.part[1+profileHops:], nn.UnitAverages(ctx, a, t.Vector, 1+kinHops)[1:])
	var err error
	p.position, err = positionIn(ctx, rng, a, min(maxPosition, rankFor(len(a), budget)))
	return p, err
}

// Columns of a profile, in order. They are symmetric in source and target.
const (
	profileWords    = 0                            // cosine of the words
	profileCosine   = profileWords + 1             // cosine of each part
	profileNear     = profileCosine + profileParts // largest cosine between Z of one end and of a neighbour of the other: smaller, larger
	profileCommon   = profileNear + 2              // log1p of the number of common neighbours and kin
	profileShare    = profileCommon + 1            // log1p of their resource allocation
	profilePosition = profileShare + 1
	profileProducts = profilePosition + positionLen
	profileLen      = profileProducts + productLen
)

// profileSource holds the data of a source that the columns of its pairs need.
type profileSource struct {
	*profile
	w           World
	source      ID
	part        [profileParts][]float32
	related     []ID      // neighbours and kin
	positionRow []float32 // row of the position
	words       *wordProducts
}

func (p *profile) from(read *column.Features, source ID) *profileSource {
	w := read.World
	f := &profileSource{profile: p, w: w, source: source, words: p.products(read, source)}
	f.part = p.partsOf(w, source)
	f.related = p.relatedTo(w.Graph, source)
	f.positionRow = p.position.of(f.related, source)
	return f
}

// columns fills the columns of the pair with a target.
func (f *profileSource) columns(target ID, x []float32) {
	clear(x[:profileLen])
	x[profileWords] = f.words.products(target)[mixOwn]
	part := f.partsOf(f.w, target)
	for i := range part {
		x[profileCosine+i] = nn.Dot(f.part[i], part[i])
	}
	a := f.nearest(graph.Neighbours(f.w.Graph, f.source), target, part[0])
	b := f.nearest(graph.Neighbours(f.w.Graph, target), f.source, f.part[0])
	x[profileNear], x[profileNear+1] = min(a, b), max(a, b)
	common, resource := 0, 0.0
	around := f.relatedTo(f.w.Graph, target)
	column.Intersect(f.related, around, func(u ID) {
		common++
		resource += 1 / float64(max(len(f.relatedTo(f.w.Graph, u)), 2))
	})
	x[profileCommon] = float32(math.Log1p(float64(common)))
	x[profileShare] = float32(math.Log1p(resource))
	f.position.columns(f.positionRow, f.position.of(around, target), x[profilePosition:profileProducts])
	f.words.columns(target, x[profileProducts:profileLen])
}

// nearest returns the largest cosine between z and the latent vectors of the nodes, without node
// own. It reads at most maxCompared nodes.
func (p *profile) nearest(nodes []ID, own ID, z []float32) (best float32) {
	for _, u := range nodes[:min(len(nodes), column.MaxCompared)] {
		if u != own && int(u) < p.part[0].Rows {
			best = max(best, nn.Dot(nn.Row(p.part[0], int(u)), z))
		}
	}
	return best
}

// wordsOf returns the row of a node's words.
func (p *profile) wordsOf(w World, u ID) nn.Sparse {
	var of nn.Sparse
	p.content.Append(w, u, &of)
	return nn.WordRow(of, p.rarity)
}

// relatedTo returns the neighbours and kin of a node, ascending.
func (p *profile) relatedTo(g Graph, u ID) []ID {
	near := graph.Neighbours(g, u)
	if int(u) >= len(p.kin) || len(p.kin[u]) == 0 {
		return near
	}
	return graph.Union(near, p.kin[u])
}

// partsOf returns the vectors of a node. For a node that the profile has no data of, it computes
// them from the node's words and neighbours.
func (p *profile) partsOf(w World, u ID) (part [profileParts][]float32) {
	if hasRow(p.part[1], u) {
		for i := range part {
			part[i] = nn.Row(p.part[i], int(u))
		}
		return part
	}
	neighbours := graph.Neighbours(w.Graph, u)
	for i := range part {
		sum := nn.NewVector(p.topics.Cols)
		switch i {
		case 0:
			p.wordsOf(w, u).Combine(1, p.topics, sum)
		case 1 + profileHops:
			nn.AddTo(sum, part[0])
			addRows(sum, p.part[0], neighbours, u)
		default:
			nn.AddTo(sum, part[i-1])
			addRows(sum, p.part[i-1], neighbours, u)
		}
		nn.Scale(sum, 1)
		part[i] = sum
	}
	return part
}

// hasRow reports whether a matrix has a row for a node that is not all zeros. The row of a node
// that had no edges and no features at the time of the computation is.
func hasRow(x blas32.General, u ID) bool {
	return int(u) < x.Rows && slices.ContainsFunc(nn.Row(x, int(u)), func(v float32) bool { return v != 0 })
}

// addRows adds the rows of nodes other than own to sum and returns their number. Nodes without a
// row are left out.
func addRows(sum []float32, x blas32.General, nodes []ID, own ID) (n int) {
	for _, v := range nodes {
		if v != own && int(v) < x.Rows {
			nn.AddTo(sum, nn.Row(x, int(v)))
			n++
		}
	}
	return n
}

// maxPosition is the largest number of eigenvectors of a position.
const maxPosition = 64

// halvings is the exponent of (S + I) / 2 in the matrix whose eigenvectors are computed.
const halvings = 4

// position locates nodes in the graph as a whole by the eigenvectors of S = (D + I)^-1/2 (A + I) (D
// + I)^-1/2 with the largest eigenvalues. With weights (1-α)/(1-αs) their scalar products
// approximate personalised PageRank with damping α, divided by the square root of the degrees.
type position struct {
	value []float32      // eigenvalues s, descending
	row   blas32.General // one row for each node

	weight [numWalks][]float32
}

const numWalks = 3

// positionLen is the number of columns: the scalar product and the cosine for each walk of
// walkAlphas.
const positionLen = 2 * numWalks

func positionIn(ctx context.Context, rng *rand.Rand, a adjacency, k int) (*position, error) {
	root := make([]float32, len(a))
	for u, r := range a {
		root[u] = float32(1 / math.Sqrt(float64(len(r)+1)))
	}
	// A power of (S + I) / 2 has the eigenvectors of S in the same order, and larger gaps between
	// its eigenvalues near 1.
	l := nn.Krylov{Rng: rng, Power: halvings, Product: func(ctx context.Context, x, y blas32.General) error {
		return nn.InBlocks(ctx, y.Rows, func(first, end int) {
			for u := first; u < end; u++ {
				sum := nn.Row(y, u)
				clear(sum)
				nn.Axpy((root[u]*root[u]+1)/2, nn.Row(x, u), sum)
				for _, v := range a[u] {
					nn.Axpy(root[u]*root[v]/2, nn.Row(x, int(v)), sum)
				}
			}
		})
	}}
	p := &position{}
	var err error
	p.value, p.row, err = l.Eigen(ctx, len(a), k)
	for i, v := range p.value {
		p.value[i] = 2*max(v, 0) - 1
	}
	p.prepare()
	return p, err
}

// walkAlphas returns the dampings of the walks whose series the columns of a position sum.
func walkAlphas() [numWalks]float64 { return [numWalks]float64{0.5, 0.85, 0.95} }

// prepare computes the weights.
func (p *position) prepare() {
	for i, alpha := range walkAlphas() {
		p.weight[i] = make([]float32, len(p.value))
		for j, s := range p.value {
			p.weight[i][j] = float32((1 - alpha) / (1 - alpha*min(float64(s), 1)))
		}
	}
}

// of returns the row of a node. For a node without a row, it returns the mean of its neighbours'
// rows.
func (p *position) of(neighbours []ID, u ID) []float32 {
	if hasRow(p.row, u) {
		return nn.Row(p.row, int(u))
	}
	sum := make([]float32, p.row.Cols)
	n := addRows(sum, p.row, neighbours, u)
	for i := range sum {
		sum[i] /= float32(max(n, 1))
	}
	return sum
}

// columns fills the columns of a pair, given the rows of both ends. Scalar products are relative to
// the mean square of all entries.
func (p *position) columns(a, b []float32, x []float32) {
	for i, weight := range p.weight {
		both, left, right := 0.0, 0.0, 0.0
		for j, w := range weight {
			both += float64(w * a[j] * b[j])
			left += float64(w * a[j] * a[j])
			right += float64(w * b[j] * b[j])
		}
		x[i] = float32(math.Asinh(both * float64(p.row.Rows)))
		x[numWalks+i] = float32(both / math.Max(math.Sqrt(left*right), 1e-12))
	}
}
