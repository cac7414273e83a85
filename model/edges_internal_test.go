package model

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/model/internal/graphtest"
	"kith/model/nn"
)

// twoGroups is a graph with two groups whose links stay inside the groups.
func twoGroups(directed bool) *mesh { return &mesh{Mesh: graphtest.TwoGroups(directed)} }

// groups is twoGroups with words that indicate the group of a node more often than not.
func groups() (*mesh, func(ID) []float32) {
	g, words := graphtest.Groups()
	return &mesh{Mesh: g}, words
}

func TestTrainEdges(t *testing.T) {
	t.Parallel()
	epochs := sized(40, 12)
	for _, directed := range []bool{false, true} {
		for _, policy := range []string{"default", "prb"} {
			g, m := twoGroups(directed), newModel(t, policy, "", 0)
			ask := func(hidden [][2]ID) (World, error) {
				for _, e := range hidden {
					if !slices.Contains(g.Succ[e[0]], e[1]) || e[0] == e[1] {
						t.Errorf("%v is to be hidden, which is no edge", e)
					}
				}
				return g.without(hidden).world(nil), nil
			}
			to, finished := meter()
			plan := EdgePlan{Samples: 60, Epochs: epochs, Progress: to}
			to.Expect(m.EdgePhases(g, plan)...)
			if err := m.TrainEdges(context.Background(), g, plan, ask); err != nil {
				t.Fatal(err)
			}
			if left := finished(); left != 0 {
				t.Errorf("%s: %v are left in the end", policy, left)
			}
			if data := m.samples(); m.belief == nil && (data.Len() != 60*5 || data.Edges != data.Len()) {
				t.Errorf("%d samples, %d of them edges, want 300", data.Len(), data.Edges)
			}
			tells(t, m, g)
		}
	}
}

// meter returns a meter whose clock advances by a second at each step, and a function that returns
// the time that is left at the end of a training.
func meter() (m *Meter, finished func() time.Duration) {
	seconds := 0
	now := func() time.Time {
		seconds++
		return time.Unix(int64(seconds), 0)
	}
	left := time.Duration(-1)
	m = NewMeter(now, func(s Progress) { left = s.Left })
	return m, func() time.Duration {
		m.Begin("finished")
		return left
	}
}

// tells checks that links inside a group get higher exploit parts than others.
func tells(t *testing.T, m *Model, g *mesh) {
	t.Helper()
	right, all := 0, 0
	for source := range ID(40) {
		candidates := []ID{(source+1)%20 + 20*(source/20), (source + 20) % 40}
		scores, err := m.Scorer().Score(context.Background(), g.world(nil), Pairs(source, candidates))
		if err != nil {
			t.Fatal(err)
		}
		all++
		if scores[0].Exploit > scores[1].Exploit {
			right++
		}
	}
	if right < all*8/10 {
		t.Errorf("%s ranks %d of %d pairs rightly", m.Policy(), right, all)
	}
}

// A second call replaces the samples of the first, and both are functions of the seed.
func TestTrainEdgesAgain(t *testing.T) {
	t.Parallel()
	g := twoGroups(false)
	ask := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil }
	run := func() *Model {
		m := newModel(t, "prb", "", 0)
		x := make([]float32, m.config.width())
		if _, err := m.Observe(Outcome{Contexts: x, Reward: 1}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := m.TrainEdges(context.Background(), g, EdgePlan{Samples: 10, Epochs: 1}, ask); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	a := run()
	for _, r := range a.regressors() {
		if r.Data.Len() != 51 || r.Data.Edges != 50 {
			t.Errorf("%d samples, %d of edges; want 51, 50", r.Data.Len(), r.Data.Edges)
		}
	}
	if !bytes.Equal(encode(t, a), encode(t, run())) {
		t.Error("the same seed led to another model")
	}
}

// A training learns from every fold, even if there are more samples than option replay keeps. The
// limit applies again at the next outcome.
func TestTrainEdgesBeyondReplay(t *testing.T) {
	t.Parallel()
	g := twoGroups(false)
	ask := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil }
	for _, policy := range []string{"prb"} {
		m := newModel(t, policy, "", 0, "replay", 20)
		o := Outcome{Pair: Pair{Source: 1, Target: 2}, Contexts: make([]float32, m.config.width()), Reward: 1}
		for range 8 {
			if _, err := m.Observe(o); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.TrainEdges(context.Background(), g, EdgePlan{Samples: 60, Epochs: 40}, ask); err != nil {
			t.Fatal(err)
		}
		if data := m.samples(); data.Len() != 308 || data.Edges != 300 {
			t.Errorf("%s: %d samples, %d of edges; want 308, 300", policy, data.Len(), data.Edges)
		}
		tells(t, m, g)
		again, err := Decode(encode(t, m))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Model{m, again} {
			if _, err := m.Observe(o); err != nil {
				t.Fatal(err)
			}
			if data := m.samples(); data.Len() != 20 || data.Edges != 11 {
				t.Errorf("%s: after an outcome %d samples, %d of edges; want 20, 11", policy, data.Len(), data.Edges)
			}
		}
	}
}

func TestTrainEdgesRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	broken := errors.New("broken")
	ask := func([][2]ID) (World, error) { return World{}, broken }
	m := newModel(t, "prb", "", 0)
	before := encode(t, m)
	if err := m.TrainEdges(ctx, newMesh(5, false, [2]ID{1, 1}), EdgePlan{}, ask); !errors.Is(err, ErrInput) {
		t.Errorf("a graph of one loop: %v", err)
	}
	if err := m.TrainEdges(ctx, twoGroups(false), EdgePlan{Folds: -1}, ask); !errors.Is(err, ErrOption) {
		t.Errorf("negative folds: %v", err)
	}
	if !bytes.Equal(before, encode(t, m)) {
		t.Error("a refused training changed the model")
	}
	if err := m.TrainEdges(ctx, twoGroups(false), EdgePlan{}, ask); !errors.Is(err, broken) {
		t.Errorf("a broken world: %v", err)
	}
	if err := newModel(t, "ppr", "", 0).TrainEdges(ctx, twoGroups(false), EdgePlan{}, ask); !errors.Is(err, errNotLearning) {
		t.Errorf("policy ppr: %v", err)
	}
}

func TestSampleIsUniform(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	counts := make([]int, 10)
	for range 5000 {
		s := nn.Subset(rng, 10, 3)
		if len(s) != 3 || !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != 3 {
			t.Fatalf("sample %v", s)
		}
		for _, v := range s {
			counts[v]++
		}
	}
	for v, n := range counts {
		if n < 1350 || n > 1650 {
			t.Errorf("%d was drawn %d times of 5000, want about 1500", v, n)
		}
	}
}
