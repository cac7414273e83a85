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
	paths []int32
}

func (l *layer) open(n int) {
	l.numbering.open(n)
	l.paths = l.paths[:0]
}

func (l *layer) add(u ID, paths int32) {
	i := l.number(u)
	if i == len(l.paths) {
		l.paths = append(l.paths, 0)
	}
	l.paths[i] += paths
}

// step returns the distance of the nodes that paths are continued from.
func (l *layer) step() int { return max(1, len(l.nodes)/mostNodes) }

// start places the walker on a source.
func (w *walker) start(g graph.Typed, source ID) {
	w.g, w.source, w.len = g, source, 0
	w.layers[0].open(g.NumNodes())
	w.layers[0].add(source, 1)
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
		u, paths := from.nodes[i], from.paths[i]
		row := w.g.Row(u, d)
		if len(row) > long {
			continue
		}
		for _, v := range row {
			if v != w.source && v != u {
				to.add(v, paths)
			}
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
		at := last.find(y)
		if at < 0 || last.paths[at] == 0 {
			continue
		}
		row := w.g.Row(y, w.body[1])
		if len(row) > longRow {
			continue
		}
		if step > 1 {
			last.paths[at] = 0
			continue
		}
		for _, z := range row {
			if z != w.source && z != y && len(w.g.Row(z, w.body[2])) <= longLast {
				last.paths[at] -= first.paths[i]
			}
		}
		last.paths[at] = max(0, last.paths[at])
	}
}
