package model

import "gonum.org/v1/gonum/blas/blas32"

// phiLen is the length of the pooled gradient of a network of shape s.
func phiLen(s shape, pool int) int {
	return (s.params() + pool - 1) / pool
}

// phi writes, for every row of the last forward pass, φ(x) = ∇_θ f(x; θ), mean-pooled in runs of pool entries, with the
// last run padded with zeros. The order of the gradient is layer by layer, first the weights output by output, then the
// biases. The full gradient is never formed: a layer's part is the outer product of the layer's delta and input, so the
// sum of a run within one of its rows is the delta times a difference of prefix sums of the input. Networks with a
// convolution have no φ.
func (n *network) phi(t *tape, pool int, out blas32.General) {
	n.backward(t, t.repeatOne(out.Rows))
	clear(out.Data)
	for i := range out.Rows {
		p := pooler{size: pool, left: pool, out: row(out, i), scale: 1 / float64(pool)}
		for l, d := range n.dense {
			t.sumPrefixes(row(t.act[l], i))
			delta := row(t.delta[l], i)
			for _, v := range delta {
				p.outer(float64(v), t.prefix)
			}
			if d.b != nil {
				p.values(delta)
			}
		}
	}
}

func row(m blas32.General, i int) []float32 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// repeatOne returns n ones.
func (t *tape) repeatOne(n int) []float32 {
	for len(t.ones) < n {
		t.ones = append(t.ones, 1)
	}
	return t.ones[:n]
}

// sumPrefixes sets prefix[i] to the sum of the first i entries of x.
func (t *tape) sumPrefixes(x []float32) {
	t.prefix = append(t.prefix[:0], 0)
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
		t.prefix = append(t.prefix, sum)
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
