// Package rules predicts the links of a graph whose edges have relations. It mines rules over
// paths, such as likes(X, Y) <- follows(X, Z), likes(Z, Y), and reads evidence for the links of a
// node: the rules that lead to a candidate, what nodes alike are linked to, PageRank and counts. A
// network combines the numbers (package model).
//
// A direction is a relation read from one of its ends; a question is a source and a direction. The
// head of a rule is the direction that it predicts, its body a path of one to three directions. The
// evidence of rules is AnyBURL's (Meilicke et al., IJCAI 2019): paths between the ends, and rules
// with a constant. The latter are counted when a question is asked, so that they follow the graph.
package rules

import (
	"math"
	"slices"

	"kith/model/internal/graph"
)

type (
	ID        = graph.ID
	Direction = graph.Direction
)

// MaxLen is the number of edges of the longest body.
const MaxLen = 3

// Rule is head(X, Y) <- body[0](X, A), body[1](A, B), body[2](B, Y): a path from the source along
// the body leads to a target. The more such paths there are, the likelier it is.
type Rule struct {
	Len  int8
	Body [MaxLen]Direction
	// Tries counts the targets that paths of a sample of sources lead to, by the number of these
	// paths, and Hits the ones among them that the source is linked to.
	Hits, Tries [bins]uint32
	// Chance is the number of hits if the targets of these sources were drawn by how often nodes are
	// targets of the head.
	Chance float32
}

// bins is the number of classes of numbers of paths: 1, 2, 3 to 4, 5 to 8, 9 and more.
const bins = 5

// bin returns the class of a number of paths.
func bin(paths int32) int {
	switch {
	case paths <= 2:
		return int(max(paths, 1)) - 1
	case paths <= 4:
		return 2
	case paths <= 8:
		return 3
	}
	return 4
}

// pessimism is added to the tries of a rule, so that a rule of few tries has a low confidence.
const pessimism = 3

// Total returns the sums of Hits and of Tries.
func (r *Rule) Total() (hits, tries float64) {
	for b := range bins {
		hits += float64(r.Hits[b])
		tries += float64(r.Tries[b])
	}
	return hits, tries
}

// Confidence returns the probability that a target is linked to.
func (r *Rule) Confidence() float64 {
	hits, tries := r.Total()
	return hits / (tries + pessimism)
}

// binned counts Confidence as much as this number of tries of a class.
const binned = 8

// mostConfident is the largest confidence of a rule.
const mostConfident = 0.99

// confidences returns the probability that a target is linked to by the number of paths.
func (r *Rule) confidences() (c [bins]float32) {
	all := r.Confidence()
	for b := range c {
		c[b] = min(mostConfident, float32((float64(r.Hits[b])+binned*all)/(float64(r.Tries[b])+binned)))
	}
	return c
}

// A rule tells something if its hits are more than mostChance or less than leastChance times what
// chance gives, by twice their standard deviation at least.
const (
	mostChance  = 1.1
	leastChance = 0.7
)

// supports reports whether the rule has more hits than chance gives.
func (r *Rule) supports() bool {
	hits, _ := r.Total()
	return hits-2*math.Sqrt(hits) > mostChance*float64(r.Chance) || hits > 0 && r.Chance == 0
}

// opposes reports whether the rule has fewer hits than chance gives.
func (r *Rule) opposes() bool {
	hits, _ := r.Total()
	return hits+2*math.Sqrt(hits+1) < leastChance*float64(r.Chance)
}

// ByChance returns what the confidence would be by Chance.
func (r *Rule) ByChance() float64 {
	_, tries := r.Total()
	return float64(r.Chance) / (tries + pessimism)
}

// Doubt returns by how much the rule lowers the log-odds of a link, against chance.
func (r *Rule) Doubt() float32 {
	hits, _ := r.Total()
	return max(0, float32(math.Log((float64(r.Chance)+1)/(hits+1))))
}

// compareBodies orders rules by body, so that rules that begin with the same path are adjacent.
func compareBodies(a, b Rule) int { return slices.Compare(a.path(), b.path()) }

// path returns the body.
func (r *Rule) path() []Direction { return r.Body[:r.Len] }

// evidence returns -log(1-c): evidence of independent rules adds up (noisy-or).
func evidence(c float32) float32 { return float32(-math.Log1p(-float64(c))) }

// Set is what was mined from a graph. It is immutable for its readers.
type Set struct {
	heads  []head  // by direction
	quarry *quarry // what heads are mined from when they are asked about; nil: all are there
}

// head is what was mined for a direction.
type head struct {
	rules    []Rule    // ascending by body
	against  []Rule    // rules whose targets are seldom linked to, ascending by body
	frequent []ID      // the nodes that most edges lead to, the most frequent first
	profile  []float32 // by direction: the share of the targets that have a row of it
	counts   counts
}

// counts are the numbers of a direction.
type counts struct {
	Edges   float64
	Sources float64 // nodes with a row
}

// Relations returns the number of relations of the graph that the set was mined from.
func (s *Set) Relations() int { return len(s.heads) / 2 }

// of returns what was mined for a direction. Directions of relations that are newer than the set
// have nothing.
func (s *Set) of(d Direction) head {
	if s == nil || int(d) >= len(s.heads) {
		return head{}
	}
	if q := s.quarry; q != nil {
		q.mined[d].Do(func() { q.mine(d, &s.heads[d]) })
	}
	return s.heads[d]
}

// Rules returns the rules of a head. They ascend by body.
func (s *Set) Rules(d Direction) []Rule { return s.of(d).rules }

// Against returns the rules that speak against links of a head. They ascend by body.
func (s *Set) Against(d Direction) []Rule { return s.of(d).against }

func (s *Set) frequent(d Direction) []ID     { return s.of(d).frequent }
func (s *Set) profile(d Direction) []float32 { return s.of(d).profile }

// counts returns the numbers of a direction, without mining it.
func (s *Set) counts(d Direction) counts {
	if s == nil || int(d) >= len(s.heads) {
		return counts{}
	}
	return s.heads[d].counts
}
