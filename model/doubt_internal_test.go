package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// hiding is a game on groups: some edges are hidden, and an outcome is whether a pair is one of
// them.
type hiding struct {
	g      *mesh
	world  World
	hidden map[[2]ID]bool
}

// hide hides one edge in six.
func hide(seed uint64) *hiding {
	all, features := groups()
	rng := rand.New(rand.NewPCG(seed, 5))
	h := &hiding{hidden: map[[2]ID]bool{}}
	var edges [][2]ID
	eachEdge(all, func(u, v ID) bool {
		if rng.IntN(6) == 0 {
			edges = append(edges, [2]ID{u, v})
			h.hidden[[2]ID{u, v}], h.hidden[[2]ID{v, u}] = true, true
		}
		return true
	})
	h.g = all.without(edges)
	h.world = h.g.world(features)
	return h
}

// candidates returns the pairs of a source that are not linked.
func (h *hiding) candidates(source ID) (pairs []Pair) {
	for v := range ID(len(h.g.Succ)) {
		if v != source && !slices.Contains(h.g.Succ[source], v) {
			pairs = append(pairs, Pair{Source: source, Target: v})
		}
	}
	return pairs
}

// scored returns the candidates of a source and their scores.
func (h *hiding) scored(t *testing.T, m *Model, source ID) ([]Pair, []Score) {
	t.Helper()
	pairs := h.candidates(source)
	scores, err := m.Scorer().Score(t.Context(), h.world, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return pairs, scores
}

// area returns the share of hidden edges and other candidates of the same source that are in the
// right order.
func (h *hiding) area(t *testing.T, m *Model) float64 {
	right, all := 0.0, 0.0
	for source := range ID(len(h.g.Succ)) {
		pairs, scores := h.scored(t, m, source)
		for i, p := range pairs {
			for j, q := range pairs {
				if !h.is(p) || h.is(q) {
					continue
				}
				all++
				if scores[i].Score > scores[j].Score {
					right++
				}
			}
		}
	}
	return right / all
}

func (h *hiding) is(p Pair) bool { return h.hidden[[2]ID{p.Source, p.Target}] }

// play tries the best candidate of a source.
func (h *hiding) play(t *testing.T, m *Model, source ID) {
	t.Helper()
	pairs, scores := h.scored(t, m, source)
	best := 0
	o := Outcome{}
	for i, s := range scores {
		if s.Score > scores[best].Score {
			best = i
		}
		o.Offered = append(o.Offered, pairs[i].Target)
	}
	var err error
	if o.Contexts, err = m.Scorer().Contexts(t.Context(), h.world, pairs); err != nil {
		t.Fatal(err)
	}
	o.Pair, o.Chosen = pairs[best], best
	if h.is(o.Pair) {
		o.Reward = 1
	}
	if _, err := m.Observe(o); err != nil {
		t.Fatal(err)
	}
}

// On a graph that is known, the first outcomes do not outweigh what the start knows, with feature
// vectors and without.
func TestFirstOutcomes(t *testing.T) {
	t.Parallel()
	for _, features := range []int{0, 12} {
		for seed := range uint64(4) {
			if testing.Short() && seed > 0 {
				break
			}
			h, m := hide(seed), newModel(t, "default", "", features)
			before := h.area(t, m)
			for n := range 12 {
				h.play(t, m, ID(rand.New(rand.NewPCG(seed, uint64(n))).IntN(40)))
				if now := h.area(t, m); now < before-0.06 {
					t.Errorf("%d features, seed %d: after %d outcomes %.3f of the pairs are in order, before them %.3f", features, seed, n+1, now, before)
				}
			}
		}
	}
}

// Before a belief doubts the ranker, it makes little difference how often a candidate was offered.
func TestFirstOffers(t *testing.T) {
	t.Parallel()
	h := hide(1)
	with, without := newModel(t, "default", "", 0), newModel(t, "default", "", 0)
	pairs, _ := h.scored(t, with, 3)
	var offered []ID
	for _, p := range pairs[:len(pairs)/2] {
		offered = append(offered, p.Target)
	}
	for range firstJudged - 1 {
		o := Outcome{Pair: pairs[0]}
		var err error
		if o.Contexts, err = with.Scorer().Contexts(t.Context(), h.world, pairs[:1]); err != nil {
			t.Fatal(err)
		}
		if _, err := without.Observe(o); err != nil {
			t.Fatal(err)
		}
		o.Offered = offered
		if _, err := with.Observe(o); err != nil {
			t.Fatal(err)
		}
	}
	_, a := h.scored(t, with, 3)
	_, b := h.scored(t, without, 3)
	for i, p := range pairs {
		logOdds := func(s Score) float64 { return math.Log(s.Exploit / (1 - s.Exploit)) }
		if x, y := logOdds(a[i]), logOdds(b[i]); math.Abs(x-y) > 0.1 {
			t.Errorf("log-odds of %v: %.3f with offers, %.3f without", p, x, y)
		}
	}
}

// A belief doubts the ranker if outcomes contradict it, and not if they are as the ranker predicts.
// Learning the outcomes again, and a document, keep its prior.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for _, contradict := range []bool{false, true} {
		h, m, rng := hide(1), newModel(t, "default", "", 12), rand.New(rand.NewPCG(1, 1))
		start := m.Scorer()
		for n := range lastJudged {
			pairs := h.candidates(ID(n % 40))
			pairs = pairs[rng.IntN(len(pairs)):][:1]
			scores, err := start.Score(t.Context(), h.world, pairs)
			if err != nil {
				t.Fatal(err)
			}
			o := Outcome{Pair: pairs[0]}
			if likely := rng.Float64() < scores[0].Exploit; likely != contradict {
				o.Reward = 1
			}
			if o.Contexts, err = start.Contexts(t.Context(), h.world, pairs); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Observe(o); err != nil {
				t.Fatal(err)
			}
		}
		if m.belief.doubtful != contradict {
			t.Errorf("doubtful %v, want %v", m.belief.doubtful, contradict)
		}
		before := m.belief.mean
		m, err := Decode(encode(t, m))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.TrainLog(t.Context(), 1, nil); err != nil {
			t.Fatal(err)
		}
		if m.belief.doubtful != contradict || !slices.Equal(before, m.belief.mean) {
			t.Errorf("learned again, doubtful is %v, want %v and the same weights", m.belief.doubtful, contradict)
		}
	}
}

