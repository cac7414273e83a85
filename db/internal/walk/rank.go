package walk

import (
	"cmp"
	"math"
	"slices"
)

// Ranked is a candidate with its rank.
type Ranked struct {
	Place        int // index among the candidates
	Score, Bound float64
	Certain      bool // no error within the bounds could change its rank
	tie          int  // class of candidates whose exact scores are equal; 0 means none is known
}

func (r *Ranked) lowest() float64  { return r.Score - r.Bound }
func (r *Ranked) highest() float64 { return r.Score + r.Bound }

// above compares the upper bounds of two candidates. Of equal ones the wider is above: a bound
// below half a unit in the last place does not change the sum.
func (r *Ranked) above(o *Ranked) bool {
	if h, other := r.highest(), o.highest(); h < other {
		return false
	}
	return cmp.Or(cmp.Compare(r.highest(), o.highest()), cmp.Compare(r.Bound, o.Bound)) > 0
}

// below compares the lower bounds of two candidates. If they are equal, the wider interval is
// below.
func (r *Ranked) below(o *Ranked) bool {
	return cmp.Or(cmp.Compare(r.lowest(), o.lowest()), cmp.Compare(o.Bound, r.Bound)) < 0
}

func (r Ranked) isZero() bool { return r.Score == 0 && r.Bound == 0 }

// Best returns the k best of n candidates, the best first and equal ones by place. at returns the
// score of the candidate at a place, and the bound of its error.
func Best(n, k int, at func(place int) (score, bound float64)) []Ranked {
	return bestBefore(nothing(), n, k, at)
}

// nothing returns a Ranked that ranks below every candidate.
func nothing() Ranked { return Ranked{Score: math.Inf(-1)} }

// bestBefore is Best for candidates that all rank before some others. rest is the candidate with
// the highest upper bound among the remaining ones.
func bestBefore(rest Ranked, n, k int, at func(place int) (score, bound float64)) []Ranked {
	s := selection{k: min(k, n), top: make([]Ranked, 0, max(min(k, n), 0)), rest: rest}
	for i := range n {
		score, bound := at(i)
		s.add(Ranked{Place: i, Score: score, Bound: bound})
	}
	slices.SortFunc(s.top, byRank)
	certify(s.top, s.rest)
	return s.top
}

// selection keeps the k best of a stream.
type selection struct {
	k    int
	top  []Ranked // once there are more, a heap with the worst first
	heap bool
	rest Ranked // dropped candidate with the highest upper bound
}

func (s *selection) add(r Ranked) {
	if len(s.top) < s.k {
		s.top = append(s.top, r)
		return
	}
	if !s.heap {
		s.heap = true
		for i := len(s.top)/2 - 1; i >= 0; i-- {
			s.down(i)
		}
	}
	if s.k > 0 && byRank(r, s.top[0]) < 0 {
		r, s.top[0] = s.top[0], r
		s.down(0)
	}
	if r.above(&s.rest) {
		s.rest = r
	}
}

// down moves the candidate at i to its place in the heap below it.
func (s *selection) down(i int) {
	for next := 2*i + 1; next < len(s.top); next = 2*i + 1 {
		if next+1 < len(s.top) && byRank(s.top[next], s.top[next+1]) < 0 {
			next++
		}
		if byRank(s.top[i], s.top[next]) > 0 {
			return
		}
		s.top[i], s.top[next] = s.top[next], s.top[i]
		i = next
	}
}

func byRank(a, b Ranked) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Place, b.Place))
}

// certify marks the candidates whose interval of scores is disjoint from all others: candidates
// ranked above lie entirely above, candidates ranked below lie entirely below. Tied candidates,
// which have one score and bound, are adjacent and need no gap. rest is the candidate with the
// highest upper bound of all those below top.
func certify(top []Ranked, rest Ranked) {
	tied := func(i int) bool { return top[i].tie != 0 && top[i].tie == top[i+1].tie }
	above := Ranked{Score: math.Inf(1)} // candidate above with the lowest lower bound
	for i := range top {
		if i > 0 && !tied(i-1) && top[i-1].below(&above) {
			above = top[i-1]
		}
		top[i].Certain = apart(above, top[i])
	}
	for i := len(top) - 1; i >= 0; i-- {
		if i < len(top)-1 && !tied(i) && top[i+1].above(&rest) {
			rest = top[i+1]
		}
		top[i].Certain = top[i].Certain && apart(top[i], rest)
	}
}

// apart reports whether no error could change the order of two candidates. Exact scores need no
// gap, because equal ones are in the order of their places.
func apart(high, low Ranked) bool {
	return high.lowest() > low.highest() || high.Bound == 0 && low.Bound == 0
}

// CertainTop returns a function that reports whether the ranks of the best n values, given their
// bounds, are certain.
func CertainTop(n int) func(v, bound []float64) bool {
	return func(v, bound []float64) bool {
		return allCertain(Best(len(v), n, func(i int) (float64, float64) { return v[i], bound[i] }))
	}
}
