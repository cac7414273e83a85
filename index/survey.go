package index

import (
	"sync/atomic"

	"kith/ppr"
)

// survey is what solvers want to know of a graph as a whole, once they ask for it.
type survey struct {
	before  *ppr.Survey // of an earlier version; nil: there is none to carry over
	since   *delta      // what has changed after that one
	carried atomic.Pointer[ppr.Survey]
	own     atomic.Pointer[ppr.Survey]
}

// delta is the changes of an edit and those before it. Versions share what they have in common.
type delta struct {
	earlier *delta
	changes []ppr.Change
	total   int
}

// all returns the changes in order.
func (d *delta) all() []ppr.Change {
	if d == nil {
		return nil
	}
	out := make([]ppr.Change, d.total)
	for ; d != nil; d = d.earlier {
		copy(out[d.total-len(d.changes):], d.changes)
	}
	return out
}

// known reports whether somebody has asked for the survey.
func (s *survey) known() bool { return s.own.Load() != nil || s.carried.Load() != nil }

// next returns the survey of the version that changes make, without a look at the graph: an edit must
// not pay for what nobody may ask for. Once the changes are as many as the arcs, a pass is due.
func (s *survey) next(changes []ppr.Change) *survey {
	n := &survey{before: s.before, since: s.since}
	if own := s.own.Load(); own != nil {
		n.before, n.since = own, nil
	} else if c := s.carried.Load(); c != nil {
		n.before, n.since = c, nil
	}
	if n.before == nil || len(changes) == 0 {
		return n
	}
	total := len(changes)
	if n.since != nil {
		total += n.since.total
	}
	if total > n.before.Arcs {
		return new(survey)
	}
	n.since = &delta{n.since, changes, total}
	return n
}

// Survey returns what solvers want to know of the graph as a whole: carried over from an earlier
// version where that had one, in time linear in the changes, else made in a pass over the graph. It
// depends on the history of the graph, where deletes broke up a component; what rests on it is exact
// all the same.
func (g *Graph) Survey() *ppr.Survey {
	s := g.survey
	if s.before == nil {
		return g.OwnSurvey()
	}
	if c := s.carried.Load(); c != nil {
		return c
	}
	c := s.before
	if s.since != nil {
		c = c.After(g, s.since.all())
	}
	s.carried.CompareAndSwap(nil, c) // another reader's is equal
	return s.carried.Load()
}

// OwnSurvey returns the survey that a pass over the graph makes, whatever its history.
func (g *Graph) OwnSurvey() *ppr.Survey {
	if s := g.survey.own.Load(); s != nil {
		return s
	}
	s := ppr.NewSurvey(g)
	g.survey.own.Store(s) // another reader's is equal
	return s
}
