package db

import (
	"cmp"
	"math"
	"slices"
)

// ranked is a candidate with its rank.
type ranked struct {
	place        int // index among the candidates
	score, bound float64
	certain      bool // no error within the bounds could change its rank
}

func (r ranked) lowest() float64  { return r.score - r.bound }
func (r ranked) highest() float64 { return r.score + r.bound }

// best returns the k best of n candidates, the best first and equal ones by place. at returns the score of the
// candidate at a place, and the bound of its error.
func best(n, k int, at func(place int) (score, bound float64)) []ranked {
	s := selection{k: min(k, n), rest: ranked{score: math.Inf(-1)}}
	for i := range n {
		score, bound := at(i)
		s.add(ranked{place: i, score: score, bound: bound})
	}
	s.prune()
	certify(s.top, s.rest)
	return s.top
}

// selection keeps the k best of a stream in amortized time O(log k) each.
type selection struct {
	k      int
	top    []ranked // once pruned, the first k in order, and fewer than k+64 more after them
	pruned bool
	rest   ranked // of the dropped candidates, the one with the highest upper bound
}

func (s *selection) add(r ranked) {
	if s.pruned && byRank(r, s.top[s.k-1]) > 0 {
		s.drop(r)
		return
	}
	s.top = append(s.top, r)
	if len(s.top) >= 2*s.k+64 {
		s.prune()
	}
}

func (s *selection) prune() {
	slices.SortFunc(s.top, byRank)
	for _, r := range s.top[min(s.k, len(s.top)):] {
		s.drop(r)
	}
	s.top = s.top[:min(s.k, len(s.top))]
	s.pruned = s.k > 0 && len(s.top) == s.k
}

func (s *selection) drop(r ranked) {
	if r.highest() > s.rest.highest() {
		s.rest = r
	}
}

func byRank(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
}

// certify marks the candidates whose interval of scores is disjoint from all others: those ranked above lie entirely
// above, those ranked below entirely below. rest is the candidate with the highest upper bound of all those below top.
func certify(top []ranked, rest ranked) {
	above := ranked{score: math.Inf(1)} // of the candidates above, the one with the lowest lower bound
	for i := range top {
		top[i].certain = apart(above, top[i])
		if top[i].lowest() < above.lowest() {
			above = top[i]
		}
	}
	for i := len(top) - 1; i >= 0; i-- {
		top[i].certain = top[i].certain && apart(top[i], rest)
		if top[i].highest() > rest.highest() {
			rest = top[i]
		}
	}
}

// apart reports whether no error could change the order of two candidates. Exact scores need no gap, because equal ones
// are in the order of their places.
func apart(high, low ranked) bool {
	return high.lowest() > low.highest() || high.bound == 0 && low.bound == 0
}

// certainTop returns a function that reports whether the ranks of the best n values, given their bounds, are certain.
func certainTop(n int) func(v, bound []float64) bool {
	return func(v, bound []float64) bool {
		top := best(len(v), n, func(i int) (float64, float64) { return v[i], bound[i] })
		return !slices.ContainsFunc(top, func(r ranked) bool { return !r.certain })
	}
}
