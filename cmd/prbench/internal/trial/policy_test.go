package trial_test

import (
	"context"
	"slices"
	"testing"

	"kith/cmd/prbench/internal/trial"
	"kith/model"
)

// The rivals are policies of kith with other options.
func TestRivals(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		policy string
		alpha  float64
	}{"ee_net": {"prb", 0}, "neural_greedy": {"prb_greedy", 0}, "prb_prior": {"prb", 0.85}, "eve_ppr": {"ppr", 0.85}, "prb": {"prb", 0.85}} {
		m, err := trial.NewModel(model.Spec{Policy: name, Preset: "paper"})
		if err != nil {
			t.Fatal(err)
		}
		if w := m.Scorer().Walk(); m.Policy() != want.policy || w.Alpha != want.alpha || w.Column {
			t.Errorf("%s is %s with a walk of %+v, want %v", name, m.Policy(), w, want)
		}
	}
	if all := trial.Policies(); slices.Index(all, "ee_net") != 4 || len(all) != len(model.Policies())+7 {
		t.Errorf("policies %v", all)
	}
}

// EvePPR chooses the candidate that a walk from all candidates visits most, and never learns.
func TestEvePPR(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g, links := trial.NewGraph(7), [][2]trial.ID{{1, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}}
	var known []trial.Pair
	for _, l := range links {
		g.Add(l[0], l[1])
		known = append(known, trial.Pair{Source: l[0], Target: l[1]})
	}
	d, err := trial.NewData(ctx, 7, links, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := trial.NewEntrant(d, model.Spec{Policy: "eve_ppr"}).New(1, known)
	if err != nil {
		t.Fatal(err)
	}
	at := []trial.ID{5, 3, 2}
	h := model.Start{Node: []trial.ID{2, 3, 5}, Value: []float64{1, 1, 1}}
	v, _, err := trial.NewWalker(g, 1e-9).Propagate(ctx, model.Walk{Alpha: 0.85}, h, at)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Index(v, slices.Max(v))
	arms := model.Pairs(1, at)
	for range 3 {
		got, err := p.Choose(ctx, arms)
		if err != nil || got != want {
			t.Errorf("chose %d, %v, want %d of %v", got, err, want, v)
		}
		if err := p.Learn(ctx, arms, got, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// Without their bonus NeuralUCB and NeuralTS are NeuralGreedy, and with it they choose otherwise.
func TestNeural(t *testing.T) {
	t.Parallel()
	d := communities(t, 4)
	run := trial.Trial{Data: d, Protocol: trial.Paper(), Rounds: 300}
	play := func(policy string, nu float64) []int {
		spec := model.Spec{Policy: policy, Preset: "paper", FeatureLen: 4}
		if err := spec.Set("nu", nu); err != nil {
			t.Fatal(err)
		}
		r, err := run.Play(context.Background(), []trial.Entrant{trial.NewEntrant(d, spec)}, 3)
		if err != nil {
			t.Fatal(err)
		}
		return r.Curves[0].Regret
	}
	greedy := play("neural_greedy", 0)
	for _, policy := range []string{"neural_ucb", "neural_ts"} {
		if got := play(policy, 0); !slices.Equal(got, greedy) {
			t.Errorf("%s without a bonus ends with regret %d, neural_greedy with %d", policy, got[len(got)-1], greedy[len(greedy)-1])
		}
		if got := play(policy, 1); slices.Equal(got, greedy) {
			t.Errorf("%s with a bonus is neural_greedy", policy)
		}
	}
	if _, err := trial.NewEntrant(d, model.Spec{Policy: "neural_ucb"}).New(1, nil); err == nil {
		t.Error("neural_ucb plays with preset default")
	}
}
