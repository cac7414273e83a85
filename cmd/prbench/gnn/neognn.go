package main

import (
	"math"
	"slices"

	"kith/cmd/prbench/gnn/internal/grad"
)

// neoGNN is Neo-GNN (Yun et al., 2021): in addition to a GCN it learns a weight of each node from
// its degree, and adds up the squares of the weights over the nodes that both ends reach in one or
// two steps. Its two logits are added, where the paper mixes two probabilities.
type neoGNN struct {
	gcn    *gcn
	weight head // of a node
	last   head
}

// neoDecay is the weight of walks of two steps; a walk of one step has weight 1.
const neoDecay = 0.1

func newNeoGNN(m *maker, d *data, o options) model {
	return &neoGNN{makeGCN(m, d, o, false), m.head(1, 16, 2, false, 0), m.head(1, 16, 2, false, 0)}
}

// encode returns the rows of the GCN, with the weight of the node as one more column.
func (m *neoGNN) encode(t *grad.Tape, g *graph) *grad.Node {
	degrees := grad.NewMatrix(len(g.near), 1)
	for u, row := range g.near {
		degrees.Data[u] = float32(math.Log1p(float64(len(row))))
	}
	return t.Concat(m.gcn.encode(t, g), m.weight.apply(t, t.Const(degrees)))
}

func (m *neoGNN) decode(t *grad.Tape, g *graph, rows *grad.Node, pairs []pair) *grad.Node {
	h, weight := t.Part(rows, 0, rows.Cols-1), t.Part(rows, rows.Cols-1, rows.Cols)
	shared := t.Sparse(overlap(g, pairs), t.Mul(weight, weight))
	return t.Add(m.gcn.decode(t, g, h, pairs), m.last.apply(t, shared))
}

// overlap returns a row for each pair: how many walks of one or two steps of both ends end in each
// node, multiplied.
func overlap(g *graph, pairs []pair) *grad.CSR {
	s := &grad.CSR{Cols: len(g.near)}
	var walks [2][]float32
	var reached [2][]int32
	for end := range walks {
		walks[end] = make([]float32, len(g.near))
	}
	for _, p := range pairs {
		for end, w := range walks {
			for _, v := range reached[end] {
				w[v] = 0
			}
			reached[end] = reached[end][:0]
			for _, v := range g.near[p[end]] {
				reached[end] = append(append(reached[end], v), g.near[v]...)
				w[v]++
				for _, x := range g.near[v] {
					w[x] += neoDecay
				}
			}
		}
		slices.Sort(reached[0])
		reached[0] = slices.Compact(reached[0])
		var col []int32
		var val []float32
		for _, v := range reached[0] {
			if both := walks[0][v] * walks[1][v]; both > 0 {
				col, val = append(col, v), append(val, both)
			}
		}
		s.Append(col, val)
	}
	return s
}