// After lastJudged outcomes on a graph without edges, a belief has the prior that makes them more
// likely, however little. On a graph that is known, it has the prior that was clearly more likely
// the last time that one was, or else trusts the ranker.
func TestLastDoubt(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, known := range []bool{false, true} {
		near := 0
		for seed := range uint64(8) {
			h, m, rng := hide(seed), newModel(t, "default", "", 0), rand.New(rand.NewPCG(seed, 2))
			oneIn := 24 // outcomes besides the hidden edges
			if !known {
				h.g, h.hidden, oneIn = newMesh(40, false), nil, 60
				h.world = h.g.world(nil)
			}
			for n := range lastJudged {
				pairs := h.candidates(ID(n % 40))
				o := Outcome{Pair: pairs[rng.IntN(len(pairs))]}
				if h.is(o.Pair) || rng.IntN(oneIn) == 0 {
					o.Reward = 1
				}
				var err error
				if o.Contexts, err = m.Scorer().Contexts(t.Context(), h.world, []Pair{o.Pair}); err != nil {
					t.Fatal(err)
				}
				if _, err := m.Observe(o); err != nil {
					t.Fatal(err)
				}
			}
			likelihood := func(doubtful bool, n int) (sum float64) {
				b := *m.belief
				b.setPrior(doubtful)
				for i := range n {
					sum += b.learn(b.data.Row(i), float64(b.data.Y[i]))
				}
				return sum
			}
			want, gain := false, 0.0
			for n := firstJudged; n <= lastJudged; n *= 2 {
				gain = likelihood(true, n) - likelihood(false, n)
				if math.Abs(gain) > m.belief.leastGain(n) {
					want = gain > 0
				}
			}
			if m.belief.doubtful != want {
				t.Errorf("known %v, seed %d: doubtful %v, with a log-likelihood that is larger by %v", known, seed, m.belief.doubtful, gain)
			}
			if gain > 0 && gain < 5 {
				near++
			}
		}
		if near == 0 {
			t.Errorf("known %v: no seed has two priors that are nearly as likely", known)
		}
	}
}
