package trial_test

import (
	"bytes"
	"context"
	"testing"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// A player in memory ranks by the links that it knew at the start, found or was shown.
func TestPlayerKnows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d, err := trial.NewData(t.Context(), 8, [][2]trial.ID{{0, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(model.Spec{Policy: "common_neighbors"})
	if err != nil {
		t.Fatal(err)
	}
	p := trial.NewPlayer(m, d, []trial.Pair{{Source: 0, Target: 1}, {Source: 1, Target: 2}})
	arms := []trial.Pair{{Source: 0, Target: 4}, {Source: 0, Target: 3}, {Source: 0, Target: 2}}
	choose := func(want int) {
		t.Helper()
		if got, err := p.Choose(ctx, arms); err != nil || got != want {
			t.Errorf("chose %d, want %d, error %v", got, want, err)
		}
	}
	choose(2) // through 1
	if err := p.Learn(ctx, []trial.Pair{{Source: 3, Target: 1}}, 0, 1); err != nil {
		t.Fatal(err)
	}
	choose(1) // the first of equal scores
	for _, l := range []trial.Pair{{Source: 0, Target: 5}, {Source: 4, Target: 5}, {Source: 4, Target: 1}} {
		if err := p.(trial.Revealed).Reveal(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	choose(0) // through 1 and 5
	if err := p.Learn(ctx, []trial.Pair{{Source: 2, Target: 5}}, 0, 0); err != nil {
		t.Fatal(err)
	}
	choose(0) // a failure adds no link
}

// A player in memory passes the offer of each choice to its model.
func TestPlayerOffers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d, err := trial.NewData(t.Context(), 8, [][2]trial.ID{{0, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var models [3][]byte
	for i, offer := range [][]trial.ID{{4, 3, 2}, nil, {4, 3, 2}} {
		m, err := model.New(model.Spec{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		arms := model.Pairs(0, []trial.ID{4, 3, 2})
		if i == 0 {
			err = trial.NewPlayer(m, d, nil).Learn(ctx, arms, 1, 0)
		} else {
			g := trial.NewGraph(d.Nodes)
			x, failed := m.Scorer().Contexts(ctx, model.World{Graph: g, Walk: trial.NewWalker(g, 1e-6)}, arms)
			if failed != nil {
				t.Fatal(failed)
			}
			_, err = m.Observe(model.Outcome{Pair: arms[1], Contexts: x, Chosen: 1, Offered: offer})
		}
		if err != nil {
			t.Fatal(err)
		}
		if models[i], err = m.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Equal(models[0], models[1]) || !bytes.Equal(models[0], models[2]) {
		t.Error("the model did not learn what was on offer")
	}
}

// Links known at the start reduce regret. An entrant that knows all links has no live rounds in
// protocol fresh.
func TestEntrantKnows(t *testing.T) {
	t.Parallel()
	d := communities(t, 0)
	all := entrants(d, 0, model.Spec{Policy: "common_neighbors"}, model.Spec{Policy: "common_neighbors"})
	all[0].Name, all[0].Known = "informed", 0.5
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 100}
	r, err := tr.Play(context.Background(), all, 1)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := r.Curves[0].Final(), r.Curves[1].Final(); a >= b*3/4 {
		t.Errorf("regret %d of the one that knows half, %d of the other", a, b)
	}
	tr.Protocol = trial.Fresh()
	all[0].Known = 1
	if r, err := tr.Play(context.Background(), all[:1], 1); err != nil || r.Curves[0].Live != 0 {
		t.Errorf("to one that knows all %d rounds are fresh, error %v", r.Curves[0].Live, err)
	}
}

// The parts of a run are measured, and their sum does not exceed the whole.
func TestParts(t *testing.T) {
	t.Parallel()
	d := communities(t, 4)
	tr := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 60}
	r, err := tr.Play(context.Background(), entrants(d, 4, model.Spec{Policy: "prb"}), 1)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Curves[0]
	if p := c.Parts; p.Networks <= 0 || p.Walk <= 0 || p.Train <= 0 || p.Networks+p.Walk+p.Train > c.Time {
		t.Errorf("%+v of %v", p, c.Time)
	}
}

// prb_prior knows a tenth of the links at the start, the others know none.
func TestEntrantOfAPolicyKnows(t *testing.T) {
	t.Parallel()
	d := communities(t, 0)
	for policy, want := range map[string]float64{"prb_prior": 0.1, "prb": 0} {
		if e := trial.NewEntrant(d, model.Spec{Policy: policy}); e.Name != policy || e.Known != want {
			t.Errorf("%s knows %v, want %v", e.Name, e.Known, want)
		}
	}
}
