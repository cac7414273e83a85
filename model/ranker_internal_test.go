package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/internal/column"
	"kith/model/internal/spectral"
	"kith/model/nn"
)

func randomRows(rng *rand.Rand, n, cols int) blas32.General {
	x := nn.Resize(blas32.General{}, n, cols)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return x
}

// The slopes match finite differences of the log-odds.
func TestRankerSlopes(t *testing.T) {
	t.Parallel()
	c := newModel(t, "default", "", 0).config
	r := blankRanker(c.rankerShape(1))
	r.level = level{Slope: 0.7, Degree: -0.3, Shift: 1}
	z := randomRows(rand.New(rand.NewPCG(1, 2)), 1, c.rankLen())
	at := func() float64 {
		odds := make([]float64, 1)
		r.logOdds(new(nn.Tape), z, odds)
		return odds[0]
	}
	const h = 1.0 / 1024
	for i, got := range r.slopes(new(nn.Tape), z) {
		v := z.Data[i]
		z.Data[i] = v + h
		want := at()
		z.Data[i] = v - h
		want = (want - at()) / (2 * h)
		z.Data[i] = v
		if math.Abs(got-want) > 2e-2*(1+math.Abs(want)) {
			t.Errorf("slope of column %d is %v, want %v", i, got, want)
		}
	}
}

// The expected number of links equals the actual number, with each candidate weighted by the pairs
// that it represents.
func TestLevel(t *testing.T) {
	t.Parallel()
	c := newModel(t, "default", "", 0).config
	all := drawnChoices(4, 300, c.rankLen())
	for i := range all {
		all[i].pairsPerCandidate = 5
	}
	r := blankRanker(c.rankerShape(1))
	r.level = levelOf(r.net, all)
	links, expected := 0.0, 0.0
	for i := range all {
		odds := make([]float64, all[i].x.Rows)
		r.logOdds(new(nn.Tape), *all[i].x, odds)
		expected += nn.Sigmoid(odds[0])
		for _, v := range odds[1:] {
			expected += 5 * nn.Sigmoid(v)
		}
		links++
	}
	if math.Abs(expected-links) > 0.01*links {
		t.Errorf("%v links are expected, there are %v", expected, links)
	}
}

// A plan draws as many edges as its memory allows. No fold has more than a tenth of the edges if
// ten folds suffice.
func TestRankerPlan(t *testing.T) {
	t.Parallel()
	c := newModel(t, "default", "", 0).config
	g := twoGroups(false)
	each := 4 * c.rankLen() * (1 + choiceKinds*choiceLen) // bytes per sample
	each += each * newcomerLinks / newcomerEvery
	for _, test := range []struct {
		plan           EdgePlan
		samples, folds int
	}{
		{EdgePlan{}, samplesFor(0), rankerFolds},
		{EdgePlan{Memory: 1 << 20}, 3 << 18 / each, 2},
		{EdgePlan{Memory: 1}, 1, 2},
		{EdgePlan{Memory: 1, Samples: 50}, 50, 2},
		{EdgePlan{Again: true}, samplesFor(0) / againPart, 1},
	} {
		p := test.plan
		if err := c.rankerPlan(g, &p); err != nil {
			t.Fatal(err)
		}
		if p.Samples != test.samples || p.Folds < test.folds || p.Folds > rankerFolds {
			t.Errorf("%+v became %d samples and %d folds, want %d and %d", test.plan, p.Samples, p.Folds, test.samples, test.folds)
		}
	}
}

func TestSamplesFor(t *testing.T) {
	t.Parallel()
	for edges, want := range map[int]int{0: 5000, 600_000: 6000, 10_000_000: 8000} {
		if got := samplesFor(edges); got != want {
			t.Errorf("%d samples of %d edges, want %d", got, edges, want)
		}
	}
}

func TestPassesFor(t *testing.T) {
	t.Parallel()
	for links, want := range map[int]int{0: 12, 100: 12, 3000: 10, 5000: 6, 8000: 6} {
		if got := passesFor(links); got != want {
			t.Errorf("%d passes over %d links, want %d", got, links, want)
		}
	}
}

// A trained ranker does not read the columns that compare a pair with the rivals of its source,
// unlike the start.
func TestTrainLeavesOutRivals(t *testing.T) {
	t.Parallel()
	g := twoGroups(false)
	m := newModel(t, "default", "", 0)
	columns := m.config.rankColumns()
	z := randomRows(rand.New(rand.NewPCG(1, 2)), 1, len(columns))
	read := func(family column.Family) (n int) {
		for j, s := range m.belief.ranker.slopes(new(nn.Tape), z) {
			if columns[j].Family == family && s != 0 {
				n++
			}
		}
		return n
	}
	if read(column.Rivals) == 0 {
		t.Error("the start reads no column of rivals")
	}
	without := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil }
	if err := m.TrainEdges(context.Background(), g, EdgePlan{Samples: 40}, without); err != nil {
		t.Fatal(err)
	}
	if n := read(column.Rivals); n != 0 || read(column.Shared) == 0 {
		t.Errorf("a trained ranker reads %d columns of rivals and %d of common neighbours", n, read(column.Shared))
	}
}

