package main

import (
	"math/rand/v2"

	"kith/cmd/prbench/gnn/internal/grad"
)

// maker makes the parameters of a model.
type maker struct {
	rand   *rand.Rand
	params []*grad.Param
}

func (m *maker) weights(rows, cols int) *grad.Param {
	return m.keep(grad.NewParam(m.rand, rows, cols))
}

func (m *maker) filled(rows, cols int, v float32) *grad.Param {
	return m.keep(grad.FilledParam(rows, cols, v))
}

func (m *maker) keep(p *grad.Param) *grad.Param {
	m.params = append(m.params, p)
	return p
}

// linear is x W + b.
type linear struct{ weights, bias *grad.Param }

func (m *maker) linear(in, out int) linear { return linear{m.weights(in, out), m.filled(1, out, 0)} }

func (l linear) apply(t *grad.Tape, x *grad.Node) *grad.Node {
	return t.Bias(t.MatMul(x, t.Use(l.weights)), t.Use(l.bias))
}

// norm is a layer normalization.
type norm struct{ gain, shift *grad.Param }

func (m *maker) norm(width int) norm { return norm{m.filled(1, width, 1), m.filled(1, width, 0)} }

func (n norm) apply(t *grad.Tape, x *grad.Node) *grad.Node {
	return t.Norm(x, t.Use(n.gain), t.Use(n.shift))
}

// block is a linear layer, a normalization if there is one, dropout and ReLU.
type block struct {
	linear linear
	norm   *norm
	drop   float32
}

func (m *maker) block(in, out int, normed bool, drop float32) block {
	b := block{linear: m.linear(in, out), drop: drop}
	if normed {
		n := m.norm(out)
		b.norm = &n
	}
	return b
}

func (b block) apply(t *grad.Tape, x *grad.Node) *grad.Node {
	x = b.linear.apply(t, x)
	if b.norm != nil {
		x = b.norm.apply(t, x)
	}
	return t.ReLU(t.Dropout(x, b.drop))
}

// head is blocks and a last linear layer with one output.
type head struct {
	blocks []block
	last   linear
}

// head returns a head of a number of layers, the last one included.
func (m *maker) head(in, width, layers int, normed bool, drop float32) head {
	var h head
	for range layers - 1 {
		h.blocks = append(h.blocks, m.block(in, width, normed, drop))
		in = width
	}
	h.last = m.linear(in, 1)
	return h
}

func (h head) apply(t *grad.Tape, x *grad.Node) *grad.Node {
	for _, b := range h.blocks {
		x = b.apply(t, x)
	}
	return h.last.apply(t, x)
}

// ends returns the rows of both nodes of each pair.
func ends(t *grad.Tape, h *grad.Node, pairs []pair) (u, v *grad.Node) {
	rows := [2][]int32{make([]int32, len(pairs)), make([]int32, len(pairs))}
	for i, p := range pairs {
		rows[0][i], rows[1][i] = int32(p[0]), int32(p[1])
	}
	return t.Gather(h, rows[0]), t.Gather(h, rows[1])
}
