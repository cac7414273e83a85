package trial_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kith/cmd/prbench/internal/trial"
)

func TestSummaries(t *testing.T) {
	t.Parallel()
	parts := trial.Parts{Networks: 2, Walk: 4, Train: 6}
	r := trial.Result{Rounds: 4, Curves: []trial.Curve{
		{Name: "a", Regret: []int{1, 1, 2, 2}, Live: 4, Time: 10, Parts: parts},
		{Name: "b", Regret: []int{0, 1, 1, 1}, Live: 3},
		{Name: "a", Seed: 1, Regret: []int{1, 2, 3, 4}, Live: 4, Time: 20, Parts: trial.Parts{Walk: 2}},
	}}
	all := r.Summaries()
	var got string
	for _, s := range all {
		got += fmt.Sprintf("%s %d %.0f %.2f %.3f;", s.Name, s.Seeds, s.Regret, s.Deviation, s.PerLive)
	}
	if want := "a 2 3 1.41 0.750;b 1 1 0.00 0.333;"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := all[0]; s.Time != 15*time.Nanosecond || s.Parts != (trial.Parts{Networks: 1, Walk: 3, Train: 3}) {
		t.Errorf("times %v, %+v", s.Time, s.Parts)
	}
}

func TestThin(t *testing.T) {
	var c trial.Curve
	for i := range 10 {
		c.Regret = append(c.Regret, i+1)
	}
	for n, want := range map[int][]int{1: {10}, 2: {5, 10}, 3: {3, 6, 10}, 10: c.Regret, 200: c.Regret} {
		if got := c.Thin(n); !slices.Equal(got.Regret, want) || got.Final() != 10 {
			t.Errorf("%d values: %v, want %v", n, got.Regret, want)
		}
	}
	if got := (trial.Curve{}).Thin(3); got.Final() != 0 {
		t.Errorf("an empty curve ends at %d", got.Final())
	}
}
