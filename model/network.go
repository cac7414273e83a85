package model

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// shape is the architecture of a network with one output: an optional convolution, hidden ReLU layers and a linear
// layer.
type shape struct {
	In     int   // inputs
	Kernel int   // width of a leading one-channel convolution, 0 for none
	Stride int   // step of that convolution
	Hidden []int // widths of the ReLU layers
	Bias   bool  // layers have biases
}

// network is f(x; θ) = W_L σ(W_{L-1} σ(... σ(W_1 x))), σ = ReLU, optionally with biases and a leading convolution. All
// parameters are in one vector: layer by layer, first the weights input by input, then the biases.
type network struct {
	shape shape
	theta []float32
	conv  conv
	dense []dense
}

// dense is a layer y = Wx + b whose parameters are views of the network's vector. w is the transpose of W, in x out:
// the kernels work along rows, and the expensive layers have more outputs than inputs.
type dense struct {
	in, out int
	w, b    []float32
}

func newNetwork(s shape, theta []float32) *network {
	n := &network{shape: s, theta: theta}
	in, rest := s.In, theta
	if s.Kernel > 0 {
		n.conv, rest = newConv(s, rest)
		in = n.conv.out
	}
	for _, out := range append(append([]int(nil), s.Hidden...), 1) {
		d := dense{in: in, out: out, w: rest[:in*out]}
		rest = rest[in*out:]
		if s.Bias {
			d.b, rest = rest[:out], rest[out:]
		}
		n.dense = append(n.dense, d)
		in = out
	}
	return n
}

// params returns the length of the parameter vector.
func (s shape) params() int {
	in, total := s.In, 0
	bias := 0
	if s.Bias {
		bias = 1
	}
	if s.Kernel > 0 {
		total += s.Kernel + 1
		in = convOut(s)
	}
	for _, out := range s.Hidden {
		total += out * (in + bias)
		in = out
	}
	return total + in + bias
}

// clone returns a network of the same shape with its own copy of the parameters.
func (n *network) clone() *network {
	return newNetwork(n.shape, append([]float32(nil), n.theta...))
}

// initNormal draws the entries of W_1..W_{L-1} from N(0, 2/m) and of W_L from N(0, 1/m), where m is the width of the
// layer's output for hidden layers and of its input for the last one (PRB, section "initialisation"). Biases stay zero.
func (n *network) initNormal(rng *rand.Rand) {
	last := len(n.dense) - 1
	for l, d := range n.dense {
		sd := math.Sqrt(2 / float64(d.out))
		if l == last {
			sd = math.Sqrt(1 / float64(d.in))
		}
		for i := range d.w {
			d.w[i] = float32(sd * rng.NormFloat64())
		}
	}
}

// addBias adds v to the bias of the output. The network must have biases.
func (n *network) addBias(v float64) {
	n.dense[len(n.dense)-1].b[0] += float32(v)
}

// initUniform draws every parameter from ±1/sqrt(fan-in), the convention of common deep-learning frameworks.
func (n *network) initUniform(rng *rand.Rand) {
	fill := func(p []float32, fan int) {
		for i := range p {
			p[i] = float32((2*rng.Float64() - 1) / math.Sqrt(float64(max(fan, 1))))
		}
	}
	fill(n.conv.w, n.shape.Kernel)
	fill(n.conv.b, n.shape.Kernel)
	for _, d := range n.dense {
		fill(d.w, d.in)
		fill(d.b, d.in)
	}
}

// tape is the memory of one forward pass over a batch, which the backward passes read. Row i belongs to sample i.
type tape struct {
	input   blas32.General   // input of the network
	front   blas32.General   // output of the convolution
	act     []blas32.General // act[l] is the input of dense layer l; the last one is the output
	delta   []blas32.General // delta[l] is the derivative with respect to the output of dense layer l before its ReLU
	prefix  []float64        // scratch of the pooled gradient
	ones    []float32        // derivative of an output with respect to itself
	drop    func([]float32)  // zeroes outputs of hidden layers; nil: none
	product blas32.General   // scratch of the quadratic form
}

