package trial

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// Z and the quadratic form match those computed from the gradients of f1.
func TestDesign(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*(1+math.Abs(b)) }
	for _, s := range []nn.Shape{{In: 3}, {In: 4, Hidden: []int{5}}, {In: 2, Hidden: []int{6, 3}, Bias: true}} {
		n := nn.NewNetwork(s, nil)
		n.InitUniform(rng)
		x := nn.Resize(blas32.General{}, 7, s.In)
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		slopes := func(i int) []float32 {
			var t nn.Tape
			n.Forward(&t, nn.Rows(x, i, i+1))
			return n.Gradient(&t, []float32{1}, nil)
		}
		var tape nn.Tape
		d, z := newDesign(s.Params(), 0.5), slices.Repeat([]float64{0.5}, s.Params())
		for i := range x.Rows {
			d.observe(n, &tape, nn.Row(x, i))
			for j, g := range slopes(i) {
				z[j] += float64(g) * float64(g)
			}
		}
		for j := range z {
			if !near(float64(d.z[j]), z[j]) {
				t.Fatalf("%+v: Z[%d] = %v, want %v", s, j, d.z[j], z[j])
			}
		}
		forms := make([]float64, x.Rows)
		copied := nn.Resize(blas32.General{}, x.Rows, x.Cols)
		copy(copied.Data, x.Data)
		n.Forward(&tape, copied)
		squareGradient(n, &tape)
		d.quadratic(s, &tape, forms)
		for i, q := range forms {
			want := 0.0
			for j, g := range slopes(i) {
				want += float64(g) * float64(g) / z[j]
			}
			if !near(q, want) {
				t.Fatalf("%+v: gᵀ Z⁻¹ g = %v, want %v", s, q, want)
			}
		}
	}
}

// Gradients that overflow float32 leave a finite design.
func TestDesignOverflows(t *testing.T) {
	t.Parallel()
	s := nn.Shape{In: 2, Hidden: []int{3}}
	n := nn.NewNetwork(s, nil)
	n.InitNormal(rand.New(rand.NewPCG(1, 1)))
	d := newDesign(s.Params(), 1)
	d.observe(n, new(nn.Tape), []float32{1e30, -1e30})
	if !nn.Finite(d.z...) || slices.Min(d.z) <= 0 {
		t.Errorf("Z is %v", d.z)
	}
}
