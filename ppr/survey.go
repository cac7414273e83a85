package ppr

// Survey holds global properties of an undirected graph, for [Solver.CombineTwoSided]: its giant
// component, a set of nodes that no edge leaves. Nodes of degree 0 may be members but are not
// counted. The component need not be connected: corrections based on a disconnected one stay exact
// but are less effective. Making a survey takes a pass over the graph. A [Graph] with the method
// Survey() *Survey provides one; nil means none. It should compute the survey once per snapshot and
// keep it.
type Survey struct {
	member bitmap  // nil for a directed graph, or one without edges
	volume float64 // sum of degrees
	peak   float64 // largest volume since it was summed; its rounding error is in volume
}

// surveyOf returns the survey of a graph that has one with a giant component, or nil.
func surveyOf(g Graph) *Survey {
	if g, ok := g.(interface{ Survey() *Survey }); ok {
		if s := g.Survey(); s != nil && s.member != nil {
			return s
		}
	}
	return nil
}

// NewSurvey makes a survey of the whole graph, in time linear in its edges.
func NewSurvey(g Graph) *Survey {
	s := &Survey{}
	if g.Directed() {
		return s
	}
	seen, root := newBitmap(g.NumNodes()), ID(0)
	var reach []ID
	for u := range ID(g.NumNodes()) {
		if seen.has(u) || g.Degree(u) == 0 {
			continue
		}
		reach = reachable(g, u, seen, reach[:0])
		if v := volume(g, reach); v > s.volume {
			root, s.volume = u, v
		}
	}
	if s.peak = s.volume; s.volume > 0 {
		s.member = newBitmap(g.NumNodes())
		reachable(g, root, s.member, reach[:0])
	}
	return s
}

// After returns the survey of g, which is the surveyed graph after the changes. It takes time
// linear in the changes and in the part of the graph that they connect to the giant component for
// the first time. Deletes leave the giant component as it is, even where they split it. Make a new
// survey now and then, when a pass over the graph is needed anyway. If the volume has fallen to a
// small part of its peak, After makes a new survey: edges of large weight that are gone would leave
// their rounding errors in it.
func (s *Survey) After(g Graph, changes []Change) *Survey {
	if s.member == nil {
		return s
	}
	next := &Survey{s.member, s.volume, s.peak}
	for _, e := range changes {
		w := float64(e.New) - float64(e.Old)
		if s.member.has(e.U) {
			next.volume += w
			next.peak = max(next.peak, next.volume)
		}
		if s.member.has(e.V) && e.U != e.V {
			next.volume += w
			next.peak = max(next.peak, next.volume)
		}
	}
	if next.volume < next.peak/maxVolumeFall {
		return NewSurvey(g)
	}
	shared := true
	for _, e := range changes {
		if e.New == 0 || next.member.has(e.U) == next.member.has(e.V) {
			continue
		}
		if shared {
			next.member, shared = newBitmap(max(g.NumNodes(), 64*len(s.member))), false
			copy(next.member, s.member)
		}
		outside := e.U
		if next.member.has(e.U) {
			outside = e.V
		}
		next.volume += volume(g, reachable(g, outside, next.member, nil))
	}
	next.peak = max(next.peak, next.volume)
	return next
}

// maxVolumeFall is the factor by which the volume may fall before it is summed again.
const maxVolumeFall = 4

func volume(g Graph, nodes []ID) (sum float64) {
	for _, u := range nodes {
		sum += g.Degree(u)
	}
	return sum
}

// reachable marks all unmarked nodes that can be reached from u and appends them to reach.
func reachable(g Graph, u ID, seen bitmap, reach []ID) []ID {
	seen.add(u)
	reach = append(reach, u)
	for i := 0; i < len(reach); i++ {
		to, _ := g.Out(reach[i])
		for _, v := range to {
			if !seen.has(v) {
				seen.add(v)
				reach = append(reach, v)
			}
		}
	}
	return reach
}
