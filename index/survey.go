package index

import (
	"sync/atomic"

	"kith/ppr"
)

// survey is what solvers want to know of a graph as a whole, once they ask for it.
type survey struct {
	carried *ppr.Survey // over from the version before; nil: none
	own     atomic.Pointer[ppr.Survey]
}

// known is the survey there is, nil if nobody has asked for one yet.
func (s *survey) known() *ppr.Survey {
	if s.carried != nil {
		return s.carried
	}
	return s.own.Load()
}

// Survey returns what solvers want to know of the graph as a whole: carried over from the version
// before where that had one, in time linear in the changes, else made in a pass over the graph. It
// depends on the history of the graph, where deletes broke up a component; what rests on it is exact
// all the same.
func (g *Graph) Survey() *ppr.Survey {
	if s := g.survey.carried; s != nil {
		return s
	}
	return g.OwnSurvey()
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