// forward computes f for every row of x. The outputs are valid until the next use of the tape.
func (n *network) forward(t *tape, x blas32.General) []float32 {
	t.reserve(len(n.dense))
	t.input, t.act[0] = x, x
	if n.shape.Kernel > 0 {
		t.front = n.conv.forward(x, t.front)
		t.act[0] = t.front
	}
	for l, d := range n.dense {
		t.act[l+1] = resize(t.act[l+1], x.Rows, d.out)
		d.forward(t.act[l], t.act[l+1])
		if l < len(n.dense)-1 {
			relu(t.act[l+1].Data)
			if t.drop != nil {
				t.drop(t.act[l+1].Data)
			}
		}
	}
	return t.act[len(n.dense)].Data
}

func (d dense) forward(x, y blas32.General) {
	beta := float32(0)
	if d.b != nil {
		beta = 1
		for i := range y.Rows {
			copy(row(y, i), d.b)
		}
	}
	w, t := d.weights(d.w)
	multiply(x, w, t, beta, y)
}

// weights returns the matrix stored in w and the transpose flag with which a product computes xWᵀ. A layer with one
// output is stored as a single row instead of a single column.
func (d dense) weights(w []float32) (blas32.General, blas.Transpose) {
	if d.out == 1 {
		return blas32.General{Rows: 1, Cols: d.in, Stride: max(d.in, 1), Data: w}, blas.Trans
	}
	return blas32.General{Rows: d.in, Cols: d.out, Stride: d.out, Data: w}, blas.NoTrans
}

// relu computes max(v, 0) without a branch, which would often be mispredicted.
func relu(v []float32) {
	for i, x := range v {
		b := math.Float32bits(x)
		v[i] = math.Float32frombits(b &^ uint32(int32(b)>>31))
	}
}

func (t *tape) reserve(layers int) {
	for len(t.act) <= layers {
		t.act = append(t.act, blas32.General{})
	}
	for len(t.delta) < layers {
		t.delta = append(t.delta, blas32.General{})
	}
}

// conv is a one-dimensional convolution with one channel and a bias: y[j] = b + Σ_i w[i] x[j·stride + i].
type conv struct {
	stride, out int
	w, b        []float32
}

// convOut is the number of positions where the kernel fits into the input.
func convOut(s shape) int {
	return (s.In-s.Kernel)/s.Stride + 1
}

func newConv(s shape, theta []float32) (conv, []float32) {
	return conv{
		stride: s.Stride,
		out:    convOut(s),
		w:      theta[:s.Kernel],
		b:      theta[s.Kernel : s.Kernel+1],
	}, theta[s.Kernel+1:]
}

func (c conv) forward(x, y blas32.General) blas32.General {
	y = resize(y, x.Rows, c.out)
	for i := range x.Rows {
		from, to := row(x, i), row(y, i)
		for j := range to {
			to[j] = c.b[0] + dot(c.w, from[j*c.stride:])
		}
	}
	return y
}

// addGradient adds the gradient with respect to the kernel and the bias, times by, to the front of sum. The deltas are
// those of the dense layer that follows.
func (c conv) addGradient(t *tape, next dense, by float32, sum []float32) {
	delta := t.delta[0]
	kernel, bias := sum[:len(c.w)], &sum[len(c.w)]
	for i := range delta.Rows {
		x := row(t.input, i)
		for j := range c.out {
			d := by * dot(row(delta, i), next.w[j*next.out:]) // derivative with respect to y[j]
			for k, v := range x[j*c.stride:][:len(kernel)] {
				kernel[k] += d * v
			}
			*bias += d
		}
	}
}

// divide divides the network's outputs.
func (n *network) divide(by float64) {
	last := n.dense[len(n.dense)-1]
	for _, p := range [][]float32{last.w, last.b} {
		blas32.Scal(float32(1/by), blas32.Vector{N: len(p), Inc: 1, Data: p})
	}
}

// outputs returns f of every row.
func (n *network) outputs(x blas32.General) []float64 {
	var all []float64
	for _, f := range n.forward(new(tape), x) {
		all = append(all, float64(f))
	}
	return all
}
