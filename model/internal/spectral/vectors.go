package spectral

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/nn"
)

// Vectors holds numbers of every node, computed from the graph and the feature vectors at the time
// of a training. Later changes of the graph do not change them. A node that was added later gets
// numbers from its neighbours and features.
type Vectors struct {
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
	spectrumLen = 8 << 20
	largeRank   = 32
)

// rankFor returns the number of singular values for n nodes and a budget in bytes.
func rankFor(n int, budget int64) int {
	k := min(max(spectrumLen/max(n, 1), largeRank), maxRank, n)
	for k > minRank && Bytes(n, k) > budget {
		k--
	}
	return k
}

// topicsFor returns the length of latent vectors for n nodes and a budget in bytes.
func topicsFor(n int, budget int64) int {
	return int(min(max(budget/(4*(profileParts+3)*int64(max(n, 1))), minTopics), maxTopics))
}

// While they are computed, the vectors of a graph take at most maxVectorBytes, and at most half of
// the memory of a training. minVectors is the lowest rank of a spectrum that is worth computing.
const (
	maxVectorBytes = 1 << 30
	minVectors     = 16
)

// Bytes is the number of bytes that the computation of a spectrum of rank k takes: for the
// iteration, the results of both directions, a product and the roots of both degrees.
func Bytes(n, k int) int64 {
	return 4 * int64(n) * int64(nn.KrylovVectors(k)+2*k+nn.KrylovWidth+2)
}

// Plan says how the vectors of the graphs of a training are computed.
type Plan struct {
	reads   column.Content
	content *nn.Content
	budget  int64 // bytes
	short   bool
	near    *Vectors
}

// Again returns the plan for a training that continues from an earlier one, which saves time:
// vectors start from the vectors of nearly the same graph or, if near is nil, are less exact.
func (p *Plan) Again(near *Vectors) *Plan {
	if p == nil {
		return nil
	}
	again := *p
	again.short, again.near = true, near
	return &again
}

// Rank returns the rank of the spectrum of a graph of n nodes in a training with the given memory,
// and the bytes that its computation may take. It returns 0 if there are too many nodes for the
// memory.
func Rank(n int, memory int64) (rank int, budget int64) {
	budget = min(memory/2, maxVectorBytes)
	if rank = rankFor(n, budget); rank < min(minVectors, n) {
		return 0, budget
	}
	return rank, budget
}

// LeastBytes is the number of bytes that the vectors of n nodes take at least.
func LeastBytes(n int) int64 { return Bytes(n, minVectors) }

// NewPlan plans the vectors of a training, within a budget in bytes. Only the feature vectors of
// the world count.
func NewPlan(ctx context.Context, of Features, w World, budget int64) (*Plan, error) {
	p := &Plan{reads: of.Content, budget: budget}
	var err error
	if p.content, err = contentOf(ctx, of, w, topicsFor(w.Graph.NumNodes(), budget)); p.content != nil {
		p.content.Rows = nil // the vectors are computed without them
	}
	return p, err
}

