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
	x       blas32.General   // contexts
	pooled  blas32.General   // their φ
	product blas32.General   // scratch of the quadratic form
	vectors *vectors         // vectors that contexts read; nil: none
	outlook *outlook         // forecast that contexts read; nil: none
	times   blas32.General   // time columns
	ranked  blas32.General   // input of the ranker
	forms   []float64        // output of the ranker
	order   []uint64         // scratch of the start vector
	start   Start            // start values of a walk
	at      []ID             // nodes whose walk values are requested
	second  second           // nodes two edges from the source
	rivals  rivals           // rivals of the source's candidates
	to      []float64        // proximity of each target seen from its source
	from    []float64        // proximity of each source seen from its target
	history history          // history of the source, for the time columns
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

// backward fills the deltas of the last forward pass, given dout, the derivative of a loss with respect to each output.
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

// addGradient adds by times the gradient with respect to θ to sum. The gradient is that of the loss given to backward,
// summed over the batch. sum may be θ itself.
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

// addOuter adds by xᵀy, with one row for each column of x. It skips the zeros of x, because contexts can be sparse.
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

// relu computes max(v, 0) without a branch, which would often be mispredicted.
func relu(v []float32) {
	for i, x := range v {
		b := math.Float32bits(x)
		v[i] = math.Float32frombits(b &^ uint32(int32(b)>>31))
	}
}

// mask clears the entries of v where a, an output of relu, is zero.
func mask(v, a []float32) {
	v = v[:len(a)]
	for i, x := range a {
		on := uint32(-int32(math.Float32bits(x)) >> 31)
		v[i] = math.Float32frombits(math.Float32bits(v[i]) & on)
	}
}

// multiply computes c = a op(b) + beta c. The order of summation does not depend on the number of processors. Gemm
// would start goroutines from four blocks of 64 x 64 on, which costs more than it gains at these sizes, so multiply
// passes it 64 rows at a time.
func multiply(a, b blas32.General, tb blas.Transpose, beta float32, c blas32.General) {
	for from := 0; from < c.Rows; from += 64 {
		to := min(from+64, c.Rows)
		blas32.Gemm(blas.NoTrans, tb, 1, rows(a, from, to), b, beta, rows(c, from, to))
	}
}

// rows returns a view of the rows from:to of m.
func rows(m blas32.General, from, to int) blas32.General {
	m.Rows, m.Data = to-from, m.Data[from*m.Stride:(to-1)*m.Stride+m.Cols]
	return m
}

// resize returns a matrix of the given size that reuses the memory of m. Its contents are undefined.
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
