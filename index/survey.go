package index

import (
	"sync/atomic"

	"kith/ppr"
)

// survey holds the survey of a graph, which is made on the first request.
type survey struct {
	before  *ppr.Survey // survey of an earlier version; nil if there is none to carry over
	since   *delta      // changes since that version
	carried atomic.Pointer[ppr.Survey]
	own     atomic.Pointer[ppr.Survey]
}

// delta is a linked list of the changes of an edit and of those before it. Versions share the common part.
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

// known reports whether the survey has been requested.
func (s *survey) known() bool { return s.own.Load() != nil || s.carried.Load() != nil }

// next returns the survey of the version that changes make. It does not read the graph, so that an edit does not
// pay for a survey that may never be requested. Once there are more changes than arcs, the survey is no longer
// carried over.
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

// Survey returns the survey of the graph. If an earlier version had one, it is carried over, in time linear in the
// changes; otherwise it is made in a pass over the graph. If deletes have split a component, the survey depends on
// the history of the graph; results based on it are exact nevertheless.
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

// OwnSurvey returns the survey made in a pass over the graph, which does not depend on its history.
func (g *Graph) OwnSurvey() *ppr.Survey {
	if s := g.survey.own.Load(); s != nil {
		return s
	}
	s := ppr.NewSurvey(g)
	g.survey.own.Store(s) // another reader's is equal
	return s
}
