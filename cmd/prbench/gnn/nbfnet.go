package main

import (
	"slices"

	"kith/cmd/prbench/gnn/internal/grad"
)

// nbfNet is NBFNet (Zhu et al., 2021) for one kind of edges: the Bellman-Ford iteration from the
// first node of a pair, with learned steps instead of minimum and addition. It reads the row of the
// second node after the last step. It averages messages, where the paper combines four statistics
// of them.
type nbfNet struct {
	o     options
	start *grad.Param
	steps []linear
	norms []norm
	head  head
}

func newNBFNet(m *maker, _ *data, o options) model {
	n := &nbfNet{o: o, start: m.weights(1, o.Width)}
	for range o.Layers {
		n.steps = append(n.steps, m.linear(2*o.Width, o.Width))
		n.norms = append(n.norms, m.norm(o.Width))
	}
	n.head = m.head(2*o.Width, o.Width, o.Head, false, o.Drop)
	return n
}

// encode returns nothing that a pair could share with another.
func (m *nbfNet) encode(t *grad.Tape, _ *graph) *grad.Node { return t.Const(grad.Matrix{}) }

func (m *nbfNet) decode(t *grad.Tape, g *graph, _ *grad.Node, pairs []pair) *grad.Node {
	n := len(g.near)
	first := &grad.CSR{Cols: 1} // selects the sources; the nodes of all pairs follow each other, pair by pair
	targets := make([]int32, len(pairs))
	for i, p := range pairs {
		for u := range n {
			if u == int(p[0]) {
				first.Append([]int32{0}, nil)
			} else {
				first.Append(nil, nil)
			}
		}
		targets[i] = int32(i*n) + int32(p[1])
	}
	near := repeat(g.mean(), len(pairs))
	start := t.Sparse(first, t.Use(m.start))
	x := start
	for i, step := range m.steps {
		y := step.apply(t, t.Concat(t.Add(t.Sparse(near, x), start), x))
		x = t.Add(x, t.Dropout(t.ReLU(m.norms[i].apply(t, y)), m.o.Drop))
	}
	query := t.Gather(t.Use(m.start), make([]int32, len(pairs)))
	return m.head.apply(t, t.Concat(t.Gather(x, targets), query))
}

// repeat returns a matrix with n copies of s along its diagonal.
func repeat(s *grad.CSR, n int) *grad.CSR {
	all := &grad.CSR{Cols: n * s.Cols}
	for i := range n {
		for u := range s.Rows() {
			col := slices.Clone(s.Col[s.Ptr[u]:s.Ptr[u+1]])
			for j := range col {
				col[j] += int32(i * s.Cols)
			}
			all.Append(col, s.Val[s.Ptr[u]:s.Ptr[u+1]])
		}
	}
	return all
}
