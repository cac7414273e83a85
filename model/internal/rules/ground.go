package rules

import (
	"math"

	"kith/model/internal/graph"
)

// Limits of the paths of a body. Long rows are skipped: they tell little. Of many nodes, every k-th
// continues a path.
const (
	longRow   = 1500 // of the rows at a path's second edge
	longLast  = 300  // of the rows at its third edge
	mostNodes = 300  // nodes that paths are continued from
)

// none is no node.
const none = math.MaxUint32

// walker follows the bodies of rules from a source.
type walker struct {
	g      graph.Typed
	source ID
	layers [MaxLen + 1]layer // nodes at the ends of paths of a length
	body   [MaxLen]Direction // directions of the paths in layers
	len    int               // of body
}

// layer holds nodes with the number of paths that lead to each.
type layer struct {
	numbering
	paths []int32 // by node, or by number in a large graph
	large bool
}

// open prepares a layer for a graph of n nodes. It keeps no node.
func (l *layer) open(n int) {
	if large := n > mostDense; large != l.large {
		*l = layer{large: large}
	}
	if l.large {
		l.numbering.open(n)
		l.paths = l.paths[:0]
		return
	}
	for _, u := range l.nodes {
		l.paths[u] = 0
	}
	l.nodes = l.nodes[:0]
	if len(l.paths) < n {
		l.paths = make([]int32, n)
	}
}

// add adds paths to each node of a row, apart from two nodes.
func (l *layer) add(row []ID, paths int32, a, b ID) {
	if l.large {
		l.addNumbered(row, paths, a, b)
		return
	}
	nodes, all := l.nodes, l.paths
	for _, v := range row {
		if v == a || v == b {
			continue
		}
		if all[v] == 0 {
			nodes = append(nodes, v)
		}
		all[v] += paths
	}
	l.nodes = nodes
}

// addNumbered is add for a large graph.
func (l *layer) addNumbered(row []ID, paths int32, a, b ID) {
	for _, v := range row {
		if v == a || v == b {
			continue
		}
		i := l.number(v)
		if i == len(l.paths) {
			l.paths = append(l.paths, 0)
		}
		l.paths[i] += paths
	}
}

// of returns the number of paths to a node.
func (l *layer) of(u ID) int32 {
	if !l.large {
		return l.paths[u]
	}
	if i := l.find(u); i >= 0 {
		return l.paths[i]
	}
	return 0
}

// set changes the number of paths to a node of the layer.
func (l *layer) set(u ID, paths int32) {
	if l.large {
		l.paths[l.find(u)] = paths
	} else {
		l.paths[u] = paths
	}
}

// step returns the distance of the nodes that paths are continued from.
func (l *layer) step() int { return max(1, len(l.nodes)/mostNodes) }

// start places the walker on a source.
func (w *walker) start(g graph.Typed, source ID) {
	w.g, w.source, w.len = g, source, 0
	w.layers[0].open(g.NumNodes())
	w.layers[0].add([]ID{source}, 1, none, none)
}

// each calls f for the rules that lead somewhere, with the ends of their paths. Adjacent rules
// share the paths that their bodies have in common.
func (w *walker) each(all []Rule, f func(rule int, ends *layer)) {
	for i := range all {
		if ends := w.follow(all[i].path()); len(ends.nodes) > 0 {
			f(i, ends)
		}
	}
}

// follow returns the ends of the paths along a body.
func (w *walker) follow(body []Direction) *layer {
	k := 0
	for k < min(w.len, len(body)) && w.body[k] == body[k] {
		k++
	}
	for w.len = k; w.len < len(body) && len(w.layers[w.len].nodes) > 0; w.len++ {
		w.body[w.len] = body[w.len]
		w.extend(w.len)
	}
	if w.len < len(body) {
		return &w.layers[w.len] // without nodes
	}
	return &w.layers[len(body)]
}

// extend makes layer k+1 from layer k. A path comes back neither to the source nor to the node
// before.
func (w *walker) extend(k int) {
	from, to, d := &w.layers[k], &w.layers[k+1], w.body[k]
	to.open(w.g.NumNodes())
	long, step := [MaxLen]int{math.MaxInt, longRow, longLast}[k], from.step()
	for i := 0; i < len(from.nodes); i += step {
		u := from.nodes[i]
		if row := w.g.Row(u, d); len(row) <= long {
			to.add(row, from.of(u), w.source, u)
		}
	}
	if k == 2 && d == w.g.Inverse(w.body[1]) {
		w.dropReturns(step)
	}
}

// dropReturns takes the paths through the target itself out of the last layer, as from x over y and
// z back to y.
func (w *walker) dropReturns(step int) {
	first, last := &w.layers[1], &w.layers[3]
	for i := 0; i < len(first.nodes); i += first.step() {
		y := first.nodes[i]
		paths := last.of(y)
		if paths == 0 {
			continue
		}
		row := w.g.Row(y, w.body[1])
		if len(row) > longRow {
			continue
		}
		if step > 1 {
			last.set(y, 0)
			continue
		}
		for _, z := range row {
			if z != w.source && z != y && len(w.g.Row(z, w.body[2])) <= longLast {
				paths -= first.of(y)
			}
		}
		last.set(y, max(0, paths))
	}
}
