package model

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

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
