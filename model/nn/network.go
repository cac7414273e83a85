// Package nn holds the numeric code of models: networks and their gradients, optimisers, logistic
// regression, eigenvectors, latent semantic vectors, and helpers for matrices, packed numbers and
// parallel loops. It knows no graph.
package nn

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Shape is the architecture of a network with one output: hidden ReLU layers and a linear layer.
type Shape struct {
	In     int   // inputs
	Hidden []int // widths of the ReLU layers
	Bias   bool  // layers have biases
}

// Network is f(x; θ) = W_L σ(W_{L-1} σ(... σ(W_1 x))), σ = ReLU, optionally with biases.
// All parameters are in one vector: layer by layer, first the weights input by
// input, then the biases.
type Network struct {
	Shape Shape
	Theta []float32
	Dense []dense
}

// dense is a layer y = xW + b whose parameters are views of the network's vector. W is in x out
// because the kernels work along rows, and the expensive layers have more outputs than inputs.
type dense struct {
	in, Out int
	W, B    []float32
}

// NewNetwork returns a network whose parameters are theta, which it does not copy, or zeros if
// theta is nil.
func NewNetwork(s Shape, theta []float32) *Network {
	if theta == nil {
		theta = make([]float32, s.Params())
	}
	n := &Network{Shape: s, Theta: theta}
	in, rest := s.In, theta
	for _, out := range s.widths() {
		d := dense{in: in, Out: out, W: rest[:in*out]}
		rest = rest[in*out:]
		if s.Bias {
			d.B, rest = rest[:out], rest[out:]
		}
		n.Dense = append(n.Dense, d)
		in = out
	}
	return n
}

// Params returns the length of the parameter vector.
func (s Shape) Params() int {
	in, total, bias := s.In, 0, 0
	if s.Bias {
		bias = 1
	}
	for _, out := range s.widths() {
		total += out * (in + bias)
		in = out
	}
	return total
}

// widths returns the widths of the dense layers.
func (s Shape) widths() []int { return slices.Concat(s.Hidden, []int{1}) }

// Clone returns a network of the same shape with its own copy of the parameters.
func (n *Network) Clone() *Network { return NewNetwork(n.Shape, slices.Clone(n.Theta)) }

// InitNormal draws the entries of W_1..W_{L-1} from N(0, 2/m) and of W_L from N(0, 1/m), where m is
// the width of the layer's output for hidden layers and of its input for the last one (PRB, section
// "initialisation"). Biases stay zero.
func (n *Network) InitNormal(rng *rand.Rand) {
	last := len(n.Dense) - 1
	for l, d := range n.Dense {
		sd := math.Sqrt(2 / float64(d.Out))
		if l == last {
			sd = math.Sqrt(1 / float64(d.in))
		}
		for i := range d.W {
			d.W[i] = float32(sd * rng.NormFloat64())
		}
	}
}

// AddBias adds v to the bias of the output. The network must have biases.
func (n *Network) AddBias(v float64) {
	n.Dense[len(n.Dense)-1].B[0] += float32(v)
}

// InitUniform draws every parameter from ±1/sqrt(fan-in), the convention of common deep-learning
// frameworks.
func (n *Network) InitUniform(rng *rand.Rand) {
	fill := func(p []float32, fan int) {
		for i := range p {
			p[i] = float32((2*rng.Float64() - 1) / math.Sqrt(float64(max(fan, 1))))
		}
	}
	for _, d := range n.Dense {
		fill(d.W, d.in)
		fill(d.B, d.in)
	}
}

// Tape is the memory of one forward pass over a batch, which the backward passes read. Row i
// belongs to sample i.
type Tape struct {
	Input  blas32.General   // input of the network
	Act    []blas32.General // Act[l] is the input of dense layer l; the last one is the output
	Delta  []blas32.General // delta[l] is the derivative with respect to the output of dense layer l before its ReLU
	prefix []float64        // scratch of the pooled gradient
	ones   []float32        // derivative of an output with respect to itself
	Drop   func([]float32)  // zeroes outputs of hidden layers; nil: none
}

// Forward computes f for every row of x. The outputs are valid until the next use of the tape.
func (n *Network) Forward(t *Tape, x blas32.General) []float32 {
	t.reserve(len(n.Dense))
	t.Input, t.Act[0] = x, x
	for l, d := range n.Dense {
		t.Act[l+1] = Resize(t.Act[l+1], x.Rows, d.Out)
		d.forward(t.Act[l], t.Act[l+1])
		if l < len(n.Dense)-1 {
			relu(t.Act[l+1].Data)
			if t.Drop != nil {
				t.Drop(t.Act[l+1].Data)
			}
		}
	}
	return t.Act[len(n.Dense)].Data
}

func (d dense) forward(x, y blas32.General) {
	if d.B == nil {
		clear(y.Data)
	}
	for i := range y.Rows {
		copy(Row(y, i), d.B)
	}
	w, t := d.weights()
	AddProduct(x, w, t, y)
}

// weights returns the matrix of the layer and the transpose flag with which a product computes xWᵀ.
// A layer with one output is stored as a single row instead of a single column.
func (d dense) weights() (blas32.General, blas.Transpose) {
	if d.Out == 1 {
		return blas32.General{Rows: 1, Cols: d.in, Stride: max(d.in, 1), Data: d.W}, blas.Trans
	}
	return blas32.General{Rows: d.in, Cols: d.Out, Stride: d.Out, Data: d.W}, blas.NoTrans
}

// relu computes max(v, 0) without a branch, which would often be mispredicted.
func relu(v []float32) {
	for i, x := range v {
		b := math.Float32bits(x)
		v[i] = math.Float32frombits(b &^ uint32(int32(b)>>31))
	}
}

func (t *Tape) reserve(layers int) {
	for len(t.Act) <= layers {
		t.Act = append(t.Act, blas32.General{})
	}
	for len(t.Delta) < layers {
		t.Delta = append(t.Delta, blas32.General{})
	}
}

// Outputs returns f of every row.
func (n *Network) Outputs(x blas32.General) []float64 {
	var all []float64
	for _, f := range n.Forward(new(Tape), x) {
		all = append(all, float64(f))
	}
	return all
}
