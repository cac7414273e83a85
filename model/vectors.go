package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// vectors holds numbers of every node, computed from the graph and the feature vectors at the time
// of a training. Later changes of the graph do not change them. A node that was added later gets
// numbers from its neighbours and features.
type vectors struct {
	spectrum *spectrum
	profile  *profile // nil: no feature vectors
}

// Lengths of the vectors: maximum, and minimum for a small budget.
const (
	maxRank   = 256 // singular values of the spectrum
	minRank   = 4
	maxTopics = 32 // length of each part of a profile
	minTopics = 4
)

// A large graph has a spectrum with fewer values, because time matters more than the last values:
// the spectrum holds about spectrumLen numbers, but at least largeRank values.
const (
	spectrumLen = 2 << 20
	largeRank   = 32
)

// rankFor returns the number of singular values for n nodes and a budget in bytes. The iteration
// holds two vectors for each value, and the result one or two.
func rankFor(n int, budget int64) int {
	n = max(n, 1)
	most := min(max(spectrumLen/n, largeRank), maxRank)
	return min(max(int(budget/(4*int64(n))-spectrumExtra)/4, minRank), most, n)
}

// topicsFor returns the length of latent vectors for n nodes and a budget in bytes.
func topicsFor(n int, budget int64) int {
	return int(min(max(budget/(4*(profileParts+3)*int64(max(n, 1))), minTopics), maxTopics))
}

// While they are computed, the vectors of a graph take at most maxVectorBytes, and at most half of
// the memory of a training. minVectors is the lowest rank of a spectrum that is worth computing.
const (
	maxVectorBytes = 64 << 20
	minVectors     = 16
)

// spectrumBytes is the number of bytes that the computation of a spectrum of rank k takes.
func spectrumBytes(n, k int) int64 { return 4 * int64(n) * int64(4*k+spectrumExtra) }

// spectrumExtra is the number of vectors besides those whose number depends on the rank: of the
// iteration, the roots of both degrees, and two of a product.
const spectrumExtra = nn.LanczosExtra + 4

// vectorPlan says how the vectors of the graphs of a training are computed.
type vectorPlan struct {
	content *content
	budget  int64 // bytes
}

// vectorRank returns the rank of the spectrum of a graph of n nodes in a training with the given
// memory. It returns 0 if the contexts have no vectors block, or if there are too many nodes for
// the memory.
func (c *config) vectorRank(n int, memory int64) (rank int, budget int64) {
	budget = min(memory/2, maxVectorBytes)
	if rank = rankFor(n, budget); c.vectorsLen() == 0 || rank < min(minVectors, n) {
		return 0, budget
	}
	return rank, budget
}

// planVectors plans the vectors of a training. It returns nil for a training without vectors. If
// they are left out because they do not fit into the memory, leftOut is the number of bytes that
// they take at least.
func (c *config) planVectors(ctx context.Context, whole World, memory int64) (p *vectorPlan, leftOut int64, err error) {
	n := whole.Graph.NumNodes()
	rank, budget := c.vectorRank(n, memory)
	if c.vectorsLen() == 0 {
		return nil, 0, nil
	}
	if rank == 0 {
		return nil, spectrumBytes(n, minVectors), nil
	}
	if c.FeatureLen > 0 {
		if bytes := wordBytes(whole); bytes > memory {
			return nil, bytes, nil
		}
	}
	p = &vectorPlan{budget: budget}
	if p.content, err = contentOf(ctx, c, whole, topicsFor(n, budget)); p.content != nil {
		p.content.rows = nil // the vectors are computed without them
	}
	return p, 0, err
}

// in computes the vectors of a world. It returns nil if p is nil.
func (p *vectorPlan) in(ctx context.Context, rng *rand.Rand, w World, to *Meter) (*vectors, error) {
	if p == nil {
		return nil, nil
	}
	to.Begin(NodeVectors)
	defer to.Step(1)
	v, err := vectorsOf(ctx, rng, p.content, w.Graph, p.budget)
	if err != nil {
		return nil, err
	}
	return v.document().vectors() // in the precision of a document
}

