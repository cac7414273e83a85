// Package factor factorises a graph whose edges have relations: each node and each direction of a
// relation has a vector, and a product of vectors is the score of a link. Where rules see only
// paths, vectors also tell which nodes take the same place.
//
// The method is ComplEx with reciprocal relations (Trouillon et al., ICML 2016; Lacroix, Usunier
// and Obozinski, ICML 2018): the score of y for a question of source x and direction d is
// Re(x·d·ȳ). The loss is a softmax over the link and sampled nodes, corrected for their
// probabilities, with the N3 penalty, and the steps are Adagrad's.
package factor

import (
	"errors"
	"math"

	"kith/model/internal/graph"
	"kith/model/nn"
)

type (
	ID        = graph.ID
	Direction = graph.Direction
)

// Dim is the length of a vector: the real parts of Dim/2 numbers, then the imaginary ones.
const Dim = 64

const half = Dim / 2

// Factors holds the vectors of a graph. It is immutable. The numbers of a row are multiples of
// 1/127 of its largest one, as they are stored.
type Factors struct {
	nodes, directions []float32 // a row of Dim numbers each
	mean              []float32 // of the rows of nodes
}

// Scores stores how much the score of each node is above the mean score of all nodes, for a
// question of a source and a direction. It is 0 if the source, the node or the direction has no
// vector.
func (f *Factors) Scores(source ID, d Direction, nodes []ID, scores []float64) {
	clear(scores)
	if int(source) >= len(f.nodes)/Dim || int(d) >= len(f.directions)/Dim {
		return
	}
	var q [Dim]float32
	turn(row(f.nodes, int(source)), row(f.directions, int(d)), q[:])
	base := nn.Dot(q[:], f.mean)
	for i, u := range nodes {
		if int(u) < len(f.nodes)/Dim {
			if v := row(f.nodes, int(u)); known(v) {
				scores[i] = float64(nn.Dot(q[:], v) - base)
			}
		}
	}
}

// known reports whether a node has a vector.
func known(v []float32) bool { return v[0] != 0 || v[half] != 0 }

// turn stores the product of the vectors of a source and of a direction. The product of the result
// with the vector of a node is the score of the node.
func turn(x, d, q []float32) {
	x, d, q = x[:Dim], d[:Dim], q[:Dim]
	for k := range half {
		a, b, c, s := x[k], x[half+k], d[k], d[half+k]
		q[k], q[half+k] = a*c-b*s, a*s+b*c
	}
}

// turnBack stores the gradients with respect to x and d of a product whose gradient is g.
func turnBack(x, d, g, dx, dd []float32) {
	x, d, g, dx, dd = x[:Dim], d[:Dim], g[:Dim], dx[:Dim], dd[:Dim]
	for k := range half {
		a, b := g[k], g[half+k]
		dx[k], dx[half+k] = a*d[k]+b*d[half+k], b*d[k]-a*d[half+k]
		dd[k], dd[half+k] = a*x[k]+b*x[half+k], b*x[k]-a*x[half+k]
	}
}

func row(all []float32, i int) []float32 { return all[i*Dim : (i+1)*Dim : (i+1)*Dim] }

// newFactors returns the factors with the given rows, which are rounded.
func newFactors(nodes, directions []byte) *Factors {
	f := &Factors{nodes: unpack(nodes), directions: unpack(directions), mean: make([]float32, Dim)}
	n := len(f.nodes) / Dim
	for u := range n {
		nn.Axpy(1/float32(max(1, n)), row(f.nodes, u), f.mean)
	}
	return f
}

// Bytes returns the memory that the factors take.
func (f *Factors) Bytes() int {
	if f == nil {
		return 0
	}
	return 4 * (len(f.nodes) + len(f.directions) + len(f.mean))
}

// Nodes calls yield for the nodes that have a vector.
func (f *Factors) Nodes(yield func(ID)) {
	if f == nil {
		return
	}
	for u := range len(f.nodes) / Dim {
		if known(row(f.nodes, u)) {
			yield(ID(u))
		}
	}
}

// Renamed returns the factors for a graph in which nodes and directions have other numbers. What
// has no number there is dropped.
func (f *Factors) Renamed(node func(ID) (ID, bool), direction func(Direction) (Direction, bool)) *Factors {
	if f == nil {
		return nil
	}
	out := &Factors{mean: f.mean}
	out.nodes = renamed(f.nodes, func(i int) (int, bool) { u, ok := node(ID(i)); return int(u), ok })
	out.directions = renamed(f.directions, func(i int) (int, bool) { d, ok := direction(Direction(i)); return int(d), ok })
	return out
}

func renamed(rows []float32, number func(int) (int, bool)) (out []float32) {
	for i := range len(rows) / Dim {
		if n, ok := number(i); ok && known(row(rows, i)) {
			if more := (n+1)*Dim - len(out); more > 0 {
				out = append(out, make([]float32, more)...)
			}
			copy(row(out, n), row(rows, i))
		}
	}
	return out
}

// Document is the stored form: for each row its largest number, a float32, and its numbers in units
// of 1/127 of that, a byte each.
type Document struct{ Nodes, Directions, Mean []byte }

// Document returns the stored form.
func (f *Factors) Document() *Document {
	return &Document{pack(f.nodes), pack(f.directions), nn.PackFloats(f.mean)}
}

// Factors decodes a document.
func (d *Document) Factors() (*Factors, error) {
	f := &Factors{nodes: unpack(d.Nodes), directions: unpack(d.Directions), mean: make([]float32, Dim)}
	if len(d.Nodes)%packed != 0 || len(d.Directions)%packed != 0 || len(d.Mean) != 4*Dim || !nn.UnpackFloats(f.mean, d.Mean) ||
		!nn.Finite(f.nodes...) || !nn.Finite(f.directions...) {
		return nil, errors.New("the factors are malformed")
	}
	return f, nil
}

// packed is the number of bytes of a stored row.
const packed = 4 + Dim

func pack(rows []float32) []byte {
	b := make([]byte, 0, len(rows)/Dim*packed)
	for i := range len(rows) / Dim {
		most := float32(0)
		for _, v := range row(rows, i) {
			most = max(most, v, -v)
		}
		b = append(b, nn.PackFloats([]float32{most})...)
		for _, v := range row(rows, i) {
			n := 0.0
			if most > 0 {
				n = math.Round(float64(v) / float64(most) * math.MaxInt8)
			}
			b = append(b, byte(int8(n)))
		}
	}
	return b
}

func unpack(b []byte) []float32 {
	var rows []float32
	var most [1]float32
	for ; len(b) >= packed; b = b[packed:] {
		if !nn.UnpackFloats(most[:], b[:4]) {
			most[0] = float32(math.NaN())
		}
		for _, n := range b[4:packed] {
			rows = append(rows, float32(float64(int8(n))/math.MaxInt8*float64(most[0])))
		}
	}
	return rows
}
