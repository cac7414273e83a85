package model

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// vectors are numbers of every node, computed from the graph and the feature vectors at the time of a training. Later changes of
// the graph leave them as they are; a node that was added later is placed by its neighbours and features.
type vectors struct {
	spectrum *spectrum
	profile  *profile // nil: no feature vectors
}

// Lengths of the vectors: at most, and where the budget is small.
const (
	maxRank   = 256 // of the spectrum
	minRank   = 4
	maxTopics = 32 // of each part of a profile
	minTopics = 4
)

// A large graph has a spectrum of fewer values, because time counts more than the last ones: spectrumLen numbers of the nodes,
// but no fewer than largeRank values.
const (
	spectrumLen = 2 << 20
	largeRank   = 32
)

// rankFor is the number of singular values that a budget of so many bytes allows: the iteration holds two vectors for each,
// and the result one or two.
func rankFor(n int, budget int64) int {
	n = max(n, 1)
	most := min(max(spectrumLen/n, largeRank), maxRank)
	return min(max(int(budget/(4*int64(n))-lanczosExtra)/4, minRank), most, n)
}

// topicsFor is the length of latent vectors that a budget of so many bytes allows.
func topicsFor(n int, budget int64) int {
	return int(min(max(budget/(4*(profileParts+3)*int64(max(n, 1))), minTopics), maxTopics))
}

// vectorsOf computes the vectors of a world. Its content is that of the features, of which an edge changes nothing; nil
// without features.
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

// columns fills a row of x for each pair, all of one source, from the given column on.
func (v *vectors) columns(w World, pairs []Pair, x blas32.General, col int) {
	s := v.spectrum.from(w.Graph, pairs[0].Source)
	var p *profileSource
	if v.profile != nil {
		p = v.profile.from(w, pairs[0].Source)
	}
	for i, pair := range pairs {
		r := row(x, i)[col:]
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
