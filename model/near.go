package model

import (
	"math"
	"slices"
)

// RankNear ranks the nodes two edges from source by a policy that counts common neighbours. It
// leaves out source, the nodes that source has an edge to, and the nodes that skip reports; a nil
// skip reports none. It returns the best nodes, as many as most says, or all if most is negative,
// the number of ranked nodes, and their least score. The scores are those of [Scorer.Score], bit
// for bit, and equal ones are in the order of their nodes. ok is false if the policy scores
// otherwise, or if the neighbourhood is large; then Score ranks as fast.
func (s *Scorer) RankNear(w World, source ID, most int, skip func(ID) bool) (best []Ranked, ranked int, least float64, ok bool) {
	by := s.policy.overlap
	if by == nil || int(source) >= w.Graph.NumNodes() {
		return nil, 0, 0, false
	}
	least = math.Inf(1)
	if most < 0 {
		most = math.MaxInt
	}
	t := s.scratch()
	defer s.release(t)
	top := selection{most: most, best: t.best[:0]}
	ok = t.near.Sums(w.Graph, source, by.number, func(u ID, sum float64) {
		if skip != nil && skip(u) {
			return
		}
		if ranked++; by.score != nil {
			sum = by.score(w.Graph, Pair{Source: source, Target: u}, sum)
		}
		least = min(least, sum)
		top.add(Ranked{u, sum})
	})
	t.best = top.best
	slices.SortFunc(t.best, Ranked.compare)
	return slices.Clone(t.best), ranked, least, ok
}

// selection keeps the best nodes of a stream.
type selection struct {
	most int      // maximum number of nodes
	best []Ranked // once there are most, a heap with the worst first
}

func (s *selection) add(r Ranked) {
	switch {
	case len(s.best) < s.most:
		if s.best = append(s.best, r); len(s.best) == s.most {
			for i := len(s.best)/2 - 1; i >= 0; i-- {
				s.down(i)
			}
		}
	case s.most > 0 && r.compare(s.best[0]) < 0:
		s.best[0] = r
		s.down(0)
	}
}

// down moves the node at i to its place in the heap below it.
func (s *selection) down(i int) {
	for next := 2*i + 1; next < len(s.best); next = 2*i + 1 {
		if next+1 < len(s.best) && s.best[next].compare(s.best[next+1]) < 0 {
			next++
		}
		if s.best[i].compare(s.best[next]) > 0 {
			return
		}
		s.best[i], s.best[next] = s.best[next], s.best[i]
		i = next
	}
}
