package rules

import (
	"cmp"
	"iter"
	"slices"

	"kith/model/internal/graph"
)

// Edge is an edge of a relation.
type Edge struct {
	U, V     ID
	Relation uint16
}

// Table is a typed graph in memory, with each edge in the rows of both ends.
type Table struct {
	directed []bool   // by relation
	edges    int      // an undirected edge counts once
	first    []uint32 // the rows of node u are first[u] to first[u+1]
	has      []uint64 // by node: a set of its directions modulo 64
	of       []uint32 // row i has the direction byOrder(of[i])
	end      []uint32 // row i has the nodes to[end[i-1]:end[i]]
	to       []ID
	start    []uint32 // the arcs of node u are near[start[u]:start[u+1]]
	near     []arc    // ascending by node and direction
}

type arc struct {
	to ID
	by Direction
}

// Bytes returns the memory that a table takes.
func Bytes(nodes, edges int) int64 { return 16*int64(nodes) + 2*20*int64(edges) }

// NewTable returns the graph of n nodes that has the given edges, of relations that are directed or
// not.
func NewTable(n int, directed []bool, edges iter.Seq[Edge]) *Table {
	t := &Table{directed: directed, first: make([]uint32, n+1), has: make([]uint64, n), start: make([]uint32, n+1)}
	t.eachArc(edges, func(u ID, _ arc) { t.start[u+1]++ })
	for u := range n {
		t.start[u+1] += t.start[u]
	}
	t.near = make([]arc, t.start[n])
	at := slices.Clone(t.start)
	t.eachArc(edges, func(u ID, a arc) {
		t.near[at[u]] = a
		at[u]++
	})
	t.to, t.end = make([]ID, 0, len(t.near)), append(t.end, 0)
	t.of = append(t.of, 0) // before the first row
	var row []uint64       // arcs of a node by direction and node
	for u := range n {
		near := t.near[t.start[u]:t.start[u+1]]
		slices.SortFunc(near, func(a, b arc) int { return cmp.Compare(a.key(), b.key()) })
		row = row[:0]
		for _, a := range near {
			row = append(row, uint64(order(a.by))<<32|uint64(a.to))
		}
		slices.Sort(row)
		t.first[u] = uint32(len(t.of))
		for _, k := range row {
			if of := uint32(k >> 32); len(t.of) == int(t.first[u]) || t.of[len(t.of)-1] != of {
				t.of, t.end = append(t.of, of), append(t.end, uint32(len(t.to)))
				t.has[u] |= 1 << (uint32(byOrder(of)) % 64)
			}
			t.to = append(t.to, ID(k))
			t.end[len(t.end)-1] = uint32(len(t.to))
		}
	}
	t.first[n] = uint32(len(t.of))
	return t
}

// order returns the place of a direction among the rows of a node, and byOrder is its inverse.
func order(d Direction) uint32   { return uint32(d)>>1 | uint32(d)<<31 }
func byOrder(n uint32) Direction { return Direction(n<<1 | n>>31) }

// key orders arcs by node and direction.
func (a arc) key() uint64 { return uint64(a.to)<<32 | uint64(a.by) }

// eachArc calls f for the arcs of edges, those of a directed relation from both ends.
func (t *Table) eachArc(edges iter.Seq[Edge], f func(u ID, a arc)) {
	t.edges = 0
	for e := range edges {
		t.edges++
		d := Direction(2 * e.Relation)
		f(e.U, arc{e.V, d})
		if b := t.Inverse(d); b != d || e.U != e.V {
			f(e.V, arc{e.U, b})
		}
	}
}

func (t *Table) NumNodes() int     { return len(t.first) - 1 }
func (t *Table) NumRelations() int { return len(t.directed) }

func (t *Table) Inverse(d Direction) Direction {
	if t.directed[d/2] {
		return d ^ 1
	}
	return d
}

func (t *Table) Row(u ID, d Direction) []ID {
	if t.has[u]>>(uint32(d)%64)&1 == 0 {
		return nil
	}
	lo, end, want := t.first[u], t.first[u+1], order(d)
	for hi := end; lo < hi; {
		if mid := (lo + hi) / 2; t.of[mid] < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == end || t.of[lo] != want {
		return nil
	}
	return t.row(lo)
}

func (t *Table) row(i uint32) []ID { return t.to[t.end[i-1]:t.end[i]] }

func (t *Table) Rows(u ID) iter.Seq2[Direction, []ID] {
	return func(yield func(Direction, []ID) bool) {
		for i := t.first[u]; i < t.first[u+1]; i++ {
			if !yield(byOrder(t.of[i]), t.row(i)) {
				return
			}
		}
	}
}

// Ends returns the nodes of all rows of u.
func (t *Table) Ends(u ID) []ID {
	first, end := t.first[u], t.first[u+1]
	if first == end {
		return nil
	}
	return t.to[t.end[first-1]:t.end[end-1]]
}

// arcs returns the arcs of u, ascending by node and direction.
func (t *Table) arcs(u ID) []arc { return t.near[t.start[u]:t.start[u+1]] }

// between returns the arcs from u to v.
func (t *Table) between(u, v ID) []arc {
	all := t.arcs(u)
	i, _ := slices.BinarySearchFunc(all, v, func(a arc, v ID) int { return int(int64(a.to) - int64(v)) })
	end := i
	for end < len(all) && all[end].to == v {
		end++
	}
	return all[i:end]
}

// Directions yields the directions of the relations of a graph.
func Directions(g graph.Typed) iter.Seq[Direction] {
	return func(yield func(Direction) bool) {
		for r := range Direction(g.NumRelations()) {
			if !yield(2*r) || g.Inverse(2*r) != 2*r && !yield(2*r+1) {
				return
			}
		}
	}
}
