package model

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// shape is the architecture of a network with one output: an optional convolution, hidden ReLU layers, a linear one.
type shape struct {
	In     int   // inputs
	Kernel int   // width of a leading one-channel convolution, 0 for none
	Stride int   // step of that convolution
	Hidden []int // widths of the ReLU layers
	Bias   bool  // layers have biases
}

// network is f(x; θ) = W_L σ(W_{L-1} σ(... σ(W_1 x))), σ = ReLU, optionally with biases and a leading convolution.
// All parameters lie in one vector: layer by layer, weights input by input, then biases.
type network struct {
	shape shape
	theta []float32
	conv  conv
	dense []dense
}

// dense is a layer y = Wx + b whose parameters are windows of the network's vector. They hold the transpose of W, in x out:
// the kernels work along rows, and the layers that cost time have more outputs than inputs.
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

// clone returns a network of the same shape with parameters of its own.
func (n *network) clone() *network {
	return newNetwork(n.shape, append([]float32(nil), n.theta...))
}

// initNormal draws entries of W_1..W_{L-1} from N(0, 2/m) and of W_L from N(0, 1/m), m the width of the layer's output
// for hidden layers and of its input for the last (PRB, section "initialisation"). Biases stay zero.
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

// addBias adds to the bias of the output, which there must be.
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
	input   blas32.General   // what the network was given
	front   blas32.General   // output of the convolution
	act     []blas32.General // act[l] is the input of dense layer l; the last one is the output
	delta   []blas32.General // delta[l] is the derivative by the output of dense layer l before its ReLU
	prefix  []float64        // scratch of the pooled gradient
	ones    []float32        // derivative of an output by itself
	drop    func([]float32)  // zeroes outputs of hidden layers; nil: none
	x       blas32.General   // contexts
	pooled  blas32.General   // their φ
	product blas32.General   // scratch of the quadratic form
	vectors *vectors         // that contexts are read with; nil: none
	outlook *outlook         // likewise
	times   blas32.General   // time columns
	ranked  blas32.General   // what a ranker reads of contexts
	forms   []float64        // its values
	order   []uint64         // scratch of the start vector
	start   Start            // start values of a walk
	at      []ID             // where it is asked for
	second  second           // nodes two edges from a source
	rivals  rivals           // that the candidates of a source have there
	to      []float64        // proximity of each target seen from its source
	from    []float64        // and the other way round
	history history          // of the source of the time columns
}

// forward computes f for every row of x and returns the outputs, valid until the tape is used again.
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

// weights returns the matrix kept in w, and how a product with it is written to mean xWᵀ. One row stands for the
// single column of a layer with one output.
func (d dense) weights(w []float32) (blas32.General, blas.Transpose) {
	if d.out == 1 {
		return blas32.General{Rows: 1, Cols: d.in, Stride: max(d.in, 1), Data: w}, blas.Trans
	}
	return blas32.General{Rows: d.in, Cols: d.out, Stride: d.out, Data: w}, blas.NoTrans
}

// backward fills the deltas of the last forward pass for the derivative dout of some loss by each output.
func (n *network) backward(t *tape, dout []float32) {
	last := len(n.dense) - 1
	t.delta[last] = resize(t.delta[last], len(dout), 1)
	copy(t.delta[last].Data, dout)
	for l := last; l > 0; l-- {
		d := n.dense[l]
		t.delta[l-1] = resize(t.delta[l-1], len(dout), d.in)
		w, trans := d.weights(d.w)
		multiply(t.delta[l], w, opposite(trans), 0, t.delta[l-1])
		mask(t.delta[l-1].Data, t.act[l].Data)
	}
}

func opposite(t blas.Transpose) blas.Transpose {
	if t == blas.Trans {
		return blas.NoTrans
	}
	return blas.Trans
}

// addGradient adds to sum a multiple of the gradient by θ, summed over the batch, of the loss that backward was given.
// sum may be θ itself.
func (n *network) addGradient(t *tape, by float32, sum []float32) {
	if n.shape.Kernel > 0 {
		n.conv.addGradient(t, n.dense[0], by, sum)
		sum = sum[len(n.conv.w)+1:]
	}
	for l, d := range n.dense {
		x, y := t.act[l], t.delta[l]
		if d.out == 1 {
			x, y = y, x
		}
		addOuter(x, y, by, sum[:len(d.w)])
		sum = sum[len(d.w):]
		if d.b != nil {
			addRows(t.delta[l], by, sum[:d.out])
			sum = sum[d.out:]
		}
	}
}

// addOuter adds by xᵀy, a row for each column of x. What is zero in x costs next to nothing: contexts can be sparse.
func addOuter(x, y blas32.General, by float32, sum []float32) {
	to := blas32.Vector{N: y.Cols, Inc: 1}
	for i := range x.Rows {
		from := blas32.Vector{N: y.Cols, Inc: 1, Data: row(y, i)}
		for j, v := range row(x, i) {
			if v != 0 {
				to.Data = sum[j*y.Cols : (j+1)*y.Cols]
				blas32.Axpy(by*v, from, to)
			}
		}
	}
}

func addRows(m blas32.General, by float32, sum []float32) {
	for i := range m.Rows {
		for j, v := range row(m, i) {
			sum[j] += by * v
		}
	}
}

// relu is max(v, 0), without a branch that would be mispredicted every other time.
func relu(v []float32) {
	for i, x := range v {
		b := math.Float32bits(x)
		v[i] = math.Float32frombits(b &^ uint32(int32(b)>>31))
	}
}

// mask clears the entries of v whose entry of a, an output of relu, is zero.
func mask(v, a []float32) {
	v = v[:len(a)]
	for i, x := range a {
		on := uint32(-int32(math.Float32bits(x)) >> 31)
		v[i] = math.Float32frombits(math.Float32bits(v[i]) & on)
	}
}

// multiply is c = a op(b) + beta c. Each entry of c is summed in one order whatever the number of processors. Gemm would
// start goroutines for four blocks of 64 x 64 or more, which costs more than it gains at these sizes: so it gets 64 rows a
// call.
func multiply(a, b blas32.General, tb blas.Transpose, beta float32, c blas32.General) {
	for from := 0; from < c.Rows; from += 64 {
		to := min(from+64, c.Rows)
		blas32.Gemm(blas.NoTrans, tb, 1, rows(a, from, to), b, beta, rows(c, from, to))
	}
}

// rows returns a window of m.
func rows(m blas32.General, from, to int) blas32.General {
	m.Rows, m.Data = to-from, m.Data[from*m.Stride:(to-1)*m.Stride+m.Cols]
	return m
}

// resize returns a matrix of the given size that reuses the memory of m; its contents are undefined.
func resize(m blas32.General, rows, cols int) blas32.General {
	if n := rows * cols; cap(m.Data) < n {
		m.Data = make([]float32, n)
	}
	return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: m.Data[:rows*cols]}
}

func (t *tape) reserve(layers int) {
	for len(t.act) <= layers {
		t.act = append(t.act, blas32.General{})
	}
	for len(t.delta) < layers {
		t.delta = append(t.delta, blas32.General{})
	}
}
