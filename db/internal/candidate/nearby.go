package candidate

import (
	"math/rand/v2"
	"slices"

	"kith/index"
)

// Nearby finds the nodes at a given number of steps.
type Nearby struct {
	graph *index.Graph
	hops  int
	limit int // number of entries that a step may read; a step with more reads about as many, drawn at random
	seed  uint64
	seen  []bool // all false between two calls
}

// NewNearby returns a Nearby that reads a graph. A step that would read more entries than the limit
// reads about as many, drawn at random.
func NewNearby(g *index.Graph, hops, limit int, seed uint64) *Nearby {
	return &Nearby{graph: g, hops: hops, limit: limit, seed: seed, seen: make([]bool, g.NumNodes())}
}

// Of returns the nodes whose shortest path from the source has n.hops steps, ascending. If sampled
// is true, a step had more entries than the limit. The nodes are then the ends of the paths that
// were read, and the given links for which leadsTo finds a path.
func (n *Nearby) Of(source index.ID, links []index.ID) (nodes []index.ID, sampled bool) {
	rng := rand.New(rand.NewPCG(n.seed, uint64(source)))
	all := []index.ID{source}
	n.seen[source] = true
	defer func() {
		for _, u := range all {
			n.seen[u] = false
		}
	}()
	from := 0
	for range n.hops {
		layer := all[from:]
		from = len(all)
		every := n.interval(layer)
		sampled = sampled || every > 1
		for w := range n.entries(layer, every, rng) {
			if !n.seen[w] {
				n.seen[w] = true
				all = append(all, w)
			}
		}
	}
	nodes = slices.Clone(all[from:])
	if sampled {
		left := n.limit
		for _, to := range links {
			if !n.seen[to] && n.leadsTo(source, to, &left) {
				nodes = append(nodes, to)
			}
		}
	}
	slices.Sort(nodes)
	return nodes, sampled
}

// interval returns how far apart the entries of the rows of a layer are that are read: 1 means all.
func (n *Nearby) interval(layer []index.ID) int {
	entries := 0
	for _, u := range layer {
		entries += n.graph.OutLen(u)
	}
	return max(1, (entries+n.limit-1)/n.limit)
}

// entries yields one of every so many entries of the rows of a layer, on average, at random
// distances: rows of equal lengths would always give the same of their entries at equal distances.
func (n *Nearby) entries(layer []index.ID, every int, rng *rand.Rand) func(yield func(index.ID) bool) {
	distance := func() int {
		if every == 1 {
			return 1
		}
		return 1 + rng.IntN(2*every-1)
	}
	return func(yield func(index.ID) bool) {
		next := distance() - 1 // counted from the start of the row
		for _, u := range layer {
			if length := n.graph.OutLen(u); next >= length {
				next -= length
				continue
			}
			row, _ := n.graph.Out(u)
			for ; next < len(row); next += distance() {
				if !yield(row[next]) {
					return
				}
			}
			next -= len(row)
		}
	}
}

// leadsTo reports whether the shortest path from the source to another node has n.hops steps. It
// reads backwards, and gives up when it has read the entries that are left.
func (n *Nearby) leadsTo(source, target index.ID, left *int) bool {
	first, _ := n.graph.Out(source)
	layer := []index.ID{target}
	for steps := 2; steps <= n.hops; steps++ {
		var before []index.ID
		for _, u := range layer {
			row, _ := n.graph.In(u)
			for _, w := range row {
				if *left--; *left < 0 {
					return false
				}
				if _, reached := slices.BinarySearch(first, w); reached {
					return steps == n.hops
				}
			}
			before = append(before, row...)
		}
		layer = before
	}
	return false
}
