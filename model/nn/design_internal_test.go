package nn

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"
)

// Z and the quadratic form match those computed from the slopes of f1.
func TestDesign(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t)
		n, x := drawNetwork(t, s)
		var tp Tape
		d := NewDesign(s.Params(), 0.5)
		z := make([]float64, s.Params())
		for j := range z {
			z[j] = 0.5
		}
		for i := range x.Rows {
			d.Observe(n, &tp, Row(x, i))
			for j, g := range slopes(s, wide(n.Theta), wide(Row(x, i))) {
				z[j] += g * g
			}
		}
		for j := range z {
			if !near(float64(d.Z[j]), z[j]) {
				t.Fatalf("%+v: Z[%d] = %v, want %v", s, j, d.Z[j], z[j])
			}
		}
		forms := make([]float64, x.Rows)
		copied := Resize(blas32.General{}, x.Rows, x.Cols)
		copy(copied.Data, x.Data)
		n.Forward(&tp, copied)
		n.SquareGradient(&tp)
		d.Snapshot(s).Quadratic(&tp, forms)
		for i, q := range forms {
			want := 0.0
			for j, g := range slopes(s, wide(n.Theta), wide(Row(x, i))) {
				want += g * g / z[j]
			}
			if !near(q, want) {
				t.Fatalf("%+v: gᵀ Z⁻¹ g = %v, want %v", s, q, want)
			}
		}
	})
}

// Gradients that overflow float32 leave a design that can be stored.
func TestDesignOverflows(t *testing.T) {
	t.Parallel()
	s := Shape{In: 2, Hidden: []int{3}}
	n := NewNetwork(s, make([]float32, s.Params()))
	n.InitNormal(rand.New(rand.NewPCG(1, 1)))
	d := NewDesign(s.Params(), 1)
	d.Observe(n, new(Tape), []float32{1e30, -1e30})
	if !Finite(d.Z...) || slices.Min(d.Z) <= 0 {
		t.Errorf("Z is %v", d.Z)
	}
}
