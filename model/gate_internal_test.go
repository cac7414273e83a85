package model

import (
	"bytes"
	"context"
	"math"
	"testing"

	"kith/index"
)

// gated returns a follower with a gate of one weight, its world and a source with an old edge, with one linked and one other
// target.
func gated(t *testing.T, weight float64) (m *Model, w World, pairs []Pair) {
	t.Helper()
	m, now := follower(t, 400)
	m.forecast.Gate = openGate()
	for k := range m.forecast.Gate.Weight {
		m.forecast.Gate.Weight[k] = weight
	}
	m.forecast.Gate.Level = -3
	m.forecast.snapshot, m.scorer = nil, nil
	w = now.World
	pairs = []Pair{{Source: 3, Target: 3}, {Source: 3, Target: 4}}
	out, _ := w.Graph.Out(3)
	pairs[0].Target = out[0]
	return m, w, pairs
}

// With weight 0 the ranker answers about links that do not exist as if there were no times. The forecast alone answers about
// links that exist. Other weights add the log-odds of the forecast above the level.
func TestGateWeights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	score := func(weight float64, timed bool) []Score {
		m, w, pairs := gated(t, weight)
		if !timed {
			w.Now = 0
		}
		s, err := m.Scorer().Score(ctx, w, pairs)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	forecast, ranker, none := score(alone, true), score(alone, false), score(0, true)
	if none[0] != forecast[0] || none[1] != ranker[1] {
		t.Errorf("weight 0: %v, want %v and %v", none, forecast[0], ranker[1])
	}
	for _, by := range []float64{0.25, 1} {
		both := score(by, true)
		want := logit(ranker[1].Exploit) + by*(logit(forecast[1].Exploit)+3)
		if got := logit(both[1].Exploit); both[0] != forecast[0] || math.Abs(got-want) > 0.05*math.Abs(want)+0.05 {
			t.Errorf("weight %v: log-odds %v, want %v", by, got, want)
		}
	}
}

// A gate has the weight with the largest gain in each part of the ages, unless the gain may be chance.
func TestGateOfQuestions(t *testing.T) {
	t.Parallel()
	var a gateAsker
	for i := range 400 {
		q := gateQuestion{age: float64(i)/400 - 1}
		q.rank = [gateChoices]float64{0.3, 0.3, 0.3, 0.3, 0.3}
		switch {
		case i < 100: // the forecast alone is best
			q.rank[4] = 0.5
		case i < 200: // a weight of 1/2 is best
			q.rank[2], q.rank[4] = 0.4, 0.35
		case i < 300: // the forecast is worse
			q.rank = [gateChoices]float64{0.3, 0.2, 0.2, 0.2, 0.1}
		case i == 300: // one lucky answer
			q.rank[4] = 1
		default:
			q.rank[4] = 0.299
		}
		a.asked = append(a.asked, q)
	}
	g := a.gate()
	if want := [gateParts]float64{alone, 0.5, 0, 0}; g.Weight != want || g.Ages[3] != ageless {
		t.Errorf("%+v, want the weights %v", g, want)
	}
	for age, want := range map[float64]float64{-2: alone, -0.6: 0.5, -0.3: 0, ageless: 0} {
		if got := g.at(age); got != want {
			t.Errorf("age %v: %v, want %v", age, got, want)
		}
	}
	if none := new(gateAsker).gate(); none.Weight != [gateParts]float64{} || none.check() != nil {
		t.Errorf("without questions: %+v", none)
	}
	for _, g := range []gate{{Weight: [gateParts]float64{2}}, {Level: math.NaN()}, {Ages: [gateParts]float64{math.Inf(1)}}} {
		if g.check() == nil {
			t.Errorf("%+v is accepted", g)
		}
	}
}

// TrainGate is a function of the seed, and does nothing without a forecast.
func TestTrainGate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	train := func(moments int) (*Model, []byte) {
		m, now := follower(t, moments)
		g := now.World.Graph.(*index.Graph)
		err := m.TrainGate(ctx, g, EdgePlan{}, func(hidden [][2]ID) (World, error) {
			e := g.Edit()
			for _, h := range hidden {
				e.Set(h[0], h[1], 0, 0)
			}
			return World{Graph: e.Graph(), Walk: now.World.Walk}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
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
	if m.forecast.Gate.Level >= 0 {
		t.Errorf("no questions were asked: %+v", m.forecast.Gate)
	}
	copied, err := m.Clone()
	if err != nil || copied.forecast.Gate != m.forecast.Gate {
		t.Errorf("a copy has the gate %+v, want %+v (%v)", copied.forecast.Gate, m.forecast.Gate, err)
	}
	before, _ := follower(t, 20)
	want, err := before.MarshalBinary()
	if _, b := train(20); err != nil || !bytes.Equal(b, want) {
		t.Errorf("a model without a forecast changed (%v)", err)
	}
}
