package main

import (
	"kith/cmd/prbench/gnn/internal/grad"
)

// seal is SEAL (Zhang and Chen, 2018): a GCN on the nodes around each pair, which are labeled by
// their distances from its ends. It reads the product of the rows of both ends, where the paper
// sorts and pools all rows.
type seal struct {
	o        options
	features *grad.CSR
	input    *grad.Param
	labels   *grad.Param // a row for each label
	layers   []linear
	head     head
	scratch  [2]distances
}

// sealHops is the distance from one end of a pair up to which nodes are seen. sealLabels is the
// number of labels.
const (
	sealHops   = 1
	sealLabels = 16
)

func newSEAL(m *maker, d *data, o options) model {
	s := &seal{o: o, features: d.features, input: m.weights(d.features.Cols, o.Width), labels: m.weights(sealLabels, o.Width)}
	for range o.Layers {
		s.layers = append(s.layers, m.linear(o.Width, o.Width))
	}
	s.head = m.head(o.Width, o.Width, o.Head, false, o.Drop)
	return s
}

func (m *seal) encode(t *grad.Tape, _ *graph) *grad.Node {
	return t.SparseDropout(m.features, m.o.InputDrop, t.Use(m.input))
}

func (m *seal) decode(t *grad.Tape, g *graph, rows *grad.Node, pairs []pair) *grad.Node {
	var nodes, labels []int32 // of all neighborhoods in turn; the ends come first
	var edges, roots []pair
	for _, p := range pairs {
		from := len(nodes)
		roots = append(roots, pair{uint32(from), uint32(from + 1)})
		nodes, labels = m.around(g, p, nodes, labels)
		edges = append(edges, between(g, nodes[from:], from)...)
	}
	near := newGraph(len(nodes), edges).symmetric()
	x := t.Add(t.Gather(rows, nodes), t.Gather(t.Use(m.labels), labels))
	for _, l := range m.layers {
		x = t.Dropout(t.ReLU(l.apply(t, t.Sparse(near, x))), m.o.Drop)
	}
	u, v := ends(t, x, roots)
	return m.head.apply(t, t.Mul(u, v))
}

// around appends the nodes around a pair, and their labels by double-radius node labeling: 1 for
// the ends, then by the sum of both distances and the smaller one (section 3.2 of the paper), 0 for
// nodes that only one end reaches within two more steps.
func (m *seal) around(g *graph, p pair, nodes, labels []int32) ([]int32, []int32) {
	a, b := &m.scratch[0], &m.scratch[1]
	a.walk(g, int32(p[0]), int32(p[1]), sealHops+2)
	b.walk(g, int32(p[1]), int32(p[0]), sealHops+2)
	nodes, labels = append(nodes, int32(p[0]), int32(p[1])), append(labels, 1, 1)
	add := func(d, other *distances) {
		for _, w := range d.reached {
			if d.far[w] > sealHops+1 {
				break
			}
			if w == int32(p[0]) || w == int32(p[1]) || d == b && a.far[w] > 0 && a.far[w] <= sealHops+1 {
				continue
			}
			label := int32(0)
			if other.far[w] > 0 {
				x, y := int32(d.far[w]-1), int32(other.far[w]-1)
				half := (x + y) / 2
				label = min(1+min(x, y)+half*(half+(x+y)%2-1), sealLabels-1)
			}
			nodes, labels = append(nodes, w), append(labels, label)
		}
	}
	add(a, b)
	add(b, a)
	return nodes, labels
}

// between returns the edges between some nodes, each once, as numbers of their places after from.
// The edge of the first two, which are the pair, is left out.
func between(g *graph, nodes []int32, from int) (edges []pair) {
	place := make(map[int32]int, len(nodes))
	for i, u := range nodes {
		place[u] = i
	}
	for i, u := range nodes {
		for _, v := range g.near[u] {
			if j, inside := place[v]; inside && i < j && (i != 0 || j != 1) {
				edges = append(edges, pair{uint32(from + i), uint32(from + j)})
			}
		}
	}
	return edges
}
