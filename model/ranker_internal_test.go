package model

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

func randomRows(rng *rand.Rand, n, cols int) blas32.General {
	x := resize(blas32.General{}, n, cols)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return x
}

// Slopes are the differences of the log-odds near a row.
func TestRankerSlopes(t *testing.T) {
	c := newModel(t, "default", "", 0).config
	r := blankRanker(c.rankerShape())
	r.level = level{slope: 0.7, degree: -0.3, shift: 1}
	z := randomRows(rand.New(rand.NewPCG(1, 2)), 1, c.rankLen())
	at := func() float64 {
		odds := make([]float64, 1)
		r.logOdds(new(tape), z, odds)
		return odds[0]
	}
	const h = 1.0 / 1024
	for i, got := range r.slopes(new(tape), z) {
		v := z.Data[i]
		z.Data[i] = v + h
		want := at()
		z.Data[i] = v - h
		want = (want - at()) / (2 * h)
		z.Data[i] = v
		if math.Abs(got-want) > 2e-2*(1+math.Abs(want)) {
			t.Errorf("slope of column %d is %v, want %v", i, got, want)
		}
	}
}

// drawnChoices are choices whose link has the largest sum of its first two columns, but for noise.
func drawnChoices(seed uint64, n, cols int) (all []choice) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for range n {
		x := randomRows(rng, 11, cols)
		best, most := 0, math.Inf(-1)
		for i := range x.Rows {
			if v := float64(row(x, i)[0]+row(x, i)[1]) + 0.2*rng.NormFloat64(); v > most {
				best, most = i, v
			}
		}
		for j := range cols {
			x.Data[j], x.Data[best*cols+j] = x.Data[best*cols+j], x.Data[j]
		}
		all = append(all, choice{&x, 0, 1, x.Rows, 1})
	}
	return all
}

// A fit finds what tells the links, keeps the best pass, and changes nothing where no pass is better.
func TestFitRanker(t *testing.T) {
	c := newModel(t, "default", "", 0).config
	train, valid := drawnChoices(1, 400, c.rankLen()), drawnChoices(2, 100, c.rankLen())
	from := blankRanker(c.rankerShape())
	fitted := func() *ranker {
		r, err := fitRanker(context.Background(), rand.New(rand.NewPCG(5, 5)), from, train, valid, 10, 0.01, func() {})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := fitted()
	before, after := meanLoss(from.net, valid), meanLoss(r.net, valid)
	if after > 0.5*before {
		t.Errorf("the loss was %v and is %v", before, after)
	}
	if again := fitted(); !sameWeights(r.net, again.net) {
		t.Error("the same seed led to another ranker")
	}
	worse, err := fitRanker(context.Background(), rand.New(rand.NewPCG(5, 5)), r, train, valid, 1, 1, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if !sameWeights(r.net, worse.net) {
		t.Error("a pass that made it worse was kept")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fitRanker(ctx, rand.New(rand.NewPCG(5, 5)), from, train, valid, 10, 0.01, func() {}); err == nil {
		t.Error("a fit was not stopped")
	}
}

// The mean probability of links and of what stands for others is their share, by Newton's method as by counting.
func TestLevel(t *testing.T) {
	c := newModel(t, "default", "", 0).config
	all := drawnChoices(4, 300, c.rankLen())
	for i := range all {
		all[i].stands = 5
	}
	r := blankRanker(c.rankerShape())
	r.level = levelOf(r.net, all)
	links, expected := 0.0, 0.0
	for i := range all {
		odds := make([]float64, all[i].x.Rows)
		r.logOdds(new(tape), *all[i].x, odds)
		expected += sigmoid(odds[0])
		for _, v := range odds[1:] {
			expected += 5 * sigmoid(v)
		}
		links++
	}
	if math.Abs(expected-links) > 0.01*links {
		t.Errorf("%v links are expected, there are %v", expected, links)
	}
}
