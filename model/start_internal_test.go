package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

func TestMeanNetwork(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	s := nn.Shape{In: 5, Hidden: []int{4}, Bias: true}
	x := blas32.General{Rows: 3, Cols: 5, Stride: 5, Data: make([]float32, 15)}
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	var members []*nn.Network
	want := make([]float64, x.Rows)
	for range 3 {
		n := nn.NewNetwork(s, make([]float32, s.Params()))
		n.InitUniform(rng)
		members = append(members, n)
		for i, f := range n.Forward(new(nn.Tape), x) {
			want[i] += float64(f) / 3
		}
	}
	for i, got := range meanNetwork(members).Forward(new(nn.Tape), x) {
		if math.Abs(float64(got)-want[i]) > 1e-6 {
			t.Errorf("row %d: %v, want the mean %v", i, got, want[i])
		}
	}
}

// A graph whose nodes are all linked has no links to learn.
func TestStartOfCompleteGraph(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := newMesh(3, false, [2]ID{0, 1}, [2]ID{1, 2}, [2]ID{0, 2})
	var l StartLearner
	err := l.Add(ctx, g, 0, 1, EdgePlan{}, func(hidden [][2]ID) (World, error) { return g.without(hidden).world(nil), nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Learn(ctx, StartPlan{Seed: 1, Passes: 1, Rate: 0.01}); !errors.Is(err, ErrInput) {
		t.Errorf("a start of no links: error %v, want %v", err, ErrInput)
	}
}

// On columns that tell nothing about the link, a network learns to score as its guide.
func TestGuide(t *testing.T) {
	t.Parallel()
	notShort(t)
	ctx := context.Background()
	all := drawnChoices(3, 300, startShape().In)
	rng := rand.New(rand.NewPCG(3, 3))
	learned := func(by *guide) *nn.Network {
		n, err := (&StartLearner{graphs: [][]choice{all}}).member(ctx, rng, StartPlan{Passes: sized(20, 8), Rate: 0.01}, by)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	teacher := learned(nil)
	agree := func(n *nn.Network) (count int) {
		for _, c := range all {
			a, b := slices.Clone(teacher.Forward(new(nn.Tape), *c.x)), n.Forward(new(nn.Tape), *c.x)
			if slices.Index(a, slices.Max(a)) == slices.Index(b, slices.Max(b)) {
				count++
			}
		}
		return count
	}
	if n := agree(learned(guideByNetwork(teacher))); n < 240 {
		t.Errorf("%d of 300 choices are those of the guide", n)
	}
	if n := agree(learned(guideByResource(1))); n > 120 {
		t.Errorf("%d of 300 choices are those of another guide", n)
	}
}

// The slopes of advice match finite differences. Candidates with equal scores get no advice.
func TestAdvice(t *testing.T) {
	t.Parallel()
	a := advice{share: 0.3, score: []float32{0.5, -1, 2, 1, 1}}
	score, slope := []float64{1, 2, -1, 0, 3}, make([]float64, 5)
	l := choiceList{link: 0, end: 3}
	a.loss(score, slope, l)
	for k := range l.end {
		const h = 1e-5
		score[k] += h
		up := a.loss(score, make([]float64, 5), l)
		score[k] -= 2 * h
		down := a.loss(score, make([]float64, 5), l)
		score[k] += h
		if want := (up - down) / (2 * h); math.Abs(slope[k]-want) > 1e-8 {
			t.Errorf("slope %d is %v, want %v", k, slope[k], want)
		}
	}
	if loss := a.loss(score, slope, choiceList{link: 3, end: 5}); loss != 0 || slope[3] != 0 || slope[4] != 0 {
		t.Errorf("equal candidates have loss %v and slopes %v", loss, slope[3:])
	}
}

// learnedStart has the current version of the columns.
func TestLearnedStart(t *testing.T) {
	t.Parallel()
	s, err := parseStart(learnedStart)
	if err != nil {
		t.Fatal(err)
	}
	text, lines := s.String(), strings.Split(learnedStart, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") })
	if text != strings.Join(lines, "") {
		t.Error("the weights change when they are read and written")
	}
	if _, err := parseStart(text[4:]); err == nil {
		t.Error("weights of another length are read")
	}
}
