package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"kith/cmd/prbench/internal/trial"
)

func TestDrawRegret(t *testing.T) {
	t.Parallel()
	r := trial.Result{Rounds: 4, Curves: []trial.Curve{
		{Name: "learner", Regret: []int{1, 1, 1, 2}}, {Name: "learner", Regret: []int{1, 2, 2, 4}}, {Name: "other", Regret: []int{1, 2, 3, 4}},
	}}
	var svg bytes.Buffer
	if err := drawRegret(&svg, &r, "regret"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "learner", "other", "cumulative regret"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	mean := meanCurve(r.Of("learner"), 4)
	if got, want := fmt.Sprint(mean.mean), "[{1 1} {2 1.5} {3 1.5} {4 3}]"; got != want {
		t.Errorf("mean %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%.2f", mean.band()), "[{1.00 1.00} {2.00 2.21} {3.00 2.21} {4.00 4.41} {4.00 1.59} {3.00 0.79} {2.00 0.79} {1.00 1.00}]"; got != want {
		t.Errorf("band %s, want %s", got, want)
	}
	if band := meanCurve(r.Of("other"), 4).band(); band != nil {
		t.Errorf("the band of a single curve is %v", band)
	}
}
