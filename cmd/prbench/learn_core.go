package main

import (
	"context"
	"slices"

	"kith/db"
)

// coreShares returns shares of the edges of a graph. The edges between the most densely linked
// nodes with each share are learned from as a further graph. Few public graphs are as dense, and
// the value of a column depends on the density.
func coreShares() []float64 { return []float64{2. / 3, 1. / 3} }

// eachCore calls f with a graph for each of the shares: the k-core (Seidman, Social Networks 5,
// 1983) of the largest k that has this share of the edges. A core with fewer edges than least, or
// with all edges, is left out.
func eachCore(ctx context.Context, tx *db.Tx, directed bool, least int, f func(*db.DB) error) error {
	edges, neighbors, err := edgesOf(tx)
	if err != nil {
		return err
	}
	number := coreNumbers(neighbors)
	depth := func(e [2]int) int { return min(number[e[0]], number[e[1]]) }
	slices.SortStableFunc(edges, func(a, b [2]int) int { return depth(b) - depth(a) })
	for _, share := range coreShares() {
		n := int(share * float64(len(edges)))
		for 0 < n && n < len(edges) && depth(edges[n]) == depth(edges[n-1]) {
			n++
		}
		if n < least || n == len(edges) {
			continue
		}
		store, err := loadEdges(ctx, directed, func(edge func(u, v int)) {
			for _, e := range edges[:n] {
				edge(e[0], e[1])
			}
		})
		if err != nil {
			return err
		}
		if err := f(store); err != nil {
			return err
		}
	}
	return nil
}

// edgesOf returns the edges of a graph without loops, and the neighbours of its nodes, which are
// numbered in order of appearance.
func edgesOf(tx *db.Tx) (edges [][2]int, neighbors [][]int, err error) {
	numbers := map[db.Key]int{}
	number := func(k db.Key) int {
		n, known := numbers[k]
		if !known {
			n = len(numbers)
			numbers[k] = n
			neighbors = append(neighbors, nil)
		}
		return n
	}
	for e, err := range tx.Edges() {
		if err != nil {
			return nil, nil, err
		}
		u, v := number(e.Src), number(e.Dst)
		if u == v {
			continue
		}
		edges = append(edges, [2]int{u, v})
		neighbors[u], neighbors[v] = append(neighbors[u], v), append(neighbors[v], u)
	}
	return edges, neighbors, nil
}

// coreNumbers returns for each node the largest k such that the node is in the k-core (Batagelj and
// Zaveršnik, 2003), by repeatedly removing the node with the fewest links. Arcs in both directions
// count twice.
func coreNumbers(neighbors [][]int) []int {
	number := make([]int, len(neighbors)) // number of links to remaining nodes
	var least [][]int                     // nodes by this number; the number of some has decreased since
	put := func(u int) {
		for len(least) <= number[u] {
			least = append(least, nil)
		}
		least[number[u]] = append(least[number[u]], u)
	}
	for u, of := range neighbors {
		number[u] = len(of)
		put(u)
	}
	gone := make([]bool, len(neighbors))
	for k := range least {
		for len(least[k]) > 0 {
			u := least[k][len(least[k])-1]
			least[k] = least[k][:len(least[k])-1]
			if gone[u] || number[u] != k {
				continue
			}
			gone[u] = true
			for _, v := range neighbors[u] {
				if !gone[v] && number[v] > k {
					number[v]--
					put(v)
				}
			}
		}
	}
	return number
}
