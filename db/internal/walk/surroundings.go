package walk

import (
	"cmp"
	"context"
	"math"
	"slices"

	"kith/index"
	"kith/ppr"
)

// Surroundings are a node, the center, with the nodes around it that matter most to it: they have
// the highest personalised PageRank among the nodes that can be reached through each other.
type Surroundings struct {
	// Nodes begins with the center. All other nodes follow in descending order of PageRank, equal
	// ones in the order of their ids.
	Nodes []SurroundingNode
	// Edges are edges between the nodes: first an edge that leads to each node, then for each node
	// the edge over which the walk moves most mass, then the next edge of each node, and so on.
	Edges []index.Edge
	// NodesLeft is the number of nodes that the walk reaches and that were left out, whatever their
	// distance.
	NodesLeft int
	EdgesLeft int // number of edges between the nodes that were left out
}

// SurroundingNode is a node of Surroundings.
type SurroundingNode struct {
	ID       index.ID
	PageRank float64 // as seen from the center
	// Depth is the number of steps from the center through the nodes; -1 if they do not lead there.
	Depth int
}

// SurroundingsLimits bounds Surroundings.
type SurroundingsLimits struct {
	Depth  int        // largest number of steps from the center
	Nodes  int        // largest number of nodes, including the center and Always
	Edges  int        // largest number of edges
	Always []index.ID // nodes to include whatever their PageRank, ascending, fewer than Nodes
}

// Surroundings finds the nodes around a center. It reads the PageRank state of the center, and the
// edges of the nodes that it returns, so that its cost does not depend on how many nodes lie within
// a number of steps. In a directed graph, steps follow the direction of the edges; if they reach
// fewer nodes than allowed, nodes that point to the center follow, with a depth of -1.
func (w *Walker) Surroundings(ctx context.Context, center index.ID, most SurroundingsLimits) (*Surroundings, error) {
	s := &surveyor{g: w.View.Graph, most: most, center: center, depth: map[index.ID]int{center: 0}}
	nodes, values, err := w.Near(ctx, w.View.Meta.Alpha, ppr.Unit(center))
	if err != nil {
		return nil, err
	}
	s.rank(nodes, values)
	if err := s.choose(ctx); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	s.describe()
	return &s.found, nil
}

// surveyor finds the nodes and edges of Surroundings.
type surveyor struct {
	g      *index.Graph
	most   SurroundingsLimits
	center index.ID
	behind []index.ID           // nodes that point to the center of a directed graph
	value  map[index.ID]float64 // PageRank of the strongest nodes, from which the rest is chosen
	depth  map[index.ID]int     // steps to the nodes that chosen ones lead to
	chosen []index.ID           // in the order in which they were chosen; later ascending
	rows   map[index.ID][]near  // edges of chosen nodes to nodes in value
	open   queue[index.ID]      // nodes that chosen ones lead to, the strongest first
	found  Surroundings
}

// near is an edge to a node.
type near struct {
	to     index.ID
	weight float32
}

// considered is the number of candidates, the strongest nodes by PageRank, for each node that may
// be chosen.
const considered = 10

// rank collects the PageRank of the nodes that may be chosen, from the nodes that the walk reaches
// and their values.
func (s *surveyor) rank(nodes []index.ID, values []float64) {
	s.value = map[index.ID]float64{}
	for _, b := range Best(len(nodes), considered*s.most.Nodes, func(i int) (float64, float64) { return values[i], 0 }) {
		s.value[nodes[b.Place]] = b.Score
	}
	if s.g.Directed() {
		s.behind = s.g.InHead(s.center, s.most.Nodes, nil)
	}
	// The state of a node with very many edges reaches few nodes or none, because its error is
	// relative to the degree.
	next := s.g.OutHead(s.center, considered*s.most.Nodes, nil)
	for _, id := range slices.Concat(s.most.Always, s.behind, next, []index.ID{s.center}) {
		s.value[id] = 0
		if i, ok := slices.BinarySearch(nodes, id); ok {
			s.value[id] = values[i]
		}
	}
	s.found.NodesLeft = len(nodes)
}

// choose chooses nodes: always the strongest node that chosen nodes lead to, so that a path of
// chosen nodes leads to each.
func (s *surveyor) choose(ctx context.Context) error {
	s.rows = map[index.ID][]near{}
	s.open.before = func(u, v index.ID) bool {
		return cmp.Or(cmp.Compare(s.value[v], s.value[u]), cmp.Compare(u, v)) < 0
	}
	s.open.push(s.center)
	missing := len(s.most.Always) // nodes of Always that are not chosen
	for s.open.Len() > 0 && len(s.chosen)+missing < s.most.Nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := s.open.pop()
		if _, ok := slices.BinarySearch(s.most.Always, u); ok {
			missing--
		}
		s.add(u)
		s.lead(u)
	}
	for _, id := range s.most.Always {
		if s.rows[id] == nil {
			s.add(id)
		}
	}
	for _, id := range s.behind {
		if s.rows[id] == nil && len(s.chosen) < s.most.Nodes {
			s.add(id)
		}
	}
	for _, id := range s.chosen {
		if s.value[id] > 0 {
			s.found.NodesLeft--
		}
	}
	return nil
}

