package draw

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// network is a graph to lay out: nodes from 0; the first is the center.
type network struct {
	size  int
	edges [][2]int
	loose [][2]int // predicted links, which attract less
	seed  uint64
}

// The lengths of edges. The length of an edge grows from shortest to longest with the share of
// neighbors that its ends do not have in common.
const (
	shortest  = 0.7
	longest   = 1.7
	predicted = 2.2
	detour    = 1.35 // factor of the length of paths through the center
	sweeps    = 60   // of the majorization
)

// layout returns the positions of the nodes, in steps of the graph.
func (g *network) layout() []Point {
	at := g.rings()
	d := g.distances()
	for range sweeps {
		if majorize(at, d) < 1e-3 {
			break
		}
	}
	turn(at)
	return at
}

// neighbors returns the neighbors of each node, ascending and without direction, as sets of bits.
func (g *network) neighbors() []bitset {
	all := make([]bitset, g.size)
	for i := range all {
		all[i] = make(bitset, (g.size+63)/64)
		all[i].add(i)
	}
	for _, e := range g.edges {
		all[e[0]].add(e[1])
		all[e[1]].add(e[0])
	}
	return all
}

// distances returns the length of a shortest path between any two nodes.
func (g *network) distances() [][]float64 {
	d := make([][]float64, g.size)
	for i := range d {
		d[i] = make([]float64, g.size)
		for j := range d[i] {
			if i != j {
				d[i][j] = math.Inf(1)
			}
		}
	}
	set := func(e [2]int, length float64) {
		length = min(length, d[e[0]][e[1]])
		d[e[0]][e[1]], d[e[1]][e[0]] = length, length
	}
	neighbors := g.neighbors()
	for _, e := range g.edges {
		if e[0] != e[1] {
			set(e, shortest+(longest-shortest)*(1-neighbors[e[0]].similarity(neighbors[e[1]])))
		}
	}
	for _, e := range g.loose {
		if e[0] != e[1] {
			set(e, predicted)
		}
	}
	for k := range d { // Floyd and Warshall, without paths through the center at first
		if k != 0 {
			shorten(d, k, 1)
		}
	}
	if g.size > 0 {
		shorten(d, 0, detour)
	}
	limit(d)
	return d
}

// shorten takes the paths through a node, whose length counts times a factor, into account.
func shorten(d [][]float64, through int, factor float64) {
	via := d[through]
	for i, row := range d {
		if i == through || math.IsInf(row[through], 1) {
			continue
		}
		first := row[through]
		for j := range row {
			if length := factor * (first + via[j]); length < row[j] && j != through {
				row[j] = length
			}
		}
	}
}

// limit sets the distance of nodes that no path joins.
func limit(d [][]float64) {
	most := 1.0
	for _, row := range d {
		for _, x := range row {
			if !math.IsInf(x, 1) {
				most = max(most, x)
			}
		}
	}
	for _, row := range d {
		for j := range row {
			row[j] = min(row[j], most+1)
		}
	}
}

// rings returns the first positions: each node on a ring around the center by the number of steps
// to it, near the node through which the search came. A little chance keeps nodes from lying on one
// line.
func (g *network) rings() []Point {
	random := rand.New(rand.NewPCG(g.seed, 0x9e3779b97f4a7c15))
	parent, order := g.tree()
	leaves := make([]float64, g.size) // of the tree below a node
	for i := len(order) - 1; i >= 0; i-- {
		u := order[i]
		if leaves[u] = max(leaves[u], 1); parent[u] >= 0 {
			leaves[parent[u]] += leaves[u]
		}
	}
	at, radius := make([]Point, g.size), make([]float64, g.size)
	// The angle at which the part of the ring of a node begins, then the angle of its next child.
	begin := make([]float64, g.size)
	for _, u := range order {
		p := parent[u]
		if p < 0 {
			continue
		}
		share := 2 * math.Pi * leaves[u] / leaves[0]
		begin[u] = begin[p]
		begin[p] += share
		radius[u] = radius[p] + 1
		r := radius[u] * (1 + 0.05*random.Float64())
		sin, cos := math.Sincos(begin[u] + share/2)
		at[u] = Point{r * cos, r * sin}
	}
	return at
}

// tree returns the tree of a search from the center, which has no parent: -1. Nodes that it does
// not reach are below the center as well. order has a node after its parent.
func (g *network) tree() (parent, order []int) {
	next := make([][]int, g.size)
	for _, e := range slices.Concat(g.edges, g.loose) {
		next[e[0]] = append(next[e[0]], e[1])
		next[e[1]] = append(next[e[1]], e[0])
	}
	parent = make([]int, g.size)
	seen := make([]bool, g.size)
	for first := range g.size {
		if seen[first] {
			continue
		}
		seen[first] = true
		if first == 0 {
			parent[first] = -1
		}
		order = append(order, first)
		for at := len(order) - 1; at < len(order); at++ {
			for _, v := range next[order[at]] {
				if !seen[v] {
					seen[v], parent[v] = true, order[at]
					order = append(order, v)
				}
			}
		}
	}
	return parent, order
}

// majorize moves each node to where its stress is least, if the directions to all nodes stay. It
// returns the mean distance by which nodes moved.
func majorize(at []Point, d [][]float64) (moved float64) {
	for i, p := range at {
		var x, y, total float64
		for j, q := range at {
			if i == j {
				continue
			}
			want := d[i][j]
			w := 1 / (want * want)
			dx, dy := p.X-q.X, p.Y-q.Y
			if length := math.Sqrt(dx*dx + dy*dy); length > 1e-9 {
				x += w * (q.X + want*dx/length)
				y += w * (q.Y + want*dy/length)
			} else { // on top of each other: apart in a direction that their numbers give
				sin, cos := math.Sincos(float64(i*7 + j*13))
				x += w * (q.X + want*cos)
				y += w * (q.Y + want*sin)
			}
			total += w
		}
		if total > 0 {
			at[i] = Point{x / total, y / total}
			moved += math.Hypot(at[i].X-p.X, at[i].Y-p.Y)
		}
	}
	return moved / max(float64(len(at)), 1)
}

// turn turns the positions around the first so that their longer extent is horizontal.
func turn(at []Point) {
	var mean Point
	for _, p := range at {
		mean.X += p.X / float64(len(at))
		mean.Y += p.Y / float64(len(at))
	}
	var xx, xy, yy float64
	for _, p := range at {
		dx, dy := p.X-mean.X, p.Y-mean.Y
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	sin, cos := math.Sincos(math.Atan2(2*xy, xx-yy) / 2)
	for i, p := range at {
		at[i] = Point{p.X*cos + p.Y*sin, p.Y*cos - p.X*sin}
	}
}

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) add(i int) { b[i/64] |= 1 << (i % 64) }

// similarity returns the share of the members of two sets that both have. The center, 0, does not
// count.
func (b bitset) similarity(c bitset) float64 {
	both, either := 0, 0
	for i := range b {
		x, y := b[i], c[i]
		if i == 0 {
			x, y = x&^1, y&^1
		}
		both, either = both+bits.OnesCount64(x&y), either+bits.OnesCount64(x|y)
	}
	return float64(both) / float64(max(either, 1))
}
