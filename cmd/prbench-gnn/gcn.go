package main

import "kith/cmd/prbench-gnn/internal/grad"

// gcn is an encoder of convolutions and a decoder of the product of both ends: GCN (Kipf and Welling, 2017), or GraphSAGE
// with means (Hamilton et al., 2017).
type gcn struct {
	o        options
	features *grad.CSR
	sage     bool
	near     []*grad.Param // weights of the messages from neighbors
	own      []linear      // SAGE: weights of the node itself; GCN: only their biases are used
	head     head
}

func newGCN(m *maker, d *data, o options) model  { return makeGCN(m, d, o, false) }
func newSAGE(m *maker, d *data, o options) model { return makeGCN(m, d, o, true) }

func makeGCN(m *maker, d *data, o options, sage bool) *gcn {
	g := &gcn{o: o, features: d.features, sage: sage}
	in := d.features.Cols
	for range o.Layers {
		g.near = append(g.near, m.weights(in, o.Width))
		own := linear{bias: m.filled(1, o.Width, 0)}
		if sage {
			own.weights = m.weights(in, o.Width)
		}
		g.own = append(g.own, own)
		in = o.Width
	}
	g.head = m.head(in, o.Width, o.Head, false, o.Drop)
	return g
}

func (m *gcn) encode(t *grad.Tape, g *graph) *grad.Node {
	around := g.symmetric()
	if m.sage {
		around = g.mean()
	}
	var x *grad.Node // nil stands for the features
	times := func(w *grad.Param) *grad.Node {
		if x == nil {
			return t.SparseDropout(m.features, m.o.InputDrop, t.Use(w))
		}
		return t.MatMul(x, t.Use(w))
	}
	for i := range m.near {
		y := t.Sparse(around, times(m.near[i]))
		if m.sage {
			y = t.Add(y, times(m.own[i].weights))
		}
		y = t.Bias(y, t.Use(m.own[i].bias))
		if i < len(m.near)-1 {
			y = t.Dropout(t.ReLU(y), m.o.Drop)
		}
		x = y
	}
	return x
}

func (m *gcn) decode(t *grad.Tape, _ *graph, h *grad.Node, pairs []pair) *grad.Node {
	u, v := ends(t, h, pairs)
	return m.head.apply(t, t.Mul(u, v))
}