// vectorsOf computes the vectors of a graph. t is the content of the feature vectors, which does
// not depend on edges; it is nil without features.
func vectorsOf(ctx context.Context, rng *rand.Rand, t *content, g Graph, budget int64) (*vectors, error) {
	v := &vectors{}
	var err error
	if v.spectrum, err = spectrumOf(ctx, rng, g, rankFor(g.NumNodes(), budget)); err != nil {
		return nil, err
	}
	if t != nil {
		v.profile, err = t.profileIn(ctx, rng, g, budget)
	}
	return v, err
}

// vectorColumns fills a row of x for each pair, from column col on. All pairs must have the same
// source. walks holds the weight of the walks of three edges of each pair (column.PairStats), or -1
// where it is not known yet.
func (t *scratch) vectorColumns(pairs []Pair, walks []float64, x blas32.General, col int) {
	source := pairs[0].Source
	t.spectral.read(t.vectors.spectrum, t.features.World.Graph, source)
	if p := t.vectors.profile; p != nil && (t.profile == nil || t.profile.source != source) {
		t.profile = p.from(&t.features, source)
	}
	for i, pair := range pairs {
		r := nn.Row(x, i)[col:]
		t.spectral.columns(pair.Target, walks[i], r[:spectralLen])
		if t.profile != nil {
			t.profile.columns(pair.Target, r[spectralLen:])
		}
	}
}

// nodeMatrix is a matrix of vectors with one row for each node.
type nodeMatrix struct {
	*blas32.General
	cols int
}

// perNode returns the matrices with one row for each node.
func (v *vectors) perNode() []nodeMatrix {
	s := v.spectrum
	all := []nodeMatrix{{&s.in.row, len(s.value)}, {&s.in.root, 1}}
	if s.directed {
		all = append(all, nodeMatrix{&s.out.row, len(s.value)}, nodeMatrix{&s.out.root, 1})
	}
	if p := v.profile; p != nil {
		all = append(all, nodeMatrix{&p.position.row, len(p.position.value)})
		for i := range p.part {
			all = append(all, nodeMatrix{&p.part[i], p.topics.Cols})
		}
	}
	return all
}

// nodes returns the number of nodes that have vectors.
func (v *vectors) nodes() int { return v.spectrum.in.row.Rows }

func (v *vectors) bytes() (n int) {
	if v == nil {
		return 0
	}
	for _, x := range v.perNode() {
		n += len(x.Data)
	}
	if p := v.profile; p != nil {
		n += len(p.rarity) + len(p.topics.Data)
		for _, row := range p.kin {
			n += len(row)
		}
	}
	return 4*n + 8*(numEase+1)*len(v.spectrum.targets)
}

// cosine returns the cosine of the angle between two vectors, the shorter of which is padded with
// zeros. It is 0 if one of them is zero.
func cosine(a, b []float32) float64 {
	n := min(len(a), len(b))
	squares := nn.Product64(a, a) * nn.Product64(b, b)
	if squares == 0 {
		return 0
	}
	return nn.Product64(a[:n], b[:n]) / math.Sqrt(squares)
}

// knows reports whether the profile has words for a node.
func (v *vectors) knows(w World, u ID) bool {
	return v.profile != nil && len(v.profile.wordsOf(w, u).At) > 0
}

