package model

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/column"
	"kith/model/nn"
)

// vectors holds numbers of every node, computed from the graph and the feature vectors at the time of a training. Later
// changes of the graph do not change them. A node that was added later gets numbers from its neighbours and features.
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

// A large graph has a spectrum with fewer values, because time matters more than the last values: the spectrum holds
// about spectrumLen numbers, but at least largeRank values.
const (
	spectrumLen = 2 << 20
	largeRank   = 32
)

// rankFor returns the number of singular values for n nodes and a budget in bytes. The iteration holds two vectors for
// each value, and the result one or two.
func rankFor(n int, budget int64) int {
	n = max(n, 1)
	most := min(max(spectrumLen/n, largeRank), maxRank)
	return min(max(int(budget/(4*int64(n))-nn.LanczosExtra)/4, minRank), most, n)
}

// topicsFor returns the length of latent vectors for n nodes and a budget in bytes.
func topicsFor(n int, budget int64) int {
	return int(min(max(budget/(4*(profileParts+3)*int64(max(n, 1))), minTopics), maxTopics))
}

// vectorsOf computes the vectors of a graph. t is the content of the feature vectors, which does not depend on edges;
// it is nil without features.
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

// width is the number of columns of a pair.
func (v *vectors) width() int {
	if v.profile == nil {
		return spectralLen
	}
	return spectralLen + profileLen
}

// columns fills a row of x for each pair, from column col on. All pairs must have the same source.
func (v *vectors) columns(w World, pairs []Pair, x blas32.General, col int) {
	s := v.spectrum.from(w.Graph, pairs[0].Source)
	var p *profileSource
	if v.profile != nil {
		p = v.profile.from(w, pairs[0].Source)
	}
	for i, pair := range pairs {
		r := nn.Row(x, i)[col:]
		s.columns(pair.Target, r[:spectralLen])
		if p != nil {
			p.columns(pair.Target, r[spectralLen:])
		}
	}
}

func (v *vectors) bytes() int {
	if v == nil {
		return 0
	}
	n := len(v.spectrum.in.Data)
	if v.spectrum.directed {
		n += len(v.spectrum.out.Data)
	}
	if p := v.profile; p != nil {
		n += len(p.rarity) + len(p.topics.Data) + len(p.norm) + len(p.position.row.Data)
		for _, x := range p.part {
			n += len(x.Data)
		}
		for _, row := range p.kin {
			n += len(row)
		}
	}
	return 4 * n
}

// Similar returns up to n nodes that are similar to source and that accept admits, most similar first. It compares the
// vectors of a training if the model has some, otherwise feature vectors. It returns nil if neither has data about
// source. It scans all nodes and calls accept concurrently.
func (s *Scorer) Similar(ctx context.Context, w World, source ID, n int, accept func(ID) bool) ([]ID, error) {
	switch v := s.vectors(); {
	case v != nil && (v.knows(w, source) || len(neighboursOf(w.Graph, source)) > 0):
		return nearest(ctx, w, v.closeness(w, source), source, n, accept)
	}
	own := column.UnitOf(w, source)
	if own.Len() == 0 {
		return nil, nil
	}
	return nearest(ctx, w, func(u ID) float32 { return float32(own.Cosine(column.UnitOf(w, u))) }, source, n, accept)
}

// knows reports whether the profile has words for a node.
func (v *vectors) knows(w World, u ID) bool { return v.profile != nil && v.profile.normOf(w, u) > 0 }

