package main

import "kith/cmd/prbench/gnn/internal/grad"

// gcn is an encoder of convolutions and a decoder of the product of both ends: GCN (Kipf and
// Welling, 2017), or GraphSAGE with means (Hamilton et al., 2017).
type gcn struct {
	o        options
	features *grad.CSR
	near     []*grad.Param // weights of the messages from neighbors, by layer
	own      []*grad.Param // weights of the node itself, by layer; empty for GCN, whose sums include the node
	bias     []*grad.Param
	head     head
}

func newGCN(m *maker, d *data, o options) model  { return makeGCN(m, d, o, false) }
func newSAGE(m *maker, d *data, o options) model { return makeGCN(m, d, o, true) }

func makeGCN(m *maker, d *data, o options, sage bool) *gcn {
	g := &gcn{o: o, features: d.features}
	in := d.features.Cols
	for range o.Layers {
		g.near = append(g.near, m.weights(in, o.Width))
		g.bias = append(g.bias, m.filled(1, o.Width, 0))
		if sage {
			g.own = append(g.own, m.weights(in, o.Width))
		}
		in = o.Width
	}
	g.head = m.head(in, o.Width, o.Head, false, o.Drop)
	return g
}

func (m *gcn) encode(t *grad.Tape, g *graph) *grad.Node {
	around := g.symmetric()
	if m.own != nil {
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
		if m.own != nil {
			y = t.Add(y, times(m.own[i]))
		}
		y = t.Bias(y, t.Use(m.bias[i]))
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
