package main

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"kith/cmd/prbench/internal/trial"
)

func TestDrawRegret(t *testing.T) {
	t.Parallel()
	r := trial.Result{Rounds: 4, Curves: []trial.Curve{
		{Name: "learner", Regret: []int{1, 1, 1, 2}}, {Name: "learner", Regret: []int{1, 2, 2, 4}}, {Name: "other", Regret: []int{1, 2, 3, 4}},
	}}
	var svg, image bytes.Buffer
	if err := drawRegret(&svg, &r, "regret", "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "learner", "other", "cumulative regret"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if err := drawRegret(&image, &r, "regret", "png"); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&image); err != nil {
		t.Error(err)
	}
	if got, want := fmt.Sprint(meanCurve("learner", r.Of("learner"), 4).Points), "[{1 1} {2 1.5} {3 1.5} {4 3}]"; got != want {
		t.Errorf("mean %s, want %s", got, want)
	}
}
