package model

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"kith/index"
	"kith/model/nn"
)

// habits yields moments in which a source mostly links again to the target of its newest edge.
// Nodes 0 to 9 are sources, the other twenty are targets. The world of a moment is the state before
// it.
func habits(moments int, directed bool) iter.Seq2[Moment, error] {
	return func(yield func(Moment, error) bool) {
		rng := rand.New(rand.NewPCG(4, 4))
		e := index.NewGraph(directed).Edit()
		e.Grow(30)
		g := e.Graph()
		weight, last := map[Pair]float32{}, map[ID]ID{}
		for i := range moments {
			now := Moment{World: World{Graph: g, Now: int64(1000 + 50*i + rng.IntN(40)), Walk: exact{newMesh(30, directed)}}}
			for range 1 + rng.IntN(2) {
				p := Pair{Source: ID(rng.IntN(10)), Target: 10 + ID(rng.IntN(20))}
				if to, known := last[p.Source]; known && rng.IntN(10) > 0 {
					p.Target = to
				}
				now.Links = append(now.Links, p)
			}
			if !yield(now, nil) {
				return
			}
			e := g.Edit()
			for _, p := range now.Links {
				weight[p]++
				last[p.Source] = p.Target
				e.Set(index.Edge{Ends: index.Ends{U: p.Source, V: p.Target}, Weight: weight[p], Time: now.World.Now})
			}
			g = e.Graph()
		}
	}
}

// follower returns a model of policy default that has followed habits, and the next moment.
func follower(t testing.TB, moments int) (*Model, Moment) {
	t.Helper()
	m := newModel(t, "default", "default", 0)
	i := 0
	for now := range habits(moments+1, true) {
		if i++; i > moments {
			return m, now
		}
		if err := m.Follow(context.Background(), now); err != nil {
			t.Fatal(err)
		}
	}
	panic("unreachable")
}

// The model predicts a source's newest target once it has learned enough events, by Follow or in a
// training.
func TestForecastLearns(t *testing.T) {
	t.Parallel()
	notShort(t)
	followed, now := follower(t, 600)
	trained := newModel(t, "default", "default", 0)
	f, err := trained.learnMoments(context.Background(), rand.New(trained.source), habits(600, true), nil, func(Moment, []eventList) {})
	if err != nil {
		t.Fatal(err)
	}
	trained.forecast = f
	for what, m := range map[string]*Model{"followed": followed, "trained": trained} {
		g := now.World.Graph.(Timed)
		for u := range ID(10) {
			out := outRow(g, u)
			want := out.to[newest(nil, out, now.World.Now)[0]]
			var targets []ID
			for v := ID(10); v < 30; v++ {
				targets = append(targets, v)
			}
			scores, err := m.Scorer().Score(context.Background(), now.World, Pairs(u, targets))
			if err != nil {
				t.Fatal(err)
			}
			best := slices.MaxFunc(scores, func(a, b Score) int { return int(1e6 * (a.Score - b.Score)) })
			got, sum := targets[slices.Index(scores, best)], 0.0
			for _, s := range scores {
				sum += s.Exploit
			}
			if got != want || sum < 0.2 || sum > 3 {
				t.Errorf("%s: %d links to %d, want %d; probabilities sum to %v, want about 1", what, u, got, want, sum)
			}
		}
	}
}

// If World.Now is 0 or the graph has no times, a forecast changes no bit of the scores.
func TestForecastNeedsTimes(t *testing.T) {
	t.Parallel()
	m, now := follower(t, 300)
	if m.Scorer().forecast == nil {
		t.Fatal("no forecast after 300 moments")
	}
	plain := newModel(t, "default", "default", 0)
	pairs := Pairs(3, []ID{1, 12, 17, 25})
	for what, w := range map[string]World{
		"no question": {Graph: now.World.Graph, Walk: now.World.Walk},
		"no times":    {Graph: untimed{now.World.Graph}, Walk: now.World.Walk, Now: now.World.Now},
	} {
		want, err := plain.Scorer().Score(context.Background(), w, pairs)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Scorer().Score(context.Background(), w, pairs); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	if few, _ := follower(t, 100); few.Scorer().forecast != nil {
		t.Error("100 moments make a forecast")
	}
}

// Outcomes are learned on top of the forecast, which replaces the ranker.
func TestForecastAndOutcomes(t *testing.T) {
	t.Parallel()
	m, now := follower(t, 600)
	pairs := Pairs(2, []ID{11, 12, 13, 14, 15, 16})
	before, err := m.Scorer().Score(context.Background(), now.World, pairs)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		x, err := m.Scorer().Contexts(context.Background(), now.World, pairs)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Observe(Outcome{Pair: pairs[1], Contexts: x, Chosen: 1, Reward: 1}); err != nil {
			t.Fatal(err)
		}
	}
	after, err := m.Scorer().Score(context.Background(), now.World, pairs)
	if err != nil || after[1].Exploit <= before[1].Exploit {
		t.Errorf("%v after twenty successes, %v before; %v", after[1], before[1], err)
	}
	inputs, err := m.Scorer().Inputs(context.Background(), now.World, pairs[0])
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(inputs, func(i Input) bool { return i.Name == "forecast" })
	if at < 0 || inputs[at].Value == 0 || inputs[len(inputs)-1].Adds != 0 {
		t.Errorf("inputs %v", inputs)
	}
}

