package nn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// Design is the diagonal of Z = λI + Σ g gᵀ, where g is the gradient of f1 at each pair chosen so
// far, in the layout of θ1.
type Design struct {
	Z []float32
	x blas32.General // scratch

	inverse *Network // 1/Z in the shape of f1, shared with scorers; nil after a change of Z
}

// NewDesign returns the Z of a network with the given number of parameters before the first pair.
func NewDesign(params int, lambda float64) *Design {
	return &Design{Z: slices.Repeat([]float32{float32(lambda)}, params)}
}

// Observe adds the squared gradient of n at x.
func (d *Design) Observe(n *Network, t *Tape, x []float32) {
	d.x = Resize(d.x, 1, len(x)) // SquareGradient changes it
	copy(d.x.Data, x)
	n.Forward(t, d.x)
	n.SquareGradient(t)
	n.AddGradient(t, 1, d.Z)
	for i, z := range d.Z {
		if z-z != 0 { // the square of a gradient overflowed float32
			d.Z[i] = math.MaxFloat32
		}
	}
	d.inverse = nil
}

// Snapshot returns the inverse of Z. Later observations do not change it.
func (d *Design) Snapshot(s Shape) *Network {
	if d.inverse == nil {
		d.inverse = NewNetwork(s, nil)
		for i, z := range d.Z {
			d.inverse.Theta[i] = 1 / z
		}
	}
	return d.inverse
}
