package model

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"kith/model/internal/column"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

func scoresOf(t testing.TB, s *Scorer, w World, pairs []Pair) []Score {
	t.Helper()
	scores, err := s.Score(context.Background(), w, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// logOdds returns the mean and the deviation of the belief's log-odds for a context.
func logOdds(m *Model, p Pair, x []float32) (mean, deviation float64) {
	z, v := inputsOf(m.belief, p, x), 0.0
	for i := range z {
		mean += m.belief.mean[i] * z[i]
		for j := range z {
			v += z[i] * m.belief.cov[i*len(z)+j] * z[j]
		}
	}
	return mean, math.Sqrt(max(v, 0))
}

// Exploit is the probability of the link. Explore is the difference to the probability at log-odds
// nu deviations higher. Without pin, neither the pair's own outcomes nor an existing link count.
func TestBeliefScores(t *testing.T) {
	t.Parallel()
	for _, nu := range []float64{0, 0.5, 3} {
		m := newModel(t, "default", "", 3, "pin", "off", "nu", nu)
		r := newRounds(3)
		play(t, m, r, 60)
		w, pairs := r.mesh.world(r.feature), Pairs(2, []ID{0, 1, 2, 5, 16, 20, 29})
		x, err := m.Scorer().Contexts(context.Background(), w, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scoresOf(t, m.Scorer(), w, pairs) {
			d := m.config.width()
			own := x[i*d : (i+1)*d]
			mean, deviation := logOdds(m, pairs[i], own)
			exploit, hope := chance(m.belief, inputsOf(m.belief, pairs[i], own)), nn.Sigmoid(mean+nu*deviation)
			if math.Abs(s.Exploit-exploit) > 1e-4 || math.Abs(s.Exploit+s.Explore-hope) > 1e-4 {
				t.Errorf("nu = %v, %v: %v and %v, want %v and %v", nu, pairs[i], s.Exploit, s.Explore, exploit, hope-exploit)
			}
		}
	}
}

// Exploit and Exploit+Explore are probabilities, with and without pin.
func TestBeliefScoresAreProbabilities(t *testing.T) {
	t.Parallel()
	for _, pin := range []string{"off", "on"} {
		m, r := newModel(t, "default", "", 3, "pin", pin, "nu", 100), newRounds(4)
		for range 5 {
			for source := range ID(5) {
				for _, s := range scoresOf(t, m.Scorer(), r.mesh.world(r.feature), Pairs(source, []ID{1, 7, 16, 20})) {
					if hope := s.Exploit + s.Explore; !(s.Exploit >= 0 && s.Exploit <= 1 && hope >= -1e-12 && hope <= 1+1e-12) {
						t.Errorf("pin %s, after %d rounds: %+v", pin, m.Rounds(), s)
					}
				}
			}
			play(t, m, r, 10)
		}
	}
}

// A pair that failed ranks below the same pair untried, and a linked pair ranks highest.
func TestPin(t *testing.T) {
	t.Parallel()
	w, pairs := kite().world(nil), Pairs(4, []ID{0, 1, 2, 3, 5}) // 0 and 2 are alike, 3 is linked
	m := newModel(t, "default", "", 0)
	x, err := m.Scorer().Contexts(context.Background(), w, pairs)
	if err != nil {
		t.Fatal(err)
	}
	before := scoresOf(t, m.Scorer(), w, pairs)
	if best := slices.MaxFunc(before, byScore); best != before[3] || math.Abs(before[0].Score-before[2].Score) > 1e-9 {
		t.Fatalf("0 and 2 are alike, 3 is linked: %+v", before)
	}
	if _, err := m.Observe(Outcome{Pair: pairs[0], Contexts: x, Reward: 0}); err != nil {
		t.Fatal(err)
	}
	after := scoresOf(t, m.Scorer(), w, pairs)
	if after[0].Score >= before[0].Score || after[0].Score >= after[2].Score || slices.MaxFunc(after, byScore) != after[3] {
		t.Errorf("0 has failed, 3 is linked: %+v; before: %+v", after, before)
	}
}

func byScore(a, b Score) int { return cmp.Compare(a.Score, b.Score) }

// A pair's own outcomes outweigh an estimate. If edges have no direction, outcomes of both
// directions count.
func TestKnown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		estimate := rapid.Float64Range(0.01, 0.99).Draw(t, "estimate")
		for _, directed := range []bool{false, true} {
			w := newMesh(4, directed, [2]ID{0, 1}).world(nil)
			b := &posterior{memory: new(memory).remember(Pair{Source: 0, Target: 2}, 0, nil)}
			b.memory = b.memory.remember(Pair{Source: 3, Target: 2}, 1, nil)
			known := func(u, v ID) float64 { return b.withOwnOutcomes(w, Pair{Source: u, Target: v}, false, estimate) }
			same := func(v float64) bool { return math.Abs(v-estimate) < 1e-12 }
			if !same(known(0, 3)) || known(0, 2) >= estimate || known(0, 1) <= estimate || known(3, 2) <= estimate {
				t.Fatalf("of %v: untried %v, failed %v, linked %v, won %v", estimate, known(0, 3), known(0, 2), known(0, 1), known(3, 2))
			}
			if back := known(2, 0); (back < estimate-1e-12) != !directed || directed && !same(back) {
				t.Fatalf("directed %v: the way back is estimated %v of %v", directed, back, estimate)
			}
			if back := known(1, 0); (back > estimate+1e-12) != !directed {
				t.Fatalf("directed %v: the linked way back is estimated %v of %v", directed, back, estimate)
			}
		}
	})
}

