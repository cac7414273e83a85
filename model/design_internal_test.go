package model

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"
)

// Z and the quadratic form match those computed from the slopes of f1.
func TestDesign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t)
		n, x := drawNetwork(t, s)
		var tp tape
		d := newDesign(s.params(), 0.5)
		z := make([]float64, s.params())
		for j := range z {
			z[j] = 0.5
		}
		for i := range x.Rows {
			d.observe(n, &tp, row(x, i))
			for j, g := range slopes(s, wide(n.theta), wide(row(x, i))) {
				z[j] += g * g
			}
		}
		for j := range z {
			if !near(float64(d.z[j]), z[j]) {
				t.Fatalf("%+v: Z[%d] = %v, want %v", s, j, d.z[j], z[j])
			}
		}
		forms := make([]float64, x.Rows)
		copied := resize(blas32.General{}, x.Rows, x.Cols)
		copy(copied.Data, x.Data)
		n.forward(&tp, copied)
		n.squareGradient(&tp)
		d.snapshot(s).quadratic(&tp, forms)
		for i, q := range forms {
			want := 0.0
			for j, g := range slopes(s, wide(n.theta), wide(row(x, i))) {
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
	s := shape{In: 2, Hidden: []int{3}}
	n := newNetwork(s, make([]float32, s.params()))
	n.initNormal(rand.New(rand.NewPCG(1, 1)))
	d := newDesign(s.params(), 1)
	d.observe(n, new(tape), []float32{1e30, -1e30})
	if err := newDesign(s.params(), 1).restore(d.pack()); err != nil {
		t.Error(err)
	}
}
