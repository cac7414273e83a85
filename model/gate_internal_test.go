package model

import (
	"bytes"
	"context"
	"math"
	"testing"

	"kith/index"
)

// gated returns a follower whose gate has the given weight and shift, its world and a source with
// one linked and one other target.
func gated(t *testing.T, weight, shift float64) (m *Model, w World, pairs []Pair) {
	t.Helper()
	m, now := follower(t, 400)
	for k := range gateParts {
		m.forecast.Gate.Weight[k], m.forecast.Gate.Shift[k] = weight, shift
	}
	m.forecast.snapshot, m.scorer = nil, nil
	w = now.World
	out, _ := w.Graph.Out(3)
	linked := map[ID]bool{}
	for _, v := range out {
		linked[v] = true
	}
	pairs = []Pair{{Source: 3, Target: out[0]}}
	for v := ID(10); len(pairs) == 1; v++ {
		if !linked[v] {
			pairs = append(pairs, Pair{Source: 3, Target: v})
		}
	}
	return m, w, pairs
}

// The log-odds of a link that does not exist are the ranker's, a share of the forecast's and the
// shift. About links that exist and with weight alone, the forecast answers.
func TestGateWeights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	score := func(weight, shift float64, timed bool) []Score {
		m, w, pairs := gated(t, weight, shift)
		if !timed {
			w.Now = 0
		}
		s, err := m.Scorer().Score(ctx, w, pairs)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	forecast, ranker := score(alone, 0, true), score(alone, 0, false)
	for _, by := range []float64{0, 0.25, 1} {
		both := score(by, -1.5, true)
		want := logit(ranker[1].Exploit) + by*logit(forecast[1].Exploit) - 1.5
		if got := logit(both[1].Exploit); both[0] != forecast[0] || math.Abs(got-want) > 0.01*math.Abs(want) {
			t.Errorf("weight %v: log-odds %v, want %v; existing link %v, want %v", by, got, want, both[0], forecast[0])
		}
	}
}

// A part of the ages has the weight with the largest gain, unless the gain may be chance, in all
// questions or in those of some kind.
func TestGateOfQuestions(t *testing.T) {
	t.Parallel()
	var asked []gateQuestion
	for i := range 600 {
		q := gateQuestion{gateLink: gateLink{Pair: Pair{Source: ID(i)}, kind: gateKind(i % int(gateKinds))}, age: float64(i)/600 - 1}
		q.rank = [gateChoices]float64{0.3, 0.3, 0.3, 0.3, 0.3}
		q.shift = [gateChoices]float64{1, 2, 3, 4, 0}
		switch {
		case i < 200: // the forecast alone is best
			q.rank[2], q.rank[4] = 0.4, 0.5
		case i < 400: // it is worse in questions about any link, a weight of 1/2 nowhere
			q.rank[2], q.rank[4] = 0.35, 0.5
			if q.kind == anyAsked {
				q.rank[4] = 0.29
			}
		case i == 400: // one lucky answer
			q.rank[4] = 1
		}
		asked = append(asked, q)
	}
	g := gateOf(asked)
	if want := [gateParts]float64{alone, 0.5, 0}; g.Weight != want || g.Ages[gateParts-1] != ageless {
		t.Errorf("%+v, want the weights %v", g, want)
	}
	for k, want := range []float64{0, 3, 1} {
		if math.Abs(g.Shift[k]-want) > 1e-9 {
			t.Errorf("shift %v of part %d, want %v", g.Shift[k], k, want)
		}
	}
	for age, want := range map[float64]int{-2: 0, -0.5: 1, -0.1: 2, ageless: 2} {
		if got := g.part(age); got != want {
			t.Errorf("age %v: part %v, want %v", age, got, want)
		}
	}
	if none := gateOf(nil); none.Weight != [gateParts]float64{} || none.check() != nil {
		t.Errorf("without questions: %+v", none)
	}
	for _, g := range []gate{{Weight: [gateParts]float64{2}}, {Shift: [gateParts]float64{math.NaN()}}, {Ages: [gateParts]float64{math.Inf(1)}}} {
		if g.check() == nil {
			t.Errorf("%+v is accepted", g)
		}
	}
}

// A gain that chance explains in questions about any link refuses a weight, however large it is in
// the others.
func TestGateOfDoubt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		better, worse int // of 100 questions about any link
		want          float64
	}{{70, 30, alone}, {61, 39, alone}, {59, 41, 0}, {50, 50, 0}, {30, 70, 0}} {
		var asked []gateQuestion
		for i := range 300 {
			q := gateQuestion{gateLink: gateLink{Pair: Pair{Source: ID(i)}, kind: gateKind(i % int(gateKinds))}}
			switch n := i / int(gateKinds); {
			case q.kind != anyAsked || n < c.better:
				q.rank[gateChoices-1] = 0.1
			case n < c.better+c.worse:
				q.rank[gateChoices-1] = -0.1
			}
			asked = append(asked, q)
		}
		if got := gateWeights()[bestWeight(asked)]; got != c.want {
			t.Errorf("%d better and %d worse: weight %v, want %v", c.better, c.worse, got, c.want)
		}
	}
}

// Each part of the ages has late questions, which refuse what gains in time only.
func TestGatePartsAreLate(t *testing.T) {
	t.Parallel()
	var asked []gateQuestion
	for i := range 600 {
		q := gateQuestion{gateLink: gateLink{Pair: Pair{Source: ID(i)}}, age: float64(i)/600 - 1}
		if q.rank[gateChoices-1] = 0.2; i >= 300 { // the young ones are asked in time
			q.kind, q.rank[gateChoices-1] = lastAsked+gateKind(i%2), -0.2
		}
		asked = append(asked, q)
	}
	if g := gateOf(asked); g.Weight != [gateParts]float64{} || g.Ages != [gateParts]float64{asked[399].age, asked[499].age, ageless} {
		t.Errorf("%+v, want parts of 100 late questions each, and no weight", g)
	}
}

// trainEvents trains a model on habits.
func trainEvents(t testing.TB, m *Model, moments int) {
	t.Helper()
	var last Moment
	for now := range habits(moments+1, true) {
		last = now
	}
	g := last.World.Graph.(*index.Graph)
	without := func(hidden [][2]ID) (World, error) {
		e := g.Edit()
		for _, h := range hidden {
			e.Set(index.Edge{Ends: index.Ends{U: h[0], V: h[1]}})
		}
		return World{Graph: e.Graph(), Walk: last.World.Walk}, nil
	}
	if err := m.TrainEvents(context.Background(), g, EdgePlan{}, without, habits(moments, true)); err != nil {
		t.Fatal(err)
	}
}

// The gate is a function of the seed, and stays open without a forecast.
func TestTrainGate(t *testing.T) {
	t.Parallel()
	train := func(moments int) (*Model, []byte) {
		m := newModel(t, "default", "default", 0)
		trainEvents(t, m, moments)
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return m, b
	}
	m, first := train(400)
	_, again := train(400)
	if !bytes.Equal(first, again) {
		t.Error("the same training made two models")
	}
	if m.forecast.Gate.open() {
		t.Errorf("no questions were asked: %+v", m.forecast.Gate)
	}
	copied, err := m.Clone()
	if err != nil || copied.forecast.Gate != m.forecast.Gate {
		t.Errorf("a copy has the gate %+v, want %+v (%v)", copied.forecast.Gate, m.forecast.Gate, err)
	}
	if few, _ := train(20); few.forecast.current() != nil || !few.forecast.Gate.open() {
		t.Errorf("20 moments make a forecast with the gate %+v", few.forecast.Gate)
	}
}
