package main

import (
	"math"

	"kith/cmd/prbench/gnn/internal/grad"
)

// ncn is the Neural Common Neighbor model (Wang et al., 2024): the encoder propagates without
// weights, and the decoder reads the product of both ends and the sum over their common neighbors.
// With completion (NCNC) neighbors of one end count with the probability that the model itself
// gives to their missing link.
type ncn struct {
	o        options
	features *grad.CSR
	input    linear
	jump     *grad.Param // weights of the sums after each propagation
	common   []block
	product  block
	beta     *grad.Param
	head     head
	complete bool
}

func newNCN(m *maker, d *data, o options) model { return makeNCN(m, d, o) }

func newNCNC(m *maker, d *data, o options) model {
	n := makeNCN(m, d, o)
	n.complete = true
	return n
}

func makeNCN(m *maker, d *data, o options) *ncn {
	n := &ncn{o: o, features: d.features, input: m.linear(d.features.Cols, o.Width)}
	n.jump = m.filled(1, o.Layers, 1)
	n.common = []block{m.block(o.Width, o.Width, false, o.Drop), m.block(o.Width, o.Width, true, o.Drop)}
	n.product = m.block(o.Width, o.Width, true, o.Drop)
	n.beta = m.filled(1, 1, 1)
	n.head = m.head(o.Width, o.Width, o.Head, true, o.Drop)
	return n
}

func (m *ncn) encode(t *grad.Tape, g *graph) *grad.Node {
	around := g.symmetric()
	x := t.Bias(t.SparseDropout(m.features, m.o.InputDrop, t.Use(m.input.weights)), t.Use(m.input.bias))
	x = t.Dropout(x, m.o.Drop)
	var sum *grad.Node
	for i := range m.o.Layers {
		x = t.Sparse(around, x)
		if i == m.o.Layers-1 {
			x = t.Dropout(x, m.o.TailDrop)
		}
		y := t.Scale(x, t.Use(m.jump), i)
		if sum != nil {
			y = t.Add(sum, y)
		}
		sum = y
	}
	return sum
}

func (m *ncn) decode(t *grad.Tape, g *graph, h *grad.Node, pairs []pair) *grad.Node {
	if m.complete {
		return m.logits(t, h, pairs, m.completed(g, h, pairs))
	}
	return m.logits(t, h, pairs, m.neighbors(g, pairs))
}

// logits returns the logits of pairs, given a matrix whose row i says how much each node counts as
// a common neighbor of pair i.
func (m *ncn) logits(t *grad.Tape, h *grad.Node, pairs []pair, near *grad.CSR) *grad.Node {
	u, v := ends(t, h, pairs)
	sum := t.Sparse(near, h)
	for _, b := range m.common {
		sum = b.apply(t, sum)
	}
	return m.head.apply(t, t.Add(t.Scale(sum, t.Use(m.beta), 0), m.product.apply(t, t.Mul(u, v))))
}

func (m *ncn) neighbors(g *graph, pairs []pair) *grad.CSR {
	near := &grad.CSR{Cols: len(g.near)}
	for _, p := range pairs {
		both, _, _ := g.common(p)
		near.Append(both, nil)
	}
	return near
}

// completed returns the common neighbors of pairs, and the neighbors of one end with pt times the
// probability of a link to the other end. No gradient flows through these probabilities.
func (m *ncn) completed(g *graph, h *grad.Node, pairs []pair) *grad.CSR {
	var missing []pair
	near := &grad.CSR{Cols: len(g.near)}
	var places []int32 // entries of near that the missing links decide
	for _, p := range pairs {
		both, onlyU, onlyV := g.common(p)
		col := append([]int32(nil), both...)
		for end, others := range [][]int32{onlyU, onlyV} {
			for _, w := range others {
				places = append(places, int32(len(near.Col)+len(col)))
				col = append(col, w)
				missing = append(missing, pair{p[1-end], uint32(w)})
			}
		}
		val := make([]float32, len(col))
		for i := range both {
			val[i] = 1
		}
		near.Append(col, val)
	}
	var quiet grad.Tape
	x := quiet.Const(h.Matrix)
	eachChunk(missing, m.o.Chunk, func(from int, chunk []pair) {
		for i, logit := range m.logits(&quiet, x, chunk, m.neighbors(g, chunk)).Data {
			p := 1 / (1 + math.Exp(-m.o.LinkScale*(float64(logit)-m.o.LinkOffset)))
			near.Val[places[from+i]] = float32(m.o.LinkWeight * p)
		}
	})
	return near
}

// eachChunk calls f with parts of pairs of a size, and with the number of pairs before the part.
func eachChunk(pairs []pair, size int, f func(from int, chunk []pair)) {
	for from := 0; from < len(pairs); from += size {
		f(from, pairs[from:min(from+size, len(pairs))])
	}
}