// In computes the vectors of a graph, in the precision of a document.
func (p *Plan) In(ctx context.Context, rng *rand.Rand, g Graph) (*Vectors, error) {
	v, err := vectorsOf(ctx, rng, p, g)
	if err != nil {
		return nil, err
	}
	b, err := v.AppendPages(nil)
	if err != nil {
		return nil, err
	}
	if v, err = v.Document().Vectors(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	return v.Load()
}

// vectorsOf computes the vectors of a graph.
func vectorsOf(ctx context.Context, rng *rand.Rand, p *Plan, g Graph) (*Vectors, error) {
	v, by := &Vectors{}, iteration{short: p.short}
	if p.near != nil && p.near.Nodes() == g.NumNodes() {
		by.near = p.near.spectrum
	}
	var err error
	if v.spectrum, err = spectrumOf(ctx, rng, g, rankFor(g.NumNodes(), p.budget), by); err != nil {
		return nil, err
	}
	if p.content != nil {
		v.profile, err = profileIn(ctx, rng, p.reads, p.content, g, p.budget)
	}
	return v, err
}

// Source is the working memory of the columns of pairs with one source. What it knows of a source
// is kept until Release.
type Source struct {
	spectral spectralSource
	profile  *profileSource // nil: not read
}

// Release forgets the source.
func (s *Source) Release() {
	s.spectral.release()
	s.profile = nil
}

// Columns fills a row of x for each pair, from column col on. All pairs must have the same source.
// walks holds the weight of the walks of three edges of each pair (column.PairStats), or -1 where
// it is not known yet.
func (s *Source) Columns(v *Vectors, read *column.Features, pairs []Pair, walks []float64, x blas32.General, col int) {
	source := pairs[0].Source
	s.spectral.read(v.spectrum, read.World.Graph, source)
	if p := v.profile; p != nil && (s.profile == nil || s.profile.source != source) {
		s.profile = p.from(read, source)
	}
	for i, pair := range pairs {
		r := nn.Row(x, i)[col:]
		s.spectral.columns(pair.Target, walks[i], r[:spectralLen])
		if s.profile != nil {
			s.profile.columns(pair.Target, r[spectralLen:])
		}
	}
}

// Len returns the number of columns, for nodes with or without feature vectors.
func Len(features bool) int {
	if features {
		return spectralLen + profileLen
	}
	return spectralLen
}

// nodeMatrix is a matrix of vectors with one row for each node.
type nodeMatrix struct {
	*blas32.General
	cols int
}

// perNode returns the matrices with one row for each node.
func (v *Vectors) perNode() []nodeMatrix {
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

// Nodes returns the number of nodes that have vectors.
func (v *Vectors) Nodes() int { return v.spectrum.nodes() }

// Bytes returns the memory of the vectors, once all are read.
func (v *Vectors) Bytes() (n int) {
	if v == nil {
		return 0
	}
	for _, x := range v.perNode() {
		n += v.Nodes() * x.cols
	}
	if p := v.profile; p != nil {
		n += len(p.rarity) + len(p.topics.Data)
		for _, row := range p.kin {
			n += len(row)
		}
	}
	return 4*n + len(v.spectrum.parts) + 8*(numEase+1)*v.Nodes()
}

// Cosine returns the cosine of the angle between two vectors. The shorter vector is padded with
// zeros. It is 0 if one of them is zero.
func Cosine(a, b []float32) float64 {
	n := min(len(a), len(b))
	squares := nn.Product64(a, a) * nn.Product64(b, b)
	if squares == 0 {
		return 0
	}
	return nn.Product64(a[:n], b[:n]) / math.Sqrt(squares)
}

// Knows reports whether the profile has words for a node.
func (v *Vectors) Knows(w World, u ID) bool {
	return v.profile != nil && len(v.profile.wordsOf(w, u).At) > 0
}

// Nearest returns the n closest nodes other than source that accept admits, closest first. Nodes at
// a right angle or more are left out, so that a source without edges and features has no nearest
// nodes.
func Nearest(ctx context.Context, w World, closeness func(ID) float32, source ID, n int, accept func(ID) bool) ([]ID, error) {
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
	return nn.Largest(all, n, minClose), nil
}

// Closeness returns a function that measures how close a node is to source: by the profile if it
// knows the source, otherwise by the spectrum. The function is safe for concurrent use.
func (v *Vectors) Closeness(w World, source ID) func(ID) float32 {
	if v.Knows(w, source) {
		own := v.profile.partsOf(w, source)
		return func(u ID) (sum float32) {
			for i, part := range v.profile.partsOf(w, u) {
				sum += nn.Dot(own[i], part)
			}
			return sum
		}
	}
	c := v.closeness(w.Graph, source)
	return func(u ID) (y float32) {
		if int(u) < c.in.row.Rows {
			y = nn.Dot(c.own, nn.Row(c.in.row, int(u)))
		}
		return c.of(u, y)
	}
}

// Bipartite reports whether the vectors are of an undirected bipartite graph.
func (v *Vectors) Bipartite() bool { return v.spectrum.parts != nil }

// ClosenessOf returns how close nodes, which ascend, are to source, as Closeness does. Rows that
// follow each other take one product.
func (v *Vectors) ClosenessOf(w World, source ID, nodes []ID) []float32 {
	close := make([]float32, len(nodes))
	if v.Knows(w, source) {
		of := v.Closeness(w, source)
		for i, u := range nodes {
			close[i] = of(u)
		}
		return close
	}
	c := v.closeness(w.Graph, source)
	rows := c.in.row
	for from := 0; from < len(nodes) && int(nodes[from]) < rows.Rows; {
		to := from + 1
		for to < len(nodes) && nodes[to] == nodes[to-1]+1 && int(nodes[to]) < rows.Rows {
			to++
		}
		nn.Times(nn.Rows(rows, int(nodes[from]), int(nodes[to-1])+1), c.own, close[from:to])
		from = to
	}
	for i, u := range nodes {
		close[i] = c.of(u, close[i])
	}
	return close
}

// closeness is what the spectrum says of a source: see Closeness.
type closeness struct {
	*spectrum
	g    Graph
	own  []float32 // row of U times the middle filter
	root float32
	part byte
}

// closeness reads all rows that are not in memory: most are needed.
func (v *Vectors) closeness(g Graph, source ID) closeness {
	v, _ = v.Load() // Err returns the error
	s := v.spectrum
	row, root := s.outOf(g, source, nn.NewVector(len(s.value)))
	return closeness{s, g, entries(nil, row, s.filter[middleRidge]), root, s.part(g, source)}
}

// of returns the closeness of a node, given the product of own and its row of V, 0 for a node
// without a row.
func (c *closeness) of(u ID, product float32) float32 {
	if product != 0 {
		if c.part != 0 && c.parts[u] == c.part {
			return 0
		}
		return product * c.root * c.in.root.Data[u]
	}
	if c.has(u) || c.together(c.g, c.part, u) {
		return 0
	}
	v, other := c.inOf(c.g, u, nn.NewVector(len(c.value)))
	return nn.Dot(c.own, v) * c.root * other
}

// minClose is an upper bound of the closeness of unrelated nodes, allowing for rounding errors.
const minClose = 1e-5

// Document is the stored form of Vectors without the rows of the nodes, which [Vectors.AppendPages]
// encodes. Topics are packed by appendRows.
type Document struct {
	Nodes    int
	Square   float64
	Directed bool
	Parts    []byte `msgpack:",omitempty"` // of a bipartite graph, by node
	Value    nn.Floats
	Profile  *profileDocument `msgpack:",omitempty"`
}

type profileDocument struct {
	Words     bool `msgpack:",omitempty"`
	Rarity    nn.Floats
	TopicsLen int
	Topics    []byte
	Kin       adjacency
	Position  nn.Floats // eigenvalues
}

// Document returns the stored form.
func (v *Vectors) Document() *Document {
	s := v.spectrum
	d := &Document{Nodes: v.Nodes(), Square: s.square, Directed: s.directed, Parts: s.parts, Value: s.value}
	if p := v.profile; p != nil {
		d.Profile = &profileDocument{
			Words: p.content.Words, Rarity: p.rarity, TopicsLen: p.topics.Cols, Topics: appendRows(nil, p.topics), Kin: p.kin, Position: p.position.value,
		}
	}
	return d
}

// Vectors decodes the document. The rows of the nodes are read from stored when they are first used
// (see [Vectors.Err]), or at once if there is a profile.
func (d *Document) Vectors(stored Stored) (v *Vectors, err error) {
	if d.Nodes < 0 || d.Nodes > math.MaxUint32 || !nn.Finite(d.Square) || d.Square < 0 {
		return nil, fmt.Errorf("vectors of %d nodes, mean square %v", d.Nodes, d.Square)
	}
	if len(d.Parts) != 0 && (len(d.Parts) != d.Nodes || slices.ContainsFunc(d.Parts, func(p byte) bool { return p > 2 })) {
		return nil, fmt.Errorf("parts of %d nodes, want %d", len(d.Parts), d.Nodes)
	}
	s := &spectrum{value: d.Value, square: d.Square, directed: d.Directed, parts: d.Parts}
	v = &Vectors{spectrum: s}
	if d.Profile != nil {
		if v.profile, err = d.Profile.profile(d.Nodes); err != nil {
			return nil, err
		}
	}
	s.prepare()
	if err := v.open(stored, d.Nodes); err != nil {
		return nil, err
	}
	if v.profile != nil {
		return v.Load()
	}
	return v, nil
}

// profile decodes the document except the matrices that have a row for each node.
func (d *profileDocument) profile(nodes int) (p *profile, err error) {
	p = &profile{content: column.Content{Words: d.Words}, rarity: d.Rarity, kin: d.Kin, position: &position{value: d.Position}}
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
	if len(d.Topics) != len(p.rarity)*packedLen(d.TopicsLen) {
		return nil, fmt.Errorf("%d bytes of %d topics of %d words", len(d.Topics), d.TopicsLen, len(p.rarity))
	}
	p.topics = nn.Resize(blas32.General{}, len(p.rarity), d.TopicsLen)
	_, err = unpackRows(d.Topics, p.topics)
	return p, err
}

// Renamed returns the vectors of the renamed nodes. Ids below the largest new id without an old
// node get zeros. There must be no pages; see [Vectors.Load].
func (v *Vectors) Renamed(to func(ID) (ID, bool)) *Vectors {
	if v == nil {
		return nil
	}
	ids, n := map[ID]ID{}, 0
	for u := range ID(v.Nodes()) {
		if now, ok := to(u); ok {
			ids[u], n = now, max(n, int(now)+1)
		}
	}
	if n == 0 {
		return nil
	}
	s := *v.spectrum
	if s.parts != nil {
		s.parts = make([]byte, n)
		for u, now := range ids {
			s.parts[now] = v.spectrum.parts[u]
		}
	}
	out := &Vectors{spectrum: &s}
	if v.profile != nil {
		p, place := *v.profile, *v.profile.position
		p.position, p.kin = &place, p.kin.renamed(ids, n)
		out.profile = &p
	}
	for _, x := range out.perNode() {
		y := nn.Resize(blas32.General{}, n, x.Cols)
		for u, now := range ids {
			copy(nn.Row(y, int(now)), nn.Row(*x.General, int(u)))
		}
		*x.General = y
	}
	if !s.directed {
		s.out = s.in
	}
	s.readAllTargets()
	return out
}

// renamed returns the links of the n nodes with new ids.
func (a adjacency) renamed(ids map[ID]ID, n int) adjacency {
	out := make(adjacency, n)
	for u, now := range ids {
		for _, v := range a[u] {
			if w, ok := ids[v]; ok {
				out[now] = append(out[now], w)
			}
		}
		slices.Sort(out[now])
	}
	return out
}

// Columns describes the columns, in the order of the constants spectral*
// and profile*.
func Columns() (all []column.Column) {
	add := func(f column.Family, names ...string) {
		for _, name := range names {
			all = append(all, column.Column{Name: name, Scale: 1, Family: f})
		}
	}
	for _, ridge := range ridges() {
		add(column.AlikeLinks, fmt.Sprintf("ridge regression %v", ridge))
	}
	for _, r := range easeRidges() {
		add(column.AlikeLinks, fmt.Sprintf("ease %v", ridges()[r]))
	}
	add(column.AlikeLinks, "ridge regression back", "ridge regression and rest", "spectral cosine")
	add(column.AlikeFeatures, "words cosine")
	for i := range profileParts {
		add(column.AlikeFeatures, fmt.Sprintf("topics cosine %d", i))
	}
	add(column.AlikeFeatures, "topics nearest smaller", "topics nearest larger", "common kin", "resource of kin")
	for i := range positionLen {
		add(column.AlikeLinks, fmt.Sprintf("position %d", i))
	}
	add(column.AlikeFeatures,
		"own and averaged words smaller", "own and averaged words larger", "once and twice averaged words smaller", "once and twice averaged words larger",
		"own and neighbor words smaller", "own and neighbor words larger", "own words and two steps smaller", "own words and two steps larger",
		"averaged words", "neighbor words")
	return all
}
