package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/cmd/prbench/gnn/internal/grad"
	"kith/cmd/prbench/internal/ogb"
	"kith/cmd/prbench/internal/trial"
)

// small is a path 0-1-2-3, a triangle 1-2-4, and a lone node 5.
func small() *graph {
	return newGraph(6, []pair{{0, 1}, {1, 2}, {2, 3}, {4, 1}, {2, 4}, {1, 2}, {3, 3}})
}

func TestGraph(t *testing.T) {
	t.Parallel()
	g := small()
	if both, u, v := g.common(pair{1, 2}); !slices.Equal(both, []int32{4}) || !slices.Equal(u, []int32{0}) || !slices.Equal(v, []int32{3}) {
		t.Errorf("neighbors of 1 and 2: %v, %v, %v", both, u, v)
	}
	less := g.without([]pair{{2, 1}, {0, 5}})
	if less.has(pair{1, 2}) || less.has(pair{2, 1}) || !less.has(pair{4, 1}) || !g.has(pair{1, 2}) {
		t.Errorf("without an edge: %v, before: %v", less.near, g.near)
	}
	s := g.symmetric()
	if got, want := s.Val[0], float32(1/math.Sqrt(2*4)); math.Abs(float64(got-want)) > 1e-6 || s.Col[0] != 1 {
		t.Errorf("entry of 0 and %d is %v, want %v", s.Col[0], got, want)
	}
	var d distances
	for range 2 { // the second walk finds no traces of the first
		d.walk(g, 1, 2, 2)
		if want := []int8{2, 1, 3, 0, 2, 0}; !slices.Equal(d.far, want) {
			t.Errorf("distances plus 1 from 1 without its edge to 2: %v, want %v", d.far, want)
		}
	}
}

// The pair 1, 2 shares node 4; without their edge each is at distance 2 from the other. 0 is only
// near 1, 3 only near 2.
func TestStructure(t *testing.T) {
	t.Parallel()
	out := make([]float32, buddyCounts)
	new(buddy).structure(small(), pair{1, 2}, out)
	for i, n := range []float64{1, 0, 0, 2, 2} {
		if math.Abs(float64(out[i])-math.Log1p(n)) > 1e-6 {
			t.Errorf("number %d is %v, want log(1 + %v)", i, out[i], n)
		}
	}
}

// Walks of one and two steps, by hand: 1 and 2 reach each other, 4, 0 and 3 as follows.
func TestOverlap(t *testing.T) {
	t.Parallel()
	s := overlap(small(), []pair{{0, 3}, {1, 2}})
	// 0 reaches 1 in one step, and 0, 2, 4 in two; 3 reaches 2 in one step, and 1, 3, 4 in two.
	if !slices.Equal(s.Col[:s.Ptr[1]], []int32{1, 2, 4}) {
		t.Fatalf("0 and 3 overlap in %v", s.Col[:s.Ptr[1]])
	}
	for i, want := range []float64{neoDecay, neoDecay, neoDecay * neoDecay} {
		if math.Abs(float64(s.Val[i])-want) > 1e-6 {
			t.Errorf("node %d has %v, want %v", s.Col[i], s.Val[i], want)
		}
	}
}

// The nodes around 1 and 2 are 0, 3 and 4. The common neighbor has label 2, and 0 and 3 are out of
// the reach of the other end only through 4, in three steps.
func TestAround(t *testing.T) {
	t.Parallel()
	g := small()
	nodes, labels := new(seal).around(g, pair{1, 2}, nil, nil)
	if !slices.Equal(nodes, []int32{1, 2, 0, 4, 3}) || !slices.Equal(labels, []int32{1, 1, 4, 2, 4}) {
		t.Errorf("nodes %v, labels %v", nodes, labels)
	}
	if got, want := between(g, nodes, 10), []pair{{10, 12}, {10, 13}, {11, 14}, {11, 13}}; !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
}

// Copies of a graph do not touch each other.
func TestRepeat(t *testing.T) {
	t.Parallel()
	s := repeat(small().mean(), 2)
	if s.Rows() != 12 || s.Cols != 12 || s.Col[s.Ptr[6]] != 7 || s.Val[s.Ptr[7]] != 1.0/3 {
		t.Errorf("%+v", s)
	}
}

