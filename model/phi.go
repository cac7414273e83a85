package model

import "gonum.org/v1/gonum/blas/blas32"

// phiLen is the length of the pooled gradient of a network of this shape.
func phiLen(s shape, pool int) int {
	return (s.params() + pool - 1) / pool
}

// phi writes, for every row of the last forward pass, φ(x) = ∇_θ f(x; θ) mean-pooled by runs of pool entries, the last
// run padded with zeros. The full gradient is never formed: a layer's part of it is the outer product of the layer's
// delta and input, so that a run of one row of it is the delta times a difference of prefix sums of the input.
// Networks with a convolution have no φ.
func (n *network) phi(t *tape, pool int, out blas32.General) {
	for len(t.ones) < out.Rows {
		t.ones = append(t.ones, 1)
	}
	n.backward(t, t.ones[:out.Rows])
	clear(out.Data)
	for i := range out.Rows {
		p := pooler{size: pool, out: out.Data[i*out.Stride : i*out.Stride+out.Cols]}
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

// sumPrefixes sets prefix[i] to the sum of the first i entries of x.
func (t *tape) sumPrefixes(x []float32) {
	t.prefix = append(t.prefix[:0], 0)
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
		t.prefix = append(t.prefix, sum)
	}
}

// pooler takes a long vector piece by piece and keeps the means of its runs.
type pooler struct {
	size int
	pos  int // entries taken so far
	out  []float32
}

// outer takes the piece v·x, given the prefix sums of x.
func (p *pooler) outer(v float64, prefix []float64) {
	n := len(prefix) - 1
	if v != 0 {
		for from := 0; from < n; {
			run := (p.pos + from) / p.size
			to := min((run+1)*p.size-p.pos, n)
			p.out[run] += float32(v * (prefix[to] - prefix[from]) / float64(p.size))
			from = to
		}
	}
	p.pos += n
}

func (p *pooler) values(x []float32) {
	for _, v := range x {
		p.out[p.pos/p.size] += v / float32(p.size)
		p.pos++
	}
}