// nearest returns the n closest nodes other than source that accept admits, closest first. Nodes at a right angle or
// more are left out, so that a source without edges and features has no nearest nodes.
func nearest(ctx context.Context, w World, closeness func(ID) float32, source ID, n int, accept func(ID) bool) ([]ID, error) {
	close := make([]float32, w.Graph.NumNodes())
	err := nn.InBlocks(ctx, len(close), func(first, end int) {
		for u := first; u < end; u++ {
			if ID(u) != source && accept(ID(u)) {
				close[u] = closeness(ID(u))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return largest(close, n, minClose), nil
}

// closeness returns a function that measures how close a node is to source: by the profile if it knows the source,
// otherwise by the spectrum. The function is safe for concurrent use.
func (v *vectors) closeness(w World, source ID) func(ID) float32 {
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
	own := entries(s.outOf(w.Graph, source, make([]float32, len(s.value))), s.filter[middleRidge])
	return func(u ID) float32 {
		if int(u) >= s.in.Rows {
			return nn.Dot(own, s.inOf(w.Graph, u, make([]float32, len(s.value))))
		}
		return nn.Dot(own, nn.Row(s.in, int(u)))
	}
}

// minClose is an upper bound of the closeness of unrelated nodes, allowing for rounding errors.
const minClose = 1e-5

// vectorsDocument is the stored form of vectors. Matrices are encoded by packRows, other numbers by packFloats.
type vectorsDocument struct {
	Nodes, Rank int
	Mean        float64
	Value       []byte
	Out         []byte `msgpack:",omitempty"` // of a directed graph only
	In          []byte
	Profile     *profileDocument `msgpack:",omitempty"`
}

type profileDocument struct {
	Topics int
	Rarity []byte
	Basis  []byte
	Norm   []byte
	Part   [][]byte
	Kin    []byte
	Places int
	Value  []byte
	Place  []byte
}

func (v *vectors) document() *vectorsDocument {
	if v == nil {
		return nil
	}
	s := v.spectrum
	d := &vectorsDocument{Nodes: s.in.Rows, Rank: len(s.value), Mean: s.mean, Value: nn.PackFloats(s.value), In: nn.PackRows(s.in)}
	if s.directed {
		d.Out = nn.PackRows(s.out)
	}
	if p := v.profile; p != nil {
		d.Profile = &profileDocument{
			Topics: p.topics.Cols, Rarity: nn.PackFloats(p.rarity), Basis: nn.PackRows(p.topics), Norm: nn.PackFloats(p.norm), Kin: packAdjacency(p.kin),
			Places: len(p.position.value), Value: nn.PackFloats(p.position.value), Place: nn.PackRows(p.position.row),
		}
		for _, x := range p.part {
			d.Profile.Part = append(d.Profile.Part, nn.PackRows(x))
		}
	}
	return d
}

// unpackVectors returns the vectors of a belief: those in memory, in its document or in the separate document.
func (d *beliefDocument) unpackVectors() (*vectors, error) {
	switch {
	case d.vectors != nil:
		return d.vectors, nil
	case !d.Apart:
		return d.Vectors.vectors()
	}
	var apart vectorsDocument
	if err := open(vectorsMagic, d.packed, &apart); err != nil {
		return nil, fmt.Errorf("vectors of the nodes: %w", err)
	}
	return apart.vectors()
}

// vectors decodes the document.
func (d *vectorsDocument) vectors() (*vectors, error) {
	if d == nil {
		return nil, nil
	}
	switch {
	case d.Nodes < 0 || d.Nodes > math.MaxUint32 || d.Rank < 0 || len(d.Value) != 4*d.Rank:
		return nil, fmt.Errorf("%d singular values of %d nodes in %d bytes", d.Rank, d.Nodes, len(d.Value))
	case !nn.Finite(d.Mean) || d.Mean < 0:
		return nil, fmt.Errorf("%v neighbours on average", d.Mean)
	}
	s := &spectrum{value: make([]float32, d.Rank), mean: d.Mean, directed: d.Out != nil}
	if !nn.UnpackFloats(s.value, d.Value) {
		return nil, errors.New("a singular value is not finite")
	}
	var err error
	if s.in, err = nn.UnpackRows(d.In, d.Nodes, d.Rank); err != nil {
		return nil, err
	}
	s.out = s.in
	if s.directed {
		if s.out, err = nn.UnpackRows(d.Out, d.Nodes, d.Rank); err != nil {
			return nil, err
		}
	}
	s.prepare()
	v := &vectors{spectrum: s}
	if d.Profile != nil {
		v.profile, err = d.Profile.profile(d.Nodes)
	}
	return v, err
}

func (d *profileDocument) profile(nodes int) (*profile, error) {
	if len(d.Part) != profileParts || d.Topics < 0 || len(d.Rarity)%4 != 0 || len(d.Norm) != 4*nodes {
		return nil, fmt.Errorf("profile of %d parts, %d topics, %d and %d bytes", len(d.Part), d.Topics, len(d.Rarity), len(d.Norm))
	}
	p := &profile{rarity: make([]float32, len(d.Rarity)/4), norm: make([]float32, nodes)}
	if !nn.UnpackFloats(p.rarity, d.Rarity) || !nn.UnpackFloats(p.norm, d.Norm) {
		return nil, errors.New("a word is not finite")
	}
	var err error
	if p.topics, err = nn.UnpackRows(d.Basis, len(p.rarity), d.Topics); err != nil {
		return nil, err
	}
	for i, b := range d.Part {
		if p.part[i], err = nn.UnpackRows(b, nodes, d.Topics); err != nil {
			return nil, err
		}
	}
	if p.kin, err = unpackAdjacency(d.Kin, nodes); err != nil {
		return nil, err
	}
	p.position, err = d.position(nodes)
	return p, err
}

func (d *profileDocument) position(nodes int) (*position, error) {
	if d.Places < 0 || len(d.Value) != 4*d.Places {
		return nil, fmt.Errorf("%d eigenvalues in %d bytes", d.Places, len(d.Value))
	}
	p := &position{value: make([]float32, d.Places)}
	if !nn.UnpackFloats(p.value, d.Value) {
		return nil, errors.New("an eigenvalue is not finite")
	}
	var err error
	p.row, err = nn.UnpackRows(d.Place, nodes, d.Places)
	p.prepare()
	return p, err
}

// packAdjacency encodes the length of each row and the differences of its entries as varints.
func packAdjacency(a adjacency) (b []byte) {
	for _, r := range a {
		b = binary.AppendUvarint(b, uint64(len(r)))
		before := ID(0)
		for _, v := range r {
			b = binary.AppendUvarint(b, uint64(v-before))
			before = v
		}
	}
	return b
}

func unpackAdjacency(b []byte, nodes int) (adjacency, error) {
	bad := errors.New("links of kin")
	next := func(below int) (int, bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 || v >= uint64(below) {
			return 0, false
		}
		b = b[n:]
		return int(v), true
	}
	var a adjacency
	for range nodes {
		n, ok := next(len(b)) // each entry takes at least one byte
		if !ok {
			return nil, bad
		}
		var r []ID
		for i := range n {
			d, ok := next(nodes)
			if i > 0 {
				d += int(r[i-1])
			}
			if !ok || d >= nodes || i > 0 && d == int(r[i-1]) {
				return nil, bad
			}
			r = append(r, ID(d))
		}
		a = append(a, r)
	}
	if len(b) > 0 {
		return nil, bad
	}
	return a, nil
}
