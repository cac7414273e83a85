package model

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// drawnChoices returns choices whose link has the largest sum of the first two columns, apart from
// noise.
func drawnChoices(seed uint64, n, cols int) (all []choice) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for range n {
		x := randomRows(rng, 11, cols)
		best, most := 0, math.Inf(-1)
		for i := range x.Rows {
			if v := float64(nn.Row(x, i)[0]+nn.Row(x, i)[1]) + 0.2*rng.NormFloat64(); v > most {
				best, most = i, v
			}
		}
		for j := range cols {
			x.Data[j], x.Data[best*cols+j] = x.Data[best*cols+j], x.Data[j]
		}
		all = append(all, choice{x: &x, from: 1, to: x.Rows, pairsPerCandidate: 1, poolWeight: 1})
	}
	return all
}

// fitNetwork learns to separate the links. It keeps the best pass, or the initial weights if no
// pass is better.
func TestFitNetwork(t *testing.T) {
	t.Parallel()
	notShort(t)
	c := newModel(t, "default", "", 0).config
	train, valid := drawnChoices(1, 400, c.rankLen()), drawnChoices(2, 100, c.rankLen())
	from, scale := blankRanker(c.rankerShape(1)).net, scaleOf(train)
	fitted := func() *nn.Network {
		r, err := fitNetwork(context.Background(), rand.New(rand.NewPCG(5, 5)), from, scale, train, valid, 10, 0.01, pace{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := fitted()
	before, after := lossOf(from, valid), lossOf(r, valid)
	if after > 0.8*before {
		t.Errorf("the loss was %v and is %v", before, after)
	}
	if again := fitted(); !slices.Equal(r.Theta, again.Theta) {
		t.Error("the same seed led to another network")
	}
	worse, err := fitNetwork(context.Background(), rand.New(rand.NewPCG(5, 5)), r, scale, train, valid, 1, 1, pace{})
	if err != nil {
		t.Fatal(err)
	}
	if again := lossOf(worse, valid); again > after+1e-5 {
		t.Errorf("a pass that made it worse was kept: the loss was %v and is %v", after, again)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fitNetwork(ctx, rand.New(rand.NewPCG(5, 5)), from, scale, train, valid, 10, 0.01, pace{}); err == nil {
		t.Error("a fit was not stopped")
	}
}

func lossOf(n *nn.Network, all []choice) float64 {
	loss, _ := (&choiceLearner{net: n}).loss(context.Background(), all)
	return loss
}

// The slopes of the loss match finite differences, within a choice and among the candidates of all
// sources.
func TestChoiceLoss(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 1))
	parts := make([]choiceShard, 2)
	for i := range parts {
		p := &parts[i]
		p.lists = []choiceList{{0, 4, 0.5}, {4, 7, 0}, {7, 12, 0.1}}
		for range 12 {
			p.score = append(p.score, rng.NormFloat64())
		}
		p.slope = make([]float64, len(p.score))
	}
	const h = 1e-5
	for i := range parts {
		for k, v := range parts[i].score {
			parts[i].score[k] = v + h
			want := choiceLoss(parts)
			parts[i].score[k] = v - h
			want = (want - choiceLoss(parts)) / (2 * h)
			parts[i].score[k] = v
			choiceLoss(parts)
			if got := parts[i].slope[k]; math.Abs(got-want) > 1e-8 {
				t.Errorf("slope of score %d of part %d is %v, want %v", k, i, got, want)
			}
		}
	}
}

// A network has the same loss on scaled columns after enter, and on unscaled columns after leave.
func TestColumnScale(t *testing.T) {
	t.Parallel()
	c := newModel(t, "default", "", 0).config
	all := drawnChoices(8, 50, c.rankLen())
	for _, c := range all {
		for i := range c.x.Rows {
			nn.Row(*c.x, i)[2] = 7*nn.Row(*c.x, i)[2] + 3
			nn.Row(*c.x, i)[3] = 0
		}
	}
	net := blankRanker(c.rankerShape(1)).net
	l := &choiceLearner{net: net.Clone(), scale: scaleOf(all)}
	want := lossOf(net, all)
	l.scale.enter(l.net)
	inside, err := l.loss(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	l.scale.leave(l.net)
	if after := lossOf(l.net, all); math.Abs(inside-want) > 1e-4 || math.Abs(after-want) > 1e-4 {
		t.Errorf("loss %v, in the scale %v, afterwards %v", want, inside, after)
	}
	first := l.net.Dense[0]
	for k, w := range first.W[3*first.Out : 4*first.Out] {
		if w != 0 {
			t.Errorf("weight %d of a column that is the same in all rows is %v", k, w)
		}
	}
}

// A candidate that stands for several counts as often as it would if it were there as often.
func TestStandsFor(t *testing.T) {
	t.Parallel()
	n := blankRanker(nn.Shape{In: 4, Hidden: []int{3}, Bias: true}).net
	one := drawnChoices(7, 1, 4)[0]
	many := one
	x := nn.Resize(blas32.General{}, 1+(one.to-1)+2, 4)
	copy(x.Data, one.x.Data)
	copy(nn.Row(x, one.to), nn.Row(*one.x, one.to-1))
	copy(nn.Row(x, one.to+1), nn.Row(*one.x, one.to-1))
	many.x, many.to = &x, x.Rows
	one.standsFor = make([]float64, one.to-1)
	one.standsFor[one.to-2] = math.Log(3)
	loss := func(c choice) (float64, []float32) {
		c.poolWeight = 0
		p := make([]choiceShard, 1)
		p[0].forward(n, nil, []choice{c}, []int{0})
		sum := choiceLoss(p)
		p[0].backward(n, 1)
		return sum, p[0].grad
	}
	a, da := loss(one)
	b, db := loss(many)
	if math.Abs(a-b) > 1e-6 {
		t.Errorf("the loss is %v, want %v", a, b)
	}
	for i := range da {
		if math.Abs(float64(da[i]-db[i])) > 1e-5 {
			t.Errorf("slope %d is %v, want %v", i, da[i], db[i])
		}
	}
}