// Without training and without the columns of the ranker, the log-odds are a linear function of the
// structural prior, and uncertainty adds nothing.
func TestUntrainedBelief(t *testing.T) {
	t.Parallel()
	g := kite()
	w, m := g.world(nil), newModel(t, "default", "", 0, "pin", "off", "blocks", "structural")
	pairs := Pairs(1, []ID{3, 4, 5, 0})
	x, err := m.Scorer().Contexts(context.Background(), w, pairs)
	if err != nil {
		t.Fatal(err)
	}
	scores, d := scoresOf(t, m.Scorer(), w, pairs), m.config.width()
	var value, odds []float64
	for i, p := range pairs {
		mean, _ := logOdds(m, p, x[i*d:(i+1)*d])
		value, odds = append(value, prior(x[i*d:(i+1)*d])), append(odds, mean)
		if scores[i].Explore != 0 {
			t.Errorf("%v: %+v", p, scores[i])
		}
	}
	slope := (odds[0] - odds[2]) / (value[0] - value[2])
	for i := range odds {
		if want := odds[2] + slope*(value[i]-value[2]); slope <= 0 || math.Abs(odds[i]-want) > 1e-6 {
			t.Errorf("log-odds %v, priors %v: not on a rising line", odds, value)
			break
		}
	}
	if !(scores[0].Exploit > scores[1].Exploit && scores[1].Exploit > scores[2].Exploit) {
		t.Errorf("two common neighbours, one step more, isolated: %+v", scores)
	}
}

// The results of a scorer do not change while its model continues to learn.
func TestBeliefScorersAreShared(t *testing.T) {
	t.Parallel()
	m, w := tried(t, 10), kite().world(nil)
	pairs := Pairs(1, []ID{3, 4, 5})
	x := slices.Repeat([]float32{0.5}, m.config.width())
	var group sync.WaitGroup
	for i := range 20 {
		s := m.Scorer()
		want := scoresOf(t, s, w, pairs)
		group.Go(func() {
			for range 5 {
				got, err := s.Score(context.Background(), w, pairs)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, %v; want %v", got, err, want)
				}
			}
		})
		if _, err := m.Observe(Outcome{Pair: pairs[i%3], Contexts: x, Reward: float64(i % 2)}); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
}

// Short feature vectors are inputs entry by entry, long ones only by their similarity. Too many
// inputs are an error.
func TestBeliefInputs(t *testing.T) {
	t.Parallel()
	for features, entries := range map[int]bool{0: false, perEntry: true, perEntry + 1: false, maxFeatures: false} {
		c := newModel(t, "default", "", features).config
		want := 1 + spectral.Len(false) + column.TopologyLen + column.StructuralLen
		if features > 0 {
			want += spectral.Len(true) - spectral.Len(false) + column.SimilarityLen
		}
		if entries {
			want += 4 * features
		}
		if c.width() != want || len(c.scales()) != want+historyLen+2 {
			t.Errorf("%d features: %d inputs, %d scales, want %d, %d", features, c.width(), len(c.scales()), want, want+historyLen+2)
		}
	}
	spec := Spec{FeatureLen: maxBelief}
	if err := spec.Set("blocks", "target structural"); err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(); !errors.Is(err, ErrOption) {
		t.Errorf("%d inputs: %v, want ErrOption", maxBelief+column.StructuralLen+historyLen+1, err)
	}
}
