package chart

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"kith/model/trial"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	r := trial.Result{Rounds: 3, Curves: []trial.Curve{
		{Name: "learner", Regret: []int{1, 1, 1}}, {Name: "learner", Regret: []int{1, 2, 2}}, {Name: "other", Regret: []int{1, 2, 3}},
	}}
	var svg, image bytes.Buffer
	if err := Write(&svg, &r, "regret", "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "learner", "other", "cumulative regret"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	var thin bytes.Buffer
	for i, c := range r.Curves {
		r.Curves[i] = c.Thin(2)
	}
	if err := Write(&thin, &r, "regret", "svg"); err != nil || thin.Len() == 0 {
		t.Errorf("thinned: %v", err)
	}
	if err := Write(&image, &r, "regret", "png"); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&image); err != nil {
		t.Error(err)
	}
	if err := Write(&svg, &r, "regret", "bmp9"); err == nil {
		t.Error("an unknown format was written")
	}
}