// nearest returns the n closest nodes other than source that accept admits, closest first. Nodes at
// a right angle or more are left out, so that a source without edges and features has no nearest
// nodes.
func nearest(ctx context.Context, w World, closeness func(ID) float32, source ID, n int, accept func(ID) bool) ([]ID, error) {
	all := make([]float32, w.Graph.NumNodes())
	err := nn.InBlocks(ctx, len(all), func(first, end int) {
		for u := first; u < end; u++ {
			if ID(u) != source && accept(ID(u)) {
				all[u] = closeness(ID(u))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return largest(all, n, minClose), nil
}

// closenessTo returns a function that measures how close a node is to source: by the profile if it
// knows the source, otherwise by the spectrum. The function is safe for concurrent use.
func (v *vectors) closenessTo(w World, source ID) func(ID) float32 {
	if v.knows(w, source) {
		own := v.profile.partsOf(w, source)
		return func(u ID) (sum float32) {
			for i, part := range v.profile.partsOf(w, u) {
				sum += nn.Dot(own[i], part)
			}
			return sum
		}
	}
	s := v.spectrum
	row, root := s.outOf(w.Graph, source, nn.NewVector(len(s.value)))
	own := entries(nil, row, s.filter[middleRidge])
	return func(u ID) float32 {
		var scratch []float32
		if !hasRow(s.in.row, u) {
			scratch = nn.NewVector(len(s.value))
		}
		v, other := s.inOf(w.Graph, u, scratch)
		return nn.Dot(own, v) * root * other
	}
}

// minClose is an upper bound of the closeness of unrelated nodes, allowing for rounding errors.
const minClose = 1e-5

// vectorsDocument is the stored form of vectors. PerNode and Topics are packed by PackRows.
type vectorsDocument struct {
	Nodes    int
	Square   float64
	Directed bool
	Value    nn.Floats
	PerNode  [][]byte
	Profile  *profileDocument `msgpack:",omitempty"`
}

type profileDocument struct {
	Rarity    nn.Floats
	TopicsLen int
	Topics    []byte
	Kin       adjacency
	Position  nn.Floats // eigenvalues
}

func (v *vectors) document() *vectorsDocument {
	s := v.spectrum
	d := &vectorsDocument{Nodes: v.nodes(), Square: s.square, Directed: s.directed, Value: s.value}
	for _, x := range v.perNode() {
		d.PerNode = append(d.PerNode, nn.PackRows(*x.General))
	}
	if p := v.profile; p != nil {
		d.Profile = &profileDocument{
			Rarity: p.rarity, TopicsLen: p.topics.Cols, Topics: nn.PackRows(p.topics), Kin: p.kin, Position: p.position.value,
		}
	}
	return d
}

// vectors decodes the document.
func (d *vectorsDocument) vectors() (v *vectors, err error) {
	if d.Nodes < 0 || d.Nodes > math.MaxUint32 || !nn.Finite(d.Square) || d.Square < 0 {
		return nil, fmt.Errorf("vectors of %d nodes, mean square %v", d.Nodes, d.Square)
	}
	s := &spectrum{value: d.Value, square: d.Square, directed: d.Directed}
	v = &vectors{spectrum: s}
	if d.Profile != nil {
		if v.profile, err = d.Profile.profile(d.Nodes); err != nil {
			return nil, err
		}
	}
	all := v.perNode()
	if len(d.PerNode) != len(all) {
		return nil, fmt.Errorf("%d matrices, want %d", len(d.PerNode), len(all))
	}
	for i, x := range all {
		if *x.General, err = nn.UnpackRows(d.PerNode[i], d.Nodes, x.cols); err != nil {
			return nil, fmt.Errorf("matrix %d: %w", i, err)
		}
	}
	if !s.directed {
		s.out = s.in
	}
	s.prepare()
	return v, nil
}

// profile decodes the document except the matrices that have a row for each node.
func (d *profileDocument) profile(nodes int) (p *profile, err error) {
	p = &profile{rarity: d.Rarity, kin: d.Kin, position: &position{value: d.Position}}
	p.position.prepare()
	if d.TopicsLen < 0 || d.TopicsLen > len(d.Topics) || len(p.kin) != nodes {
		return nil, fmt.Errorf("%d topics, and kin of %d nodes of %d", d.TopicsLen, len(p.kin), nodes)
	}
	for u, row := range p.kin {
		for i, v := range row {
			if int(v) >= nodes || i > 0 && v <= row[i-1] {
				return nil, fmt.Errorf("kin %v of node %d", row, u)
			}
		}
	}
	p.topics, err = nn.UnpackRows(d.Topics, len(p.rarity), d.TopicsLen)
	return p, err
}

// vectorsLen is the length of the vectors block.
func (c *config) vectorsLen() int {
	switch {
	case c.Blocks&blockVectors == 0 || c.Blocks&blockGraph != blockGraph || c.Unit:
		return 0
	case c.FeatureLen == 0:
		return spectralLen
	}
	return spectralLen + profileLen
}