// communities returns a graph of two groups whose features say little about them, with held-out
// links inside the groups and other pairs across.
func communities(t *testing.T) *data {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	const n = 60
	features := make([][]float32, n)
	for u := range features {
		features[u] = make([]float32, 8)
		for i := range features[u] {
			if r.IntN(3) == 0 || i == u%2 && r.IntN(3) > 0 {
				features[u][i] = 1
			}
		}
	}
	var train []pair
	var valid, test ogb.Part
	for u := range trial.ID(n) {
		for v := range u {
			if p := (pair{u, v}); u%2 != v%2 {
				if into := []*ogb.Part{&valid, &test}[r.IntN(2)]; len(into.Others) < 400 {
					into.Others = append(into.Others, p)
				}
			} else if r.IntN(2) == 0 {
				switch r.IntN(5) {
				case 0:
					valid.Links = append(valid.Links, p)
				case 1:
					test.Links = append(test.Links, p)
				default:
					train = append(train, p)
				}
			}
		}
	}
	d := newData(features, train)
	d.valid, d.test = valid, test
	return d
}

// quick makes a training of any method short.
func quick(o options) options {
	o.Width, o.Layers, o.Epochs, o.Batch, o.Every, o.Patience, o.Rate = 16, 2, 30, 64, 2, 8, 0.01
	o.InputDrop = 0.2
	if o.Chunk < 100 { // NBFNet, which sees the whole graph for each pair, needs fewer passes
		o.Epochs = 4
	}
	return o
}

// Each method learns two groups, and a second training with the same seed ends with the same bits.
func TestLearns(t *testing.T) {
	t.Parallel()
	d := communities(t)
	for _, m := range methods() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			fit := func() outcome {
				best, err := train(context.Background(), d, m.build, quick(m.options("cora")), "hits@100", 1)
				if err != nil {
					t.Fatal(err)
				}
				return best
			}
			first := fit()
			if got := first.test["hits@100"]; got < 0.7 {
				t.Errorf("Hits@100 %.3f after %d epochs, %v", got, first.epochs, first.valid)
			}
			if second := fit(); second.test["hits@100"] != first.test["hits@100"] || second.epochs != first.epochs {
				t.Errorf("the first training gave %v, the second %v", first, second)
			}
		})
	}
}

// The gradient of each method's loss agrees with central differences, in the direction of random
// changes of its parameters.
func TestMethodGradients(t *testing.T) {
	t.Parallel()
	d := communities(t)
	batch := slices.Concat(d.train[:20], d.valid.Others[:20])
	for _, m := range methods() {
		o := quick(m.options("cora"))
		o.Drop, o.InputDrop, o.TailDrop, o.LinkWeight = 0, 0, 0, 0 // no gradient flows through completed links
		r := rand.New(rand.NewPCG(3, 4))
		mk := &maker{rand: r}
		net := m.build(mk, d, o)
		for _, p := range mk.params { // zeros would be where a normalization is steepest
			for i := range p.Value.Data {
				p.Value.Data[i] += float32(0.3 * r.NormFloat64())
			}
		}
		loss := func() (*grad.Tape, *grad.Node) {
			tape := &grad.Tape{Rand: r}
			return tape, tape.Logistic(net.decode(tape, d.graph, net.encode(tape, d.graph), batch), 20)
		}
		tape, out := loss()
		tape.Backward(out)
		var apart, length float64
		for _, p := range mk.params {
			got, was := 0.0, slices.Clone(p.Value.Data)
			change := make([]float32, len(was))
			for i, g := range p.Gradient() {
				change[i] = float32(r.NormFloat64())
				got += float64(g) * float64(change[i])
			}
			var sides [2]float64
			const h = 2e-4
			for side, step := range []float32{h, -h} {
				for i := range was {
					p.Value.Data[i] = was[i] + step*change[i]
				}
				_, out := loss()
				sides[side] = float64(out.Data[0])
			}
			copy(p.Value.Data, was)
			want := (sides[0] - sides[1]) / (2 * h)
			apart += (got - want) * (got - want)
			length += want * want
		}
		if apart > 0.01*length { // kinks of ReLU and 32 bits make a difference
			t.Errorf("%s: derivatives are %v apart, their length is %v", m.name, math.Sqrt(apart), math.Sqrt(length))
		}
	}
}
