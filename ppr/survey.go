package ppr

// Survey holds global properties of a graph, which a solver needs once a computation is no longer local. Making one
// takes a pass over the graph. A [Graph] with the method Survey() *Survey provides its own, so that solvers need
// not make one; it should compute the survey once per snapshot and keep it.
type Survey struct {
	Arcs   int     // entries of all Out rows
	Volume float64 // approximate sum of Dh over all nodes
	Giant  *Component
}

// Component is a set of nodes of an undirected graph that no edge leaves. Nodes of degree 0 may be members but are
// not counted. A Component need not be connected: corrections based on a disconnected one stay exact but are less
// effective.
type Component struct {
	member []uint64
	volume float64 // sum of degrees
}

// holds reports whether u is a member.
func (c *Component) holds(u ID) bool {
	w := int(u >> 6)
	return w < len(c.member) && c.member[w]>>(u&63)&1 != 0
}

// surveyOf returns the survey of the graph, or makes one.
func surveyOf(g Graph) *Survey {
	if s, ok := g.(interface{ Survey() *Survey }); ok {
		return s.Survey()
	}
	return NewSurvey(g)
}

// NewSurvey makes a survey of the whole graph, in time linear in its edges.
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

// After returns the survey of g, which is the surveyed graph after the changes. It takes time linear in the changes
// and in the part of the graph that they connect to the giant component for the first time. Deletes leave the giant
// component as it is, even where they split it, and Volume keeps the initial count for a node of degree 0. Make a
// new survey now and then, when a pass over the graph is needed anyway.
func (s *Survey) After(g Graph, changes []Change) *Survey {
	next, double := *s, !g.Directed()
	for _, c := range changes {
		arcs, w := edges(c.New)-edges(c.Old), float64(c.New)-float64(c.Old)
		if double && c.U != c.V {
			arcs, w = 2*arcs, 2*w
		}
		next.Arcs += arcs
		next.Volume += w
	}
	if s.Giant != nil {
		next.Giant = s.Giant.after(g, changes)
	}
	return &next
}

func (c *Component) after(g Graph, changes []Change) *Component {
	next := &Component{c.member, c.volume}
	for _, e := range changes {
		w := float64(e.New) - float64(e.Old)
		if c.holds(e.U) {
			next.volume += w
		}
		if c.holds(e.V) && e.U != e.V {
			next.volume += w
		}
	}
	shared := true
	for _, e := range changes {
		if e.New == 0 || next.holds(e.U) == next.holds(e.V) {
			continue
		}
		if shared {
			next.member, shared = make([]uint64, max((g.NumNodes()+63)/64, len(c.member))), false
			copy(next.member, c.member)
		}
		outside := e.U
		if next.holds(e.U) {
			outside = e.V
		}
		next.volume += volume(g, spanned(g, outside, next.member, nil))
	}
	return next
}

// giant returns the connected component with the largest volume, or nil if there is no edge.
func giant(g Graph) *Component {
	words := (g.NumNodes() + 63) / 64
	seen, root, most := make([]uint64, words), ID(0), 0.0
	var reach []ID
	for u := range ID(g.NumNodes()) {
		if seen[u>>6]>>(u&63)&1 != 0 || g.Degree(u) == 0 {
			continue
		}
		reach = spanned(g, u, seen, reach[:0])
		if v := volume(g, reach); v > most {
			root, most = u, v
		}
	}
	if most == 0 {
		return nil
	}
	c := &Component{make([]uint64, words), most}
	spanned(g, root, c.member, reach[:0])
	return c
}

func volume(g Graph, nodes []ID) (sum float64) {
	for _, u := range nodes {
		sum += g.Degree(u)
	}
	return sum
}

// spanned marks all unmarked nodes that can be reached from u and appends them to reach.
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
