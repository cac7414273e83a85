package walk

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"kith/index"
	"kith/ppr"
)

// Nodes that a symmetry of the graph exchanges have equal PageRank, such as the leaves of a star,
// and no precision separates them. Most lists of ranks on real graphs have some. So Top proves
// ties: it looks for classes of nodes such that the nodes of a class have the same start value, and
// get equal shares of the values of the same classes, where each node that is not compared is a
// class of its own (an equitable partition, found by colour refinement). A vector that is constant
// on each class then solves the system, whose solution is unique. The nodes of a class get one
// value, are ranked in the order of t.At, and need no gap between them.

// maxContested bounds the number of nodes that are compared. Nodes far below the k best may show
// that better ones are equal, so many are compared in the last attempt.
const maxContested = 1 << 12

// comparedCount returns the number of the best nodes to compare.
func comparedCount(k int, last bool) (n int) {
	if last {
		return max(k, maxContested/2)
	}
	return 2*k + 64
}

// withTies returns the k best nodes, where v and bound are their values and bounds, with ties. It
// returns nil if too many nodes would have to be compared.
func (r *ranker) withTies(v, bound []float64, last bool) []Ranked {
	if r.k > maxContested {
		return nil
	}
	all, rest := contested(v, bound, r.k, comparedCount(r.k, last))
	if r.rest.above(&rest) {
		rest = r.rest
	}
	if all == nil {
		return nil
	}
	nodes := make([]index.ID, len(all))
	for i, c := range all {
		nodes[i] = r.at[c.Place]
	}
	class, known := r.classes(nodes, clusters(all)), map[int]Ranked{}
	for i, c := range class {
		if k, ok := known[c]; !ok || all[i].Bound < k.Bound {
			known[c] = all[i]
		}
	}
	for i, c := range class {
		all[i].Score, all[i].Bound, all[i].tie = known[c].Score, known[c].Bound, c
	}
	slices.SortFunc(all, byRank)
	certify(all, rest)
	return all[:min(r.k, len(all))]
}

// contested returns, by place, the candidates that may belong to the best n, or to the best k if
// the best n have too many candidates. rest is the candidate with the highest upper bound among
// the remaining ones. contested returns nil if the best k have too many candidates as well.
func contested(v, bound []float64, k, n int) (all []Ranked, rest Ranked) {
	most := min(2*n, maxContested)
	for _, n := range []int{n, k} {
		low := math.Inf(1)
		for _, r := range Best(len(v), n, func(i int) (float64, float64) { return v[i], bound[i] }) {
			if !r.isZero() {
				low = min(low, r.lowest())
			}
		}
		all, rest = nil, Ranked{Score: math.Inf(-1)}
		for i := range v {
			r := Ranked{Place: i, Score: v[i], Bound: bound[i]}
			if r.highest() < low || r.isZero() {
				if r.above(&rest) {
					rest = r
				}
			} else if all = append(all, r); len(all) > most {
				break
			}
		}
		if len(all) <= most {
			return all, rest
		}
	}
	return nil, rest
}

// clusters returns a number for each candidate, which is equal for candidates whose exact scores
// may be equal.
func clusters(all []Ranked) []int {
	order, number := make([]int, len(all)), make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return byRank(all[a], all[b]) })
	n, low := 0, math.Inf(1)
	for _, i := range order {
		if low > all[i].highest() {
			n, low = n+1, math.Inf(1)
		}
		low = min(low, all[i].lowest())
		number[i] = n
	}
	return number
}

// classes returns the class of each of the nodes, from 1. Nodes of different clusters are in
// different classes.
func (r *ranker) classes(nodes []index.ID, cluster []int) []int {
	start := make(map[index.ID]float64, len(r.task.Start.Node))
	for i, u := range r.task.Start.Node {
		start[u] = r.task.Start.Value[i]
	}
	class, n := group(len(nodes), func(i int, key []byte) []byte {
		key = binary.LittleEndian.AppendUint64(key, uint64(cluster[i]))
		return binary.LittleEndian.AppendUint64(key, math.Float64bits(start[nodes[i]]))
	})
	place := make(map[index.ID]int, len(nodes))
	for i, u := range nodes {
		place[u] = i
	}
	for {
		size := make([]int, n+1)
		for _, c := range class {
			size[c]++
		}
		var shares []share
		next, m := group(len(nodes), func(i int, key []byte) []byte {
			key = binary.LittleEndian.AppendUint64(key, uint64(class[i]))
			if size[class[i]] == 1 {
				return key
			}
			shares = r.shares(shares[:0], nodes[i])
			for j, s := range shares {
				if at, compared := place[index.ID(s.of)]; compared {
					shares[j].of = 1<<32 | uint64(class[at])
				}
			}
			return r.appendSums(key, nodes[i], shares)
		})
		if m == n {
			return class
		}
		class, n = next, m
	}
}

// appendSums appends the sum of the shares that a node gets of each class or node. It reorders the
// shares.
func (r *ranker) appendSums(key []byte, u index.ID, shares []share) []byte {
	slices.SortFunc(shares, func(a, b share) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.size, b.size)) })
	sum := 0.0
	for i, s := range shares {
		sum += s.size
		if i < len(shares)-1 && shares[i+1].of == s.of {
			continue
		}
		if r.task.Form == ppr.Row {
			// Sums of integers are exact, so two of four links are as much as one of two.
			sum /= degree(r.g, u)
		}
		key = binary.LittleEndian.AppendUint64(key, s.of)
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(sum))
		sum = 0
	}
	return key
}

// shares appends the shares of the values of other nodes that a node gets, as the matrix of the
// form says, without the shares of nodes whose value is 0. In row form they are not yet divided by
// the degree of the node.
func (r *ranker) shares(shares []share, u index.ID) []share {
	from, weight := r.g.In(u)
	if r.task.Form == ppr.Row {
		from, weight = r.g.Out(u)
	}
	for i, w := range from {
		if r.reached != nil && !r.reached.has(w) {
			continue
		}
		s := share{of: uint64(w), size: 1}
		if weight != nil {
			s.size = float64(weight[i])
		}
		if r.task.Form == ppr.Column {
			s.size /= degree(r.g, w)
		}
		shares = append(shares, s)
	}
	return shares
}

// share is a share of the value of a node or, above 1<<32, of a class.
type share struct {
	of   uint64
	size float64
}

// group returns the number of each of n things, from 1, which is equal for things with equal keys,
// and how many numbers there are. appendKey appends the key of the i-th thing to an empty slice.
func group(n int, appendKey func(i int, key []byte) []byte) (number []int, count int) {
	numbers, key := map[string]int{}, []byte(nil)
	number = make([]int, n)
	for i := range number {
		key = appendKey(i, key[:0])
		if numbers[string(key)] == 0 {
			numbers[string(key)] = len(numbers) + 1
		}
		number[i] = numbers[string(key)]
	}
	return number, len(numbers)
}
