package rules

import (
	"cmp"
	"slices"

	"kith/model/internal/graph"
)

// Reason is a rule that leads from a source to a target, with some of the paths that bind its
// variables: the nodes of each, both ends included.
type Reason struct {
	Rule  Rule
	Count int // paths
	Paths [][]ID
}

// Reasons returns the n most confident rules of a head that lead from x to y, and the n rules that
// speak most against it, with up to the given number of paths each.
func (s *Set) Reasons(g graph.Typed, x, y ID, head Direction, n, paths int) []Reason {
	all, against := firing(g, s.Rules(head), x, y), firing(g, s.Against(head), x, y)
	slices.SortStableFunc(all, func(a, b Reason) int { return cmp.Compare(b.Rule.Confidence(), a.Rule.Confidence()) })
	slices.SortStableFunc(against, func(a, b Reason) int { return cmp.Compare(b.Rule.Doubt(), a.Rule.Doubt()) })
	all = slices.Concat(all[:min(n, len(all))], against[:min(n, len(against))])
	for i := range all {
		bind(g, []ID{x}, all[i].Rule.path(), y, paths, &all[i].Paths)
	}
	return all
}

// firing returns the rules that lead from x to y.
func firing(g graph.Typed, rules []Rule, x, y ID) (all []Reason) {
	w := new(walker)
	w.start(g, x)
	w.each(rules, func(i int, ends *layer) {
		if n := ends.of(y); n > 0 && len(ends.nodes) <= mostEnds {
			all = append(all, Reason{Rule: rules[i], Count: int(n)})
		}
	})
	return all
}

// bind appends paths that continue a path along a body to y, until there are enough.
func bind(g graph.Typed, path []ID, body []Direction, y ID, enough int, found *[][]ID) {
	u := path[len(path)-1]
	row := g.Row(u, body[0])
	if len(body) == 1 {
		if _, ok := slices.BinarySearch(row, y); ok && u != y {
			*found = append(*found, append(slices.Clone(path), y))
		}
		return
	}
	for _, v := range row {
		if v == path[0] || v == u || v == y {
			continue
		}
		if bind(g, append(path, v), body[1:], y, enough, found); len(*found) >= enough {
			return
		}
	}
}
