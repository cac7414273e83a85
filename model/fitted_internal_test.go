package model

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// fittedPolicies lists the policies that are fitted to a whole graph. Without -long, pair_mix is
// left out, whose parts are pair_net and embedding.
func fittedPolicies() []string {
	if !*long {
		return []string{"pair_net", "embedding", "ease"}
	}
	return []string{"pair_net", "embedding", "pair_mix", "ease"}
}

// groups is twoGroups with words that indicate the group of a node more often than not.
func groups() (*mesh, func(ID) []float32) {
	rng := rand.New(rand.NewPCG(4, 4))
	features := make([][]float32, 40)
	for u := range features {
		features[u] = make([]float32, 12)
		for range 5 {
			features[u][rng.IntN(8)+4*(u/20)] = 1
		}
	}
	return twoGroups(false), func(u ID) []float32 { return features[u] }
}

// onceFitted holds a trained model of each policy.
var onceFitted sync.Map

// fitGroups returns a model that was trained on groups. Tests share the training.
func fitGroups(t *testing.T, policy string) (*Model, World) {
	t.Helper()
	train := sync.OnceValue(func() *Model {
		m, _ := trainGroups(t, policy, sized(30, 10))
		return m
	})
	once, _ := onceFitted.LoadOrStore(policy, train)
	m, err := once.(func() *Model)().Clone()
	if err != nil {
		t.Fatal(err)
	}
	g, features := groups()
	return m, g.world(features)
}

// trainGroups trains a policy on groups.
func trainGroups(t *testing.T, policy string, epochs int) (*Model, World) {
	t.Helper()
	g, features := groups()
	m := newModel(t, policy, "", 12)
	plan := EdgePlan{Epochs: epochs, Negatives: 3}
	ask := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(features), nil }
	if err := m.TrainEdges(context.Background(), g, plan, ask); err != nil {
		t.Fatal(err)
	}
	return m, g.world(features)
}

// answers returns the scores of all pairs.
func answers(t *testing.T, s *Scorer, w World) (values []float64) {
	t.Helper()
	var all []ID
	for u := range ID(40) {
		all = append(all, u)
	}
	for u := range ID(40) {
		scores, err := s.Score(context.Background(), w, Pairs(u, all))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range scores {
			values = append(values, x.Score)
		}
	}
	return values
}

// Before a training the prior scores. A training learns the groups. A decoded model returns the
// same scores.
func TestFittedPolicies(t *testing.T) {
	t.Parallel()
	for _, policy := range fittedPolicies() {
		g, features := groups()
		if m := newModel(t, policy, "", 12); m.Trained() || m.Scorer().Basis() != "structural prior" ||
			!alike(answers(t, m.Scorer(), g.world(features)), unspread(t, g)) {
			t.Errorf("%s, untrained: basis %q, or not the prior's scores", policy, m.Scorer().Basis())
		}
		m, w := fitGroups(t, policy)
		if !m.Trained() || m.Scorer().Basis() != "model" || m.Bytes() < 1<<10 {
			t.Errorf("%s: trained %v, basis %q, %d bytes", policy, m.Trained(), m.Scorer().Basis(), m.Bytes())
		}
		before := answers(t, m.Scorer(), w)
		if inside, outside := means(before); inside <= outside {
			t.Errorf("%s: links inside groups have %v, others %v", policy, inside, outside)
		}
		back, err := Decode(encode(t, m))
		if err != nil {
			t.Fatal(err)
		}
		if !Same(m.Scorer(), back.Scorer()) || !slices.Equal(before, answers(t, back.Scorer(), w)) {
			t.Errorf("%s: a stored model answers otherwise", policy)
		}
	}
}

func alike(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-5 })
}

// unspread returns the structural prior of all pairs.
func unspread(t *testing.T, g *mesh) []float64 {
	m := newModel(t, "prb_greedy", "", 0, "alpha", 0)
	return answers(t, m.Scorer(), g.world(nil))
}

// means returns the mean scores of pairs in the same group and of others.
func means(values []float64) (inside, outside float64) {
	for i, v := range values {
		switch u, w := i/40, i%40; {
		case u == w:
		case u/20 == w/20:
			inside += v / (2 * 20 * 19)
		default:
			outside += v / (2 * 20 * 20)
		}
	}
	return inside, outside
}

