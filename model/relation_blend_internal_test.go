package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/graph"
	"kith/model/internal/rules"
	"kith/model/nn"
)

// blendLists draws lists of candidates, and the link of each by a conditional logit with the given
// weights. A candidate may stand for several.
func blendLists(rng *rand.Rand, n int, truth []float64) (all []blendList) {
	for range n {
		list := blendList{scores: make([][]float64, 12), fixed: make([]float64, 12)}
		best, most := 0, math.Inf(-1)
		for i := range list.scores {
			if i >= 6 {
				list.fixed[i] = 1.5
			}
			z := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			list.scores[i] = z
			utility := list.fixed[i] - math.Log(rng.ExpFloat64()) // Gumbel: the largest is drawn by the logit
			for k, v := range z {
				utility += truth[k] * v
			}
			if utility > most {
				best, most = i, utility
			}
		}
		list.scores[0], list.scores[best] = list.scores[best], list.scores[0]
		list.fixed[0], list.fixed[best] = list.fixed[best], list.fixed[0]
		all = append(all, list)
	}
	return all
}

// The weights of a blend are a stationary point of the loss, and near the weights that the links
// were drawn by. A score that does not help, or that misleads, is left out.
func TestBlend(t *testing.T) {
	t.Parallel()
	truth := []float64{0.8, 0.6, 0, -0.5}
	b := newBlend(blendLists(rand.New(rand.NewPCG(4, 4)), 2000, truth), len(truth))
	w := b.fit()
	for k := range w {
		up, down := append([]float64(nil), w...), append([]float64(nil), w...)
		up[k], down[k] = up[k]+1e-4, down[k]-1e-4
		if slope := (b.loss(up) - b.loss(down)) / 2e-4; math.Abs(slope) > 0.1 {
			t.Errorf("the loss has slope %v in weight %d", slope, k)
		}
		if math.Abs(w[k]-truth[k]) > 0.1 {
			t.Errorf("weight %d is %v, want %v", k, w[k], truth[k])
		}
	}
	b.choose()
	if b.w[0] <= 0 || b.w[1] < 0.5 || b.w[2] != 0 || b.w[3] != 0 {
		t.Errorf("chosen %v", b.w)
	}
}

// A direction has weights of its own where its lists say so, near the weights of all where it has
// few lists.
func TestBlendOfDirection(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	all := []float64{1, 0.5, 0, 0}
	b := newBlend(blendLists(rng, 2000, all), len(all))
	b.choose()
	for _, c := range []struct {
		name        string
		lists       int
		truth       []float64
		least, most []float64 // of the weights
	}{
		{"as all", 300, all, nil, nil},
		{"few", 3, []float64{1, 1, 0, 0}, nil, nil},
		{"another", 300, []float64{1, 0.5, 0, 1}, []float64{0.8, 0.3, 0, 0.7}, []float64{1.2, 0.7, 0.3, 1.3}},
		{"less", 300, []float64{1, 0, 0, 0}, []float64{0.7, 0, 0, 0}, []float64{1.2, 0.15, 0.3, 0.3}},
		{"no longer", 300, []float64{0.2, 1, 0, 0}, []float64{0, 0.8, 0, 0}, []float64{0.4, 1.2, 0.3, 0.3}},
	} {
		own := b.narrowed(blendLists(rng, c.lists, c.truth))
		if (own == nil) != (c.least == nil) {
			t.Errorf("%s: own weights %v", c.name, own != nil)
			continue
		}
		for k := range c.least {
			if w := own.w[k]; w < c.least[k] || w > c.most[k] {
				t.Errorf("%s: weight %d is %v, want %v to %v", c.name, k, w, c.least[k], c.most[k])
			}
		}
	}
}

// One level fits the scores of all directions, also where the network of the evidence tells nothing
// about one of them: the slope is 1, since the scores are log-odds up to a constant.
func TestLevelOfDirections(t *testing.T) {
	t.Parallel()
	const perMember, candidates = 120, 20
	rng := rand.New(rand.NewPCG(6, 6))
	members := make([]*nn.Network, rankerMembers)
	for k := range members {
		members[k] = nn.NewNetwork(relationShape(1), nil)
		members[k].InitUniform(rng)
		for i := range members[k].Theta {
			members[k].Theta[i] *= 3
		}
	}
	l := &relationLearner{held: perMember}
	for i := range rankerMembers * perMember {
		head := graph.Direction(i % 2)
		x := nn.Resize(blas32.General{}, 1+candidates, rules.Len)
		for j := range x.Data {
			x.Data[j] = float32(rng.NormFloat64())
		}
		for j := range x.Rows {
			nn.Row(x, j)[rules.KnownColumn] = 0
		}
		added := [][]float64{make([]float64, x.Rows), make([]float64, x.Rows), make([]float64, x.Rows)}
		utilities := members[i/perMember].Outputs(x) // what direction 0 follows
		for j := range x.Rows {
			added[viewOwn][j] = 2 * rng.NormFloat64()
			if head == 1 {
				utilities[j] = added[viewOwn][j]
			}
		}
		best, most := 0, math.Inf(-1)
		for j, u := range utilities {
			if u -= math.Log(rng.ExpFloat64()); u > most {
				best, most = j, u
			}
		}
		for j := range rules.Len {
			x.Data[j], nn.Row(x, best)[j] = nn.Row(x, best)[j], x.Data[j]
		}
		added[viewOwn][0], added[viewOwn][best] = added[viewOwn][best], added[viewOwn][0]
		c := choice{x: &x, added: added, from: 1, to: x.Rows, standsFor: make([]float64, candidates), pairsPerCandidate: 1}
		l.lists = append(l.lists, relationList{ranked: c, level: c, head: head})
	}
	r := &relational{net: meanNetwork(members), weights: l.fitWeights(members)}
	if own := r.weights.of(1); own[0] > 0.3 {
		t.Fatalf("weights %v, and of direction 1 %v", r.weights.All, own)
	}
	if r.level = l.fitLevel(r); r.level.Slope < 0.6 || r.level.Slope > 1.4 {
		t.Errorf("level %v of weights %v", r.level, r.weights)
	}
}
