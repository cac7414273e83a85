package main

import (
	"math"

	"kith/cmd/prbench/gnn/internal/grad"
)

// buddy is BUDDY (Chamberlain et al., 2023): features propagated 0 to Layers times, and for each
// pair how many nodes are at which distances from its ends. The paper estimates these numbers by
// sketches; here they are exact.
type buddy struct {
	o        options
	features *grad.CSR
	full     *graph // of all training edges
	hops     []linear
	norms    []norm
	product  block
	counts   block
	last     linear
	scratch  [2]distances
}

const buddyCounts = 5 // numbers that structure returns

func newBUDDY(m *maker, d *data, o options) model {
	b := &buddy{o: o, features: d.features, full: d.graph}
	for range o.Layers + 1 {
		b.hops = append(b.hops, m.linear(d.features.Cols, o.Width))
		b.norms = append(b.norms, m.norm(o.Width))
	}
	b.product = m.block(o.Width*len(b.hops), o.Width, true, o.Drop)
	b.counts = m.block(buddyCounts, 16, true, o.Drop)
	b.last = m.linear(o.Width+16, 1)
	return b
}

// encode applies the weights of each hop before the propagation, which is linear: the same numbers
// for less work.
func (m *buddy) encode(t *grad.Tape, g *graph) *grad.Node {
	around := g.symmetric()
	var hops []*grad.Node
	for k, hop := range m.hops {
		x := t.SparseDropout(m.features, m.o.InputDrop, t.Use(hop.weights))
		for range k {
			x = t.Sparse(around, x)
		}
		x = m.norms[k].apply(t, t.Bias(x, t.Use(hop.bias)))
		hops = append(hops, t.Dropout(t.ReLU(x), m.o.Drop))
	}
	return t.Concat(hops...)
}

func (m *buddy) decode(t *grad.Tape, _ *graph, h *grad.Node, pairs []pair) *grad.Node {
	u, v := ends(t, h, pairs)
	numbers := grad.NewMatrix(len(pairs), buddyCounts)
	for i, p := range pairs {
		m.structure(m.full, p, numbers.Row(i))
	}
	return m.last.apply(t, t.Concat(m.product.apply(t, t.Mul(u, v)), m.counts.apply(t, t.Const(numbers))))
}

// structure writes log(1 + n) for five numbers of nodes: at distance 1 from both ends, 1 and 2, 2
// and 2, and at distance 1 or 2 from one end and further from the other. The pair's own edge does
// not count, so that training links look like others.
func (m *buddy) structure(g *graph, p pair, out []float32) {
	a, b := &m.scratch[0], &m.scratch[1]
	a.walk(g, int32(p[0]), int32(p[1]), 2)
	b.walk(g, int32(p[1]), int32(p[0]), 2)
	var n [3][3]int // by distance from each end; 0 means further than 2, or the end itself
	at := func(d *distances, w int32) int8 { return max(d.far[w]-1, 0) }
	for _, w := range a.reached {
		n[at(a, w)][at(b, w)]++
	}
	for _, w := range b.reached {
		if a.far[w] == 0 {
			n[0][at(b, w)]++
		}
	}
	for i, count := range []int{n[1][1], n[1][2] + n[2][1], n[2][2], n[1][0] + n[0][1], n[2][0] + n[0][2]} {
		out[i] = float32(math.Log1p(float64(count)))
	}
}
