package model

import (
	"context"
	"math"
	"testing"

	"kith/model/internal/column"
	"kith/model/nn"
)

// The inputs of a belief add up to the log-odds of the link, and those of the prior to the
// estimate.
func TestInputs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		policy, preset string
		observed       int
		settings       []any
	}{
		{"default", "default", 0, nil}, {"default", "default", 20, []any{"pin", "off"}}, {"prb", "default", 0, nil},
	} {
		r := newRound(t, c.policy, c.preset, 12, c.settings...)
		for range c.observed {
			r.play(t)
		}
		s := r.model.Scorer()
		r.world.Walk = still{make([]float64, 1)}
		for i, p := range r.pairs {
			scores, err := s.Score(ctx, r.world, []Pair{p})
			if err != nil {
				t.Fatal(err)
			}
			inputs, err := s.Inputs(ctx, r.world, p)
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			for _, in := range inputs {
				got += in.Adds
			}
			if want := map[bool]string{true: "log-odds", false: "exploit"}[s.belief != nil]; s.AddsTo() != want {
				t.Errorf("%s after %d: inputs add to %q, want %q", c.policy, c.observed, s.AddsTo(), want)
			}
			if s.belief != nil {
				got = nn.Sigmoid(got / math.Sqrt(1+math.Pi*s.belief.variance(inputs)/8))
			}
			if math.Abs(got-scores[0].Exploit) > 1e-5 {
				t.Errorf("%s after %d, pair %d: inputs add up to %v, the estimate is %v", c.policy, c.observed, i, got, scores[0].Exploit)
			}
		}
	}
}

// variance returns the variance of the log-odds.
func (p *posterior) variance(inputs []Input) (v float64) {
	if !p.learned {
		return 0
	}
	z := make([]float64, len(inputs))
	for i, in := range inputs {
		z[i] = in.Value
		if i < len(z)-1 {
			z[i] = float64(scaled(float32(in.Value), p.scale[i]))
		}
	}
	for i := range z {
		for j := range z {
			v += z[i] * z[j] * float64(p.cov.Data[i*p.cov.Stride+j])
		}
	}
	return v
}

// Every entry of a context has a unique name for any blocks. For a trained network, Adds is NaN.
func TestInputNames(t *testing.T) {
	t.Parallel()
	notShort(t)
	for _, settings := range [][]any{nil, {"blocks", "source product structural"}, {"blocks", "difference similarity"}} {
		r := newRound(t, "prb_greedy", "default", 5, settings...)
		c := &r.model.config
		columns := c.contextColumns()
		seen := map[string]bool{}
		for _, col := range columns {
			seen[col.Name] = true
		}
		if len(columns) != c.width() || len(seen) != len(columns) {
			t.Errorf("%v: the columns of %d inputs are %v", settings, c.width(), columns)
		}
		for range 200 {
			r.play(t)
		}
		r.world.Walk = still{make([]float64, 1)}
		inputs, err := r.model.Scorer().Inputs(context.Background(), r.world, r.pairs[0])
		if err != nil || r.model.Scorer().Basis() != basisModel {
			t.Fatal(err, r.model.Scorer().Basis())
		}
		for _, in := range inputs {
			if !math.IsNaN(in.Adds) {
				t.Errorf("%s: %v", in.Name, in.Adds)
			}
		}
	}
	if in, err := newRound(t, "random", "", 3).model.Scorer().Inputs(context.Background(), stillWorld(4, 10), Pair{Source: 0, Target: 1}); in != nil || err != nil {
		t.Error(in, err)
	}
}

// Every input of every policy, with its own blocks and with all, has a family. The words of a
// family are its own.
func TestInputFamilies(t *testing.T) {
	t.Parallel()
	words := map[string]column.Family{}
	for _, policy := range Policies() {
		own := newModel(t, policy, "", 3).config
		all := own
		all.Blocks = 1<<len(blockKinds) - 1
		for _, c := range []*config{&own, &all} {
			for _, in := range append(c.contextColumns(), historyColumns()...) {
				if in.Family == 0 {
					t.Errorf("%s: input %q has no family", policy, in.Name)
					continue
				}
				tells := in.Family.Words()
				if other, known := words[tells]; known && other != in.Family || tells == "" && in.Family != column.General {
					t.Errorf("%s: input %q of family %d tells %q, as family %d does", policy, in.Name, in.Family, tells, other)
				}
				words[tells] = in.Family
			}
		}
	}
	if len(words) < 10 {
		t.Errorf("only %d families", len(words))
	}
}