// Outcomes are only counted, and a training from outcomes is an error.
func TestFittedPoliciesOnlyCount(t *testing.T) {
	t.Parallel()
	m, w := fitGroups(t, "pair_net")
	before := answers(t, m.Scorer(), w)
	trained, err := m.Observe(Outcome{Pair: Pair{Source: 1, Target: 2}, Reward: 1})
	if err != nil || trained || m.Rounds() != 1 || !slices.Equal(before, answers(t, m.Scorer(), w)) {
		t.Errorf("an outcome: trained %v, %d rounds, %v, or other scores", trained, m.Rounds(), err)
	}
	if err := m.TrainLog(context.Background(), 1, nil); !errors.Is(err, errNotLearning) {
		t.Errorf("a training from outcomes: %v, want errNotLearning", err)
	}
	if !m.Fitted() || m.Learns() || newModel(t, "prb", "", 0).Fitted() {
		t.Error("which policies are fitted is told wrongly")
	}
}

// The same seed gives bit-identical results for any number of processors.
func TestFittedPoliciesRepeat(t *testing.T) {
	notShort(t)
	for _, policy := range fittedPolicies() {
		var docs [][]byte
		for _, procs := range []int{1, 4} {
			was := runtime.GOMAXPROCS(procs)
			m, w := trainGroups(t, policy, sized(30, 3))
			docs = append(docs, encode(t, m))
			for _, v := range answers(t, m.Scorer(), w) {
				docs[len(docs)-1] = binary.BigEndian.AppendUint64(docs[len(docs)-1], math.Float64bits(v))
			}
			runtime.GOMAXPROCS(was)
		}
		if !bytes.Equal(docs[0], docs[1]) {
			t.Errorf("%s: other bits on other processors", policy)
		}
	}
}

// A scorer returns the scores of the given world, independent of earlier worlds and of concurrent
// calls.
func TestFittedScorersFollowTheWorld(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, policy := range fittedPolicies() {
		m, w := fitGroups(t, policy)
		g, features := groups()
		g.add(0, 39)
		g.add(1, 39)
		changed := g.world(features)
		want, wantChanged := answers(t, m.Scorer(), w), answers(t, m.Scorer(), changed)
		if slices.Equal(want, wantChanged) {
			t.Errorf("%s: two more edges change nothing", policy)
		}
		fresh, err := Decode(encode(t, m))
		if err != nil {
			t.Fatal(err)
		}
		scorer := fresh.Scorer()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				in, expect := w, want
				if i%2 == 1 {
					in, expect = changed, wantChanged
				}
				scores, err := scorer.Score(context.Background(), in, Pairs(3, []ID{5, 30}))
				if err != nil || scores[0].Score != expect[3*40+5] || scores[1].Score != expect[3*40+30] {
					t.Errorf("%s: %v, %v", policy, scores, err)
				}
			})
		}
		all.Wait()
	}
}

func TestFitEdgesRefuses(t *testing.T) {
	t.Parallel()
	g := twoGroups(false)
	m := newModel(t, "pair_net", "", 0)
	broken := errors.New("broken")
	if err := m.TrainEdges(context.Background(), g, EdgePlan{}, func([][2]ID) (World, error) { return World{}, broken }); !errors.Is(err, broken) {
		t.Errorf("a broken world: %v", err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	ask := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil }
	if err := m.TrainEdges(ended, g, EdgePlan{}, ask); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if m.Trained() {
		t.Error("a refused training counts")
	}
}

// A world is recognised by the entries of its feature vectors, not by where they are in memory.
func TestIdentity(t *testing.T) {
	t.Parallel()
	g, features := groups()
	copied := func(u ID) []float32 { return slices.Clone(features(u)) }
	other := func(u ID) []float32 {
		f := copied(u)
		f[0]++
		return f
	}
	a := identityOf(g.world(features), true)
	if !a.same(identityOf(g.world(copied), true)) || a.same(identityOf(g.world(other), true)) {
		t.Error("a world with the same vectors is another, or one with other vectors is the same")
	}
}
