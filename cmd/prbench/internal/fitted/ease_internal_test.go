package fitted

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"kith/cmd/prbench/internal/trial"
	"kith/model/nn"
)

// Each column of EASE is the ridge regression of a node's edges on those of the other nodes.
func TestEaseIsRidgeRegression(t *testing.T) {
	t.Parallel()
	const n, lambda = 12, 1.5
	rng := rand.New(rand.NewPCG(2, 2))
	g := trial.NewGraph(n)
	g.Add(3, 3)
	for range 30 {
		g.Add(ID(rng.IntN(n)), ID(rng.IntN(n)))
	}
	a := adjacencyOf(g)
	y, err := a.ease(context.Background(), lambda)
	if err != nil {
		t.Fatal(err)
	}
	dense := mat.NewDense(n, n, nil)
	for u := range a {
		for _, v := range a[u] {
			dense.Set(u, int(v), 1)
		}
	}
	for v := range n {
		want := ridgeWithout(dense, v, lambda)
		for u := range n {
			if got := float64(nn.Row(y, u)[v]); math.Abs(got-want[u]) > 1e-5 {
				t.Errorf("y(%d, %d) = %v, want %v", u, v, got, want[u])
			}
		}
	}
}

// ridgeWithout predicts column v from all other columns by the normal equations with the v-th
// unknown fixed at 0.
func ridgeWithout(a *mat.Dense, v int, lambda float64) []float64 {
	n, _ := a.Dims()
	x := mat.DenseCopyOf(a)
	for u := range n {
		x.Set(u, v, 0)
	}
	var left mat.Dense
	var right, b, predicted mat.VecDense
	left.Mul(x.T(), x)
	for i := range n {
		left.Set(i, i, left.At(i, i)+lambda)
	}
	right.MulVec(x.T(), a.ColView(v))
	if err := b.SolveVec(&left, &right); err != nil {
		panic(err)
	}
	predicted.MulVec(x, &b)
	return predicted.RawVector().Data
}

func TestEaseRefusesLargeGraphs(t *testing.T) {
	t.Parallel()
	g := trial.NewGraph(maxDense + 1)
	g.Add(0, 1)
	w := world(g, nil)
	if _, err := ease().view(context.Background(), &config{Option: 1}, nil, w); !errors.Is(err, ErrRefused) {
		t.Errorf("%v, want ErrRefused", err)
	}
	if _, err := ease().fit(context.Background(), nil, &training{graph: w.Graph}); !errors.Is(err, ErrRefused) {
		t.Errorf("trained: %v, want ErrRefused", err)
	}
}

// On a graph that is large enough for blocked and parallel matrix products, the result is
// bit-identical to that of one processor.
func TestEaseRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	g := trial.NewGraph(400)
	for range 8000 {
		g.Add(ID(rng.IntN(400)), ID(rng.IntN(400)))
	}
	a := adjacencyOf(g)
	var results [][]float32
	for _, procs := range []int{1, 4} {
		was := runtime.GOMAXPROCS(procs)
		y, err := a.ease(context.Background(), 10)
		runtime.GOMAXPROCS(was)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, y.Data)
	}
	if !slices.Equal(results[0], results[1]) {
		t.Error("other bits on other processors")
	}
}
