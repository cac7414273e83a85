package ppr

// Survey is what a solver wants to know of a graph as a whole once a computation stops being local. Making one takes a
// pass over the graph; a [Graph] that has a method Survey() *Survey, which makes it once for a snapshot and keeps it,
// spares its solvers that.
type Survey struct {
	Arcs   int     // entries of all Out rows
	Volume float64 // sum of Dh over all nodes
	Giant  *Component
}

// Component is a set of nodes that no edge leaves, of an undirected graph. Nodes of degree 0 may be members but are
// not counted. It need not be connected: what rests on it stays exact, only less useful.
type Component struct {
	member []uint64
	volume float64 // sum of degrees
}

// holds reports whether u is a member.
func (c *Component) holds(u ID) bool {
	w := int(u >> 6)
	return w < len(c.member) && c.member[w]>>(u&63)&1 != 0
}

// surveyOf asks the graph for its survey, or makes one.
func surveyOf(g Graph) *Survey {
	if s, ok := g.(interface{ Survey() *Survey }); ok {
		return s.Survey()
	}
	return NewSurvey(g)
}

// NewSurvey looks at the whole graph, in time linear in its edges.
func NewSurvey(g Graph) *Survey {
	s := &Survey{}
	for u := range g.NumNodes() {
		to, _ := g.Out(ID(u))
		s.Arcs += len(to)
		s.Volume += pivot(g, ID(u))
	}
	if !g.Directed() {
		s.Giant = giant(g)
	}
	return s
}

// giant finds the connected component with the largest volume; nil if there is no edge.
func giant(g Graph) (best *Component) {
	n := g.NumNodes()
	seen := make([]uint64, (n+63)/64)
	var reach []ID
	for u := range n {
		if seen[u>>6]>>(u&63)&1 != 0 || g.Degree(ID(u)) == 0 {
			continue
		}
		reach = spanned(g, ID(u), seen, reach[:0])
		volume := 0.0
		for _, v := range reach {
			volume += g.Degree(v)
		}
		if best == nil || volume > best.volume {
			best = &Component{make([]uint64, len(seen)), volume}
			for _, v := range reach {
				best.member[v>>6] |= 1 << (v & 63)
			}
		}
	}
	return best
}

// spanned appends the nodes that can be reached from u and are not seen yet, and marks them.
func spanned(g Graph, u ID, seen []uint64, reach []ID) []ID {
	seen[u>>6] |= 1 << (u & 63)
	reach = append(reach, u)
	for i := 0; i < len(reach); i++ {
		to, _ := g.Out(reach[i])
		for _, v := range to {
			if seen[v>>6]>>(v&63)&1 == 0 {
				seen[v>>6] |= 1 << (v & 63)
				reach = append(reach, v)
			}
		}
	}
	return reach
}