// Vectors that do not fit into the memory of a training are left out, which the model and its
// documents say. Vectors that fit do not depend on the memory.
func TestVectorsLeftOut(t *testing.T) {
	t.Parallel()
	notShort(t)
	g := twoGroups(false)
	without := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil }
	train := func(memory int64) *Model {
		m := newModel(t, "default", "", 0)
		if err := m.TrainEdges(context.Background(), g, EdgePlan{Samples: 40, Memory: memory}, without); err != nil {
			t.Fatal(err)
		}
		return m
	}
	small, large, larger := train(16<<10), train(1<<20), train(1<<30)
	want := spectral.LeastBytes(g.NumNodes())
	b, err := small.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(b)
	if err != nil || small.belief.vectors != nil || small.VectorsLeftOut() != want || again.VectorsLeftOut() != want {
		t.Errorf("%v; %d bytes left out, %d after decoding, want %d", err, small.VectorsLeftOut(), again.VectorsLeftOut(), want)
	}
	if !Same(large.Scorer(), larger.Scorer()) || large.belief.vectors == nil || large.VectorsLeftOut() != 0 {
		t.Errorf("trainings with enough memory differ")
	}
}

// Feature vectors that do not fit into the memory are not read.
func TestLongVectorsLeftOut(t *testing.T) {
	t.Parallel()
	notShort(t)
	g := twoGroups(false)
	f := slices.Repeat([]float32{1}, 2000)
	without := func(hidden [][2]ID) (World, error) {
		return g.without(hidden).world(func(ID) []float32 { return f }), nil
	}
	const bytes = 40 * 2000 * 16
	for memory, want := range map[int64]int64{bytes: 0, bytes - 1: bytes} {
		m := newModel(t, "default", "", len(f))
		if err := m.TrainEdges(context.Background(), g, EdgePlan{Samples: 10, Epochs: 1, Memory: memory}, without); err != nil {
			t.Fatal(err)
		}
		if got := m.VectorsLeftOut(); got != want || (m.belief.vectors == nil) != (want > 0) {
			t.Errorf("%d bytes of memory: %d left out, want %d", memory, got, want)
		}
	}
}

// A training on a graph without pairs that are no links keeps the ranker of the learned start.
func TestTrainCompleteGraph(t *testing.T) {
	t.Parallel()
	g := newMesh(3, false, [2]ID{0, 1}, [2]ID{1, 2}, [2]ID{0, 2})
	m := newModel(t, "default", "", 0)
	start := m.belief.ranker.net
	err := m.TrainEdges(context.Background(), g, EdgePlan{}, func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil })
	if err != nil {
		t.Fatal(err)
	}
	if want := meanNetwork(slices.Repeat([]*nn.Network{start}, rankerMembers)); !slices.Equal(m.belief.ranker.net.Theta, want.Theta) {
		t.Error("the weights are not those of the start")
	}
}

// Negative numbers of a plan are refused, and any number of negatives can be drawn.
func TestPlanLimits(t *testing.T) {
	t.Parallel()
	g, features := groups()
	without := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(features), nil }
	for _, policy := range []string{"default", "prb"} {
		for name, plan := range map[string]EdgePlan{
			"samples": {Samples: -1}, "negatives": {Negatives: -1}, "folds": {Folds: -1}, "epochs": {Epochs: -1}, "memory": {Memory: -1},
		} {
			err := newModel(t, policy, "", 12).TrainEdges(context.Background(), g, plan, without)
			if !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s, %+v: error %v, want %v", policy, plan, err, ErrOption)
			}
		}
		plan := EdgePlan{Samples: 5, Negatives: math.MaxInt, Epochs: 1}
		if err := newModel(t, policy, "", 12).TrainEdges(context.Background(), g, plan, without); err != nil {
			t.Errorf("%s with %d negatives: %v", policy, plan.Negatives, err)
		}
	}
}

// A training that continues from the last one begins with its members. It reads fewer edges in
// fewer passes. Without a last training it is a training like any other.
func TestTrainAgain(t *testing.T) {
	t.Parallel()
	g, features := groups()
	train := func(m *Model, plan EdgePlan) *nn.Network {
		t.Helper()
		without := func(hidden [][2]ID) (World, error) { return g.without(hidden).world(features), nil }
		if err := m.TrainEdges(t.Context(), g, plan, without); err != nil {
			t.Fatal(err)
		}
		return m.belief.ranker.net
	}
	first, same := newModel(t, "default", "", 12), newModel(t, "default", "", 12)
	trained := train(first, EdgePlan{Epochs: 2})
	if !slices.Equal(trained.Theta, train(same, EdgePlan{Epochs: 2, Again: true}).Theta) {
		t.Error("a first training is not the same if it is to continue")
	}
	x := randomRows(rand.New(rand.NewPCG(1, 2)), 20, trained.Shape.In)
	for i, got := range meanNetwork(membersOf(trained)).Outputs(x) {
		if want := trained.Outputs(x)[i]; math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("row %d: the mean of the members is %v, want %v", i, got, want)
		}
	}
	whole, again := first.EdgePhases(g, EdgePlan{}), first.EdgePhases(g, EdgePlan{Again: true})
	for i, p := range again {
		if p.Name == phaseLearning && p.Steps > whole[i].Steps/2 {
			t.Errorf("%d passes, a whole training makes %d", p.Steps, whole[i].Steps)
		}
	}
	distance := func(a, b *nn.Network) (sum float64) {
		for i, v := range a.Theta {
			sum += math.Abs(float64(v - b.Theta[i]))
		}
		return sum
	}
	continued, twin := train(first, EdgePlan{Again: true}), newModel(t, "default", "", 12)
	train(twin, EdgePlan{Epochs: 2})
	if !slices.Equal(continued.Theta, train(twin, EdgePlan{Again: true}).Theta) || !Same(first.Scorer(), twin.Scorer()) {
		t.Error("two trainings that continue from the same weights differ")
	}
	if near, far := distance(trained, continued), distance(trained, train(same, EdgePlan{})); near > far/2 {
		t.Errorf("the weights of a training that continues are %v away, those of a new one %v", near, far)
	}
}
