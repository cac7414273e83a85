package spectral

import (
	"context"
	"testing"

	"kith/model/internal/graphtest"

	"gonum.org/v1/gonum/mat"
)

// The products match dense matrices, on a graph with nodes that have no edges or no words.
func TestWordProducts(t *testing.T) {
	t.Parallel()
	group, words := graphtest.Groups()
	const n = 42
	g := graphtest.New(n, false)
	eachEdge(group, g.Add)
	w := worldOf(g, func(u ID) []float32 {
		switch {
		case u == 5 || u == 41:
			return nil
		case u == 40:
			return words(3)
		}
		return words(u)
	})
	content, err := contentOf(context.Background(), featuresOf(12), w, maxTopics)
	if err != nil {
		t.Fatal(err)
	}
	T := mat.NewDense(n, 12, nil)
	for u, r := range content.Rows {
		for i, at := range r.At {
			T.Set(u, int(at), float64(r.Value[i]))
		}
	}
	N := denseOf(g)
	for u := range n {
		if row := N.RowView(u).(*mat.VecDense); mat.Sum(row) > 0 {
			row.ScaleVec(1/mat.Sum(row), row)
		}
	}
	product := func(a, b mat.Matrix) *mat.Dense {
		var c mat.Dense
		c.Mul(a, b)
		return &c
	}
	WT := averaged(g, nil, T)
	WWT, NT := averaged(g, nil, WT), product(N, T)
	NNT := product(N, NT)
	rows := vectorsFor(t, w, g).table(t, w)
	check := func(name string, col, u, v int, want float64) {
		t.Helper()
		if got := float64(rows[u*n+v][spectralLen+profileProducts+col]); !about(got, want) {
			t.Errorf("%s of pair %d, %d: %v, want %v", name, u, v, got, want)
		}
	}
	for u := range n {
		for v := range n {
			both := func(name string, col int, a, b *mat.Dense) {
				t.Helper()
				x, y := mat.Dot(a.RowView(u), b.RowView(v)), mat.Dot(a.RowView(v), b.RowView(u))
				check(name+", smaller", col, u, v, min(x, y))
				check(name+", larger", col+1, u, v, max(x, y))
			}
			both("T and WT", productOwnW, T, WT)
			both("WT and W²T", productWWW, WT, WWT)
			both("T and NT", productOwnN, T, NT)
			both("T and N²T", productOwnNN, T, NNT)
			check("WT and WT", productW, u, v, mat.Dot(WT.RowView(u), WT.RowView(v)))
			check("NT and NT", productN, u, v, mat.Dot(NT.RowView(u), NT.RowView(v)))
		}
	}
}
