package nn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Backward fills the deltas of the last forward pass, given dout, the derivative of a loss with
// respect to each output.
func (n *Network) Backward(t *Tape, dout []float32) {
	last := len(n.Dense) - 1
	t.Delta[last] = Resize(t.Delta[last], len(dout), 1)
	copy(t.Delta[last].Data, dout)
	for l := last; l > 0; l-- {
		t.Delta[l-1] = n.Dense[l].backward(t.Delta[l], t.Delta[l-1])
		mask(t.Delta[l-1].Data, t.Act[l].Data)
	}
}

// backward returns the derivative with respect to the inputs of a layer, given the derivative with
// respect to its outputs, in the memory of dx.
func (d dense) backward(delta, dx blas32.General) blas32.General {
	dx = Resize(dx, delta.Rows, d.in)
	w, trans := d.weights()
	opposite := blas.Trans
	if trans == opposite {
		opposite = blas.NoTrans
	}
	clear(dx.Data)
	AddProduct(delta, w, opposite, dx)
	return dx
}

// InputGradient returns the derivative with respect to the inputs, after Backward, in the memory of
// dx.
func (n *Network) InputGradient(t *Tape, dx blas32.General) blas32.General {
	return n.Dense[0].backward(t.Delta[0], dx)
}

// Gradient is Backward and AddGradient to a gradient of zeros, in the memory of grad.
func (n *Network) Gradient(t *Tape, dout, grad []float32) []float32 {
	grad = slices.Grow(grad[:0], len(n.Theta))[:len(n.Theta)]
	clear(grad)
	if len(dout) > 0 {
		n.Backward(t, dout)
		n.AddGradient(t, 1, grad)
	}
	return grad
}

// AddGradient adds by times a gradient to sum: the gradient with respect to θ of the loss given to
// Backward, summed over the batch. sum may be θ itself.
func (n *Network) AddGradient(t *Tape, by float32, sum []float32) {
	for l, d := range n.Dense {
		x, y := t.Act[l], t.Delta[l]
		if d.Out == 1 {
			x, y = y, x
		}
		addOuter(x, y, by, sum[:len(d.W)])
		sum = sum[len(d.W):]
		if d.B != nil {
			addRows(t.Delta[l], by, sum[:d.Out])
			sum = sum[d.Out:]
		}
	}
}

// PhiLen is the length of the pooled gradient of a network of shape s.
func PhiLen(s Shape, pool int) int {
	return (s.Params() + pool - 1) / pool
}

// Phi writes, for every row of the last forward pass, φ(x) = ∇_θ f(x; θ), mean-pooled in runs of
// pool entries, with the last run padded with zeros. The order of the gradient is layer by layer,
// first the weights output by output, then the biases. The full gradient is never formed: a layer's
// part is the outer product of the layer's delta and input, so the sum of a run within one of its
// rows is the delta times a difference of prefix sums of the input.
func (n *Network) Phi(t *Tape, pool int, out blas32.General) {
	n.Backward(t, t.RepeatOne(out.Rows))
	clear(out.Data)
	for i := range out.Rows {
		p := pooler{size: pool, left: pool, out: Row(out, i), scale: 1 / float64(pool)}
		for l, d := range n.Dense {
			t.sumPrefixes(Row(t.Act[l], i))
			delta := Row(t.Delta[l], i)
			for _, v := range delta {
				p.outer(float64(v), t.prefix)
			}
			if d.B != nil {
				p.values(delta)
			}
		}
	}
}

// pooler consumes a long vector piece by piece and stores the means of its runs.
type pooler struct {
	size  int
	run   int // index of the run being filled
	left  int // number of entries that the run still lacks
	scale float64
	out   []float32
}

// outer consumes the piece v·x, given the prefix sums of x.
func (p *pooler) outer(v float64, prefix []float64) {
	v *= p.scale
	for from, n := 0, len(prefix)-1; from < n; {
		to := min(from+p.left, n)
		p.out[p.run] += float32(v * (prefix[to] - prefix[from]))
		p.take(to - from)
		from = to
	}
}

func (p *pooler) values(x []float32) {
	for len(x) > 0 {
		n := min(p.left, len(x))
		sum := 0.0
		for _, v := range x[:n] {
			sum += float64(v)
		}
		p.out[p.run] += float32(sum * p.scale)
		p.take(n)
		x = x[n:]
	}
}

// take advances by n entries.
func (p *pooler) take(n int) {
	if p.left -= n; p.left == 0 {
		p.run++
		p.left = p.size
	}
}

// RepeatOne returns n ones.
func (t *Tape) RepeatOne(n int) []float32 {
	for len(t.ones) < n {
		t.ones = append(t.ones, 1)
	}
	return t.ones[:n]
}

// sumPrefixes sets prefix[i] to the sum of the first i entries of x.
func (t *Tape) sumPrefixes(x []float32) {
	t.prefix = append(t.prefix[:0], 0)
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
		t.prefix = append(t.prefix, sum)
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
