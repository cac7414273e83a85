package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// design is the diagonal of Z = λI + Σ g gᵀ, where g is the gradient of f1 at each pair chosen so far, in the layout of
// θ1.
type design struct {
	z []float32
	x blas32.General // scratch

	inverse *network // 1/z in the shape of f1, shared with scorers; nil after a change of z
}

func newDesign(params int, lambda float64) *design {
	return &design{z: slices.Repeat([]float32{float32(lambda)}, params)}
}

// observe adds the squared gradient of n at x.
func (d *design) observe(n *network, t *tape, x []float32) {
	d.x = resize(d.x, 1, len(x)) // squareGradient changes it
	copy(d.x.Data, x)
	n.forward(t, d.x)
	n.squareGradient(t)
	n.addGradient(t, 1, d.z)
	for i, z := range d.z {
		if z-z != 0 { // the square of a gradient overflowed float32
			d.z[i] = math.MaxFloat32
		}
	}
	d.inverse = nil
}

// snapshot returns the inverse of Z. Later observations do not change it.
func (d *design) snapshot(s shape) *network {
	if d.inverse == nil {
		d.inverse = newNetwork(s, make([]float32, len(d.z)))
		for i, z := range d.z {
			d.inverse.theta[i] = 1 / z
		}
	}
	return d.inverse
}

func (d *design) pack() []byte {
	if d == nil {
		return nil
	}
	return packFloats(d.z)
}

func (d *design) restore(b []byte) error {
	if d == nil {
		return nil
	}
	if len(b) != 4*len(d.z) || !unpackFloats(d.z, b) || slices.Min(d.z) <= 0 {
		return fmt.Errorf("%d bytes of Z", len(b))
	}
	return nil
}