// The gradient of a list matches finite differences of its loss.
func TestForecastGradient(t *testing.T) {
	t.Parallel()
	m, now := follower(t, 299)
	f := m.forecast
	f.Waiting = 0
	clear(f.Trainee.Opt.Grad)
	l := f.draw(rand.New(rand.NewPCG(1, 1)), now.World, now.Links[0], map[Pair]bool{now.Links[0]: true})
	if l.sourceRows >= l.x.Rows || slices.Max(l.log) == 0 {
		t.Fatalf("%d of %d rows of the source, weights %v", l.sourceRows, l.x.Rows, l.log)
	}
	loss := func() float64 {
		x := nn.Resize(f.scratch.times, l.x.Rows, timeLen)
		copy(x.Data, l.x.Data)
		f.Columns.normalize(x)
		s := make([]float64, x.Rows)
		f.Trainee.now.scores(&f.scratch.net, x, s)
		sum := 0.0
		for i, v := range s {
			sum += math.Exp(v + l.log[i])
		}
		return (math.Log(sum) - s[0]) / listBatch
	}
	f.learn(l, forecastRate)
	for k := range f.Trainee.now.theta {
		const step = 1e-2
		was := f.Trainee.now.theta[k]
		f.Trainee.now.theta[k] = was + step
		up := loss()
		f.Trainee.now.theta[k] = was - step
		down := loss()
		f.Trainee.now.theta[k] = was
		if want, got := (up-down)/(2*step), float64(f.Trainee.Opt.Grad[k]); math.Abs(want-got) > 2e-3+0.05*math.Abs(want) {
			t.Errorf("weight %d: %v, want %v", k, got, want)
		}
	}
}

// A decoded forecast continues bit by bit.
func TestForecastDocument(t *testing.T) {
	t.Parallel()
	m, now := follower(t, 300)
	b := encode(t, m)
	again, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		for _, m := range []*Model{m, again} {
			if err := m.Follow(context.Background(), now); err != nil {
				t.Fatal(err)
			}
		}
		if !Same(m.Scorer(), again.Scorer()) {
			t.Fatal("what was decoded learns otherwise")
		}
	}
	refused(t, m, map[string]func(*document){
		"no weights":       func(d *document) { *d.Weights = (*d.Weights)[:1] },
		"no forecast":      func(d *document) { d.Forecast = nil },
		"too many waiting": func(d *document) { d.Forecast.Waiting = listBatch },
		"pairs not seen":   func(d *document) { d.Forecast.Memory.Seen = 0 },
		"steps":            func(d *document) { d.Forecast.Trainee.Opt.Steps = -1 },
		"norms":            func(d *document) { d.Forecast.Columns.Sum[3] = math.NaN() },
		"shift":            func(d *document) { d.Forecast.Shift = math.Inf(1) },
	})
	r, err := m.Renamed(func(u ID) (ID, bool) { return u + 100, u != 12 }, sameRelations)
	if err != nil {
		t.Fatal(err)
	}
	if all := r.Nodes(); len(all) == 0 || slices.Min(all) < 100 || slices.Contains(all, 112) {
		t.Errorf("nodes %v", all)
	}
}

func TestForecastRefuses(t *testing.T) {
	t.Parallel()
	m, now := follower(t, 1)
	ctx := context.Background()
	late := now
	late.World.Now = 0
	if err := m.Follow(ctx, late); !errors.Is(err, ErrInput) {
		t.Errorf("a moment without a time: %v", err)
	}
	now.Links = []Pair{{Source: 0, Target: 99}}
	if err := m.Follow(ctx, now); !errors.Is(err, ErrInput) {
		t.Errorf("a node that is not there: %v", err)
	}
	if err := newModel(t, "prb", "default", 0).TrainEvents(ctx, nil, EdgePlan{}, nil, habits(1, true)); !errors.Is(err, errNotLearning) {
		t.Errorf("prb: %v", err)
	}
	broken := errors.New("broken")
	before := m.forecast
	err := m.TrainEvents(ctx, nil, EdgePlan{}, nil, func(yield func(Moment, error) bool) { yield(Moment{}, broken) })
	if !errors.Is(err, broken) || m.forecast != before {
		t.Errorf("%v, %v", err, m.forecast)
	}
}

// Other events of the same moment are not alternatives of an event.
func TestForecastMoment(t *testing.T) {
	t.Parallel()
	d := listDraw{nodes: 9, used: map[Pair]bool{}, moment: map[Pair]bool{{Source: 1, Target: 2}: true}}
	for _, p := range []Pair{{Source: 1, Target: 2}, {Source: 1, Target: 3}, {Source: 1, Target: 3}, {Source: 1, Target: 9}} {
		d.add(p, 0)
	}
	if want := []Pair{{Source: 1, Target: 3}}; !slices.Equal(d.pairs, want) {
		t.Errorf("alternatives %v, want %v", d.pairs, want)
	}
}

// BenchmarkFollow measures one event of a moment with many.
func BenchmarkFollow(b *testing.B) {
	for _, events := range []int{1, 64, 4096} {
		b.Run(strconv.Itoa(events), func(b *testing.B) {
			m, now := follower(b, 300)
			now.Links = nil
			for i := range events {
				now.Links = append(now.Links, Pair{Source: ID(i % 30), Target: ID(i / 30 % 30)})
			}
			for range b.N / events {
				if err := m.Follow(b.Context(), now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
