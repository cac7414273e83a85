package trial

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"kith/model/nn"
)

// design is the diagonal of Z = λI + Σ g gᵀ, where g is the gradient of f1 at each pair chosen so
// far, in the layout of its parameters.
type design struct {
	z       []float32
	x       blas32.General // scratch
	product blas32.General // scratch

	inverse *nn.Network // 1/z in the shape of f1; nil after a change of z
}

// newDesign returns the Z of a network with the given number of parameters before the first pair.
func newDesign(params int, lambda float64) *design {
	return &design{z: slices.Repeat([]float32{float32(lambda)}, params)}
}

// observe adds the squared gradient of n at x.
func (d *design) observe(n *nn.Network, t *nn.Tape, x []float32) {
	d.x = nn.Resize(d.x, 1, len(x)) // squareGradient changes it
	copy(d.x.Data, x)
	n.Forward(t, d.x)
	squareGradient(n, t)
	n.AddGradient(t, 1, d.z)
	for i, z := range d.z {
		if z-z != 0 { // the square of a gradient overflowed float32
			d.z[i] = math.MaxFloat32
		}
	}
	d.inverse = nil
}

// squareGradient squares the activations (including the input) and the deltas that the last forward
// pass left on the tape. The gradient of each row is the outer product of the two, so its square is
// the outer product of their squares.
func squareGradient(n *nn.Network, t *nn.Tape) {
	n.Backward(t, t.RepeatOne(t.Input.Rows))
	for l := range n.Dense {
		square(t.Act[l].Data)
		square(t.Delta[l].Data)
	}
}

func square(v []float32) {
	for i, x := range v {
		v[i] = x * x
	}
}

// quadratic returns gᵀ Z⁻¹ g for each row whose squareGradient is on the tape of a network of the
// given shape.
func (d *design) quadratic(s nn.Shape, t *nn.Tape, out []float64) {
	if d.inverse == nil {
		d.inverse = nn.NewNetwork(s, nil)
		for i, z := range d.z {
			d.inverse.Theta[i] = 1 / z
		}
	}
	clear(out)
	for l, layer := range d.inverse.Dense {
		w, trans := nn.NewMatrix(layer.W, layer.Out), blas.NoTrans
		if layer.Out == 1 { // a single row, which is faster than a column
			w, trans = nn.NewMatrix(layer.W, len(layer.W)), blas.Trans
		}
		d.product = nn.Resize(d.product, len(out), layer.Out)
		clear(d.product.Data)
		nn.AddProduct(t.Act[l], w, trans, d.product)
		for i := range out {
			delta := nn.Row(t.Delta[l], i)
			sum := nn.Dot(nn.Row(d.product, i), delta)
			if layer.B != nil {
				sum += nn.Dot(layer.B, delta)
			}
			out[i] += float64(sum)
		}
	}
}