// add chooses a node and reads its edges.
func (s *surveyor) add(u index.ID) {
	s.chosen = append(s.chosen, u)
	to, weight := s.g.Out(u)
	row := []near{}
	for i, v := range to {
		if _, ok := s.value[v]; ok && v != u {
			e := near{v, 1}
			if weight != nil {
				e.weight = weight[i]
			}
			row = append(row, e)
		}
	}
	s.rows[u] = row
}

// lead opens the nodes that a chosen node leads to. It also corrects the depths of nodes that are
// nearer now.
func (s *surveyor) lead(u index.ID) {
	for nearer := []index.ID{u}; len(nearer) > 0; nearer = nearer[1:] {
		d := s.depth[nearer[0]] + 1
		for _, e := range s.rows[nearer[0]] {
			known, ok := s.depth[e.to]
			if d > s.most.Depth || ok && known <= d {
				continue
			}
			s.depth[e.to] = d
			if s.rows[e.to] != nil {
				nearer = append(nearer, e.to)
			} else if !ok {
				s.open.push(e.to)
			}
		}
	}
}

// carrier is an edge with the mass of the walk that it carries in a step.
type carrier struct {
	index.Edge
	mass float64
	rank int // among the edges of an end, whichever is less
}

// connect chooses the edges between the chosen nodes.
func (s *surveyor) connect(ctx context.Context) error {
	slices.Sort(s.chosen)
	var all []carrier
	for _, u := range s.chosen {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, e := range s.rows[u] {
			if _, ok := slices.BinarySearch(s.chosen, e.to); !ok || !s.g.Directed() && e.to < u {
				continue
			}
			c := carrier{Edge: index.Edge{Ends: index.Ends{U: u, V: e.to}, Weight: e.weight}, mass: s.carries(u, e.weight)}
			if !s.g.Directed() {
				c.mass += s.carries(e.to, e.weight)
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b carrier) int { return cmp.Compare(b.mass, a.mass) })
	s.inTurn(all)
	kept := make([]bool, len(all))
	left := s.most.Edges
	for _, pass := range []func(carrier) bool{s.joins(), func(carrier) bool { return true }} {
		for i, e := range all {
			if !kept[i] && left > 0 && pass(e) {
				kept[i] = true
				left--
				s.found.Edges = append(s.found.Edges, e.Edge)
			}
		}
	}
	s.found.EdgesLeft = len(all) - len(s.found.Edges)
	return nil
}

// inTurn orders edges, given in descending order of their mass, so that the nodes take turns: the
// first edges of all nodes precede the second edges. Otherwise all edges would belong to a few
// groups. The center has no turn.
func (s *surveyor) inTurn(all []carrier) {
	count := map[index.ID]int{}
	for i := range all {
		e := &all[i]
		count[e.U]++
		count[e.V]++
		count[s.center] = len(all)
		e.rank = min(count[e.U], count[e.V])
	}
	slices.SortStableFunc(all, func(a, b carrier) int { return cmp.Compare(a.rank, b.rank) })
}

// carries returns the mass that leaves a node over an edge in a step.
func (s *surveyor) carries(u index.ID, weight float32) float64 {
	return s.value[u] * float64(weight) / degree(s.g, u)
}

// joins returns a function that reports whether an edge is the first to lead to a node from a node
// that is a step nearer.
func (s *surveyor) joins() func(carrier) bool {
	joined := map[index.ID]bool{s.center: true}
	leads := func(u, v index.ID) bool {
		from, ok := s.depth[u]
		to, known := s.depth[v]
		if !ok || !known || to != from+1 || joined[v] {
			return false
		}
		joined[v] = true
		return true
	}
	return func(e carrier) bool { return leads(e.U, e.V) || !s.g.Directed() && leads(e.V, e.U) }
}

// describe adds the chosen nodes.
func (s *surveyor) describe() {
	for _, id := range s.chosen {
		n := SurroundingNode{ID: id, PageRank: s.value[id], Depth: -1}
		if d, ok := s.depth[id]; ok {
			n.Depth = d
		}
		s.found.Nodes = append(s.found.Nodes, n)
	}
	order := func(n SurroundingNode) float64 {
		if n.Depth == 0 {
			return math.Inf(1)
		}
		return n.PageRank
	}
	slices.SortStableFunc(s.found.Nodes, func(a, b SurroundingNode) int { return cmp.Compare(order(b), order(a)) })
}
