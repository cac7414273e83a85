package fitted

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
	"kith/model/nn"
)

// noise returns a matrix of random numbers.
func noise(rng *rand.Rand, rows, cols int) blas32.General {
	x := nn.Resize(blas32.General{}, rows, cols)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return x
}

func world(g *trial.Graph, features [][]float32) World {
	w := World{Graph: g}
	if features != nil {
		w.Features = func(u ID) []float32 { return features[u] }
	}
	return w
}

// groups is a graph with two groups of 20 nodes whose links stay inside the groups, and words that
// indicate the group of a node more often than not.
func groups() (*trial.Graph, [][]float32) {
	rng := rand.New(rand.NewPCG(4, 4))
	g, features := trial.NewGraph(40), make([][]float32, 40)
	for u := range features {
		features[u] = make([]float32, 12)
		for range 5 {
			features[u][rng.IntN(8)+4*(u/20)] = 1
		}
	}
	for range 300 {
		if u, v := rng.IntN(40), rng.IntN(20); u != v+20*(u/20) {
			g.Add(ID(u), ID(v+20*(u/20)))
		}
	}
	return g, features
}

// train trains a policy on groups, with fewer passes and fewer other pairs than by default.
func train(t *testing.T, policy string) (*Model, World) {
	t.Helper()
	g, features := groups()
	m, err := New(policy, 12, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.policy.plan.epochs, m.policy.plan.negatives = m.policy.plan.epochs/3, 3
	without := func(hidden [][2]ID) (World, error) { return world(g.Without(hidden), features), nil }
	if err := m.TrainEdges(context.Background(), g, without); err != nil {
		t.Fatal(err)
	}
	return m, world(g, features)
}

// answers returns the scores of all pairs.
func answers(t *testing.T, m *Model, w World) (values []float64) {
	t.Helper()
	all := make([]ID, 40)
	for u := range all {
		all[u] = ID(u)
	}
	for _, u := range all {
		scores, err := m.Scores(context.Background(), w, model.Pairs(u, all))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, scores...)
	}
	return values
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

// A training learns the groups. A model returns the scores of the given world, independent of
// earlier worlds and of concurrent calls.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, policy := range Policies() {
		if testing.Short() && policy != "ease" {
			continue
		}
		m, w := train(t, policy)
		want := answers(t, m, w)
		if inside, outside := means(want); inside <= outside {
			t.Errorf("%s: links inside groups have %v, others %v", policy, inside, outside)
		}
		g, features := groups()
		g.Add(0, 39)
		g.Add(1, 39)
		changed := world(g, features)
		wantChanged := answers(t, m, changed)
		if slices.Equal(want, wantChanged) {
			t.Errorf("%s: two more edges change nothing", policy)
		}
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				in, expect := w, want
				if i%2 == 1 {
					in, expect = changed, wantChanged
				}
				scores, err := m.Scores(context.Background(), in, model.Pairs(3, []ID{5, 30}))
				if err != nil || scores[0] != expect[3*40+5] || scores[1] != expect[3*40+30] {
					t.Errorf("%s: %v, %v", policy, scores, err)
				}
			})
		}
		all.Wait()
	}
}

// The same seed gives bit-identical results for any number of processors.
func TestPoliciesRepeat(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	for _, policy := range []string{"pair_mix", "ease"} {
		var all [][]float64
		for _, procs := range []int{1, 4} {
			was := runtime.GOMAXPROCS(procs)
			m, w := train(t, policy)
			all = append(all, answers(t, m, w))
			runtime.GOMAXPROCS(was)
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("%s: other bits on other processors", policy)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, features := groups()
	without := func(hidden [][2]ID) (World, error) { return world(g.Without(hidden), features), nil }
	m := func(policy string, features int) *Model {
		m, err := New(policy, features, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if _, err := New("pair", 0, 1, nil); err == nil {
		t.Error("an unknown policy is accepted")
	}
	if _, err := New("ease", 0, 1, map[string]string{"lambda": "x"}); err == nil {
		t.Error("an option that is no number is accepted")
	}
	if err := m("embedding", 0).TrainEdges(ctx, g, without); !errors.Is(err, ErrRefused) {
		t.Errorf("nodes without words: %v, want ErrRefused", err)
	}
	empty := trial.NewGraph(3)
	if err := m("pair_net", 0).TrainEdges(ctx, empty, without); !errors.Is(err, ErrRefused) {
		t.Errorf("no edges: %v, want ErrRefused", err)
	}
	broken := errors.New("broken")
	if err := m("pair_net", 0).TrainEdges(ctx, g, func([][2]ID) (World, error) { return World{}, broken }); !errors.Is(err, broken) {
		t.Errorf("a broken world: %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if err := m("pair_net", 12).TrainEdges(ended, g, without); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

// A model reads the option of its policy.
func TestOptions(t *testing.T) {
	t.Parallel()
	set := map[string]string{"lambda": "3", "mix": "0.5", "width": "7"}
	for policy, want := range map[string]float64{"ease": 3, "pair_mix": 0.5, "pair_net": 0} {
		m, err := New(policy, 0, 1, set)
		if err != nil || m.config.Option != want || m.Reads("lambda") != (want == 3) || m.Reads("width") {
			t.Errorf("%s: option %v, reads lambda %v, %v; want %v", policy, m.config.Option, m.Reads("lambda"), err, want)
		}
	}
}
