package walk

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"kith/index"
	"kith/ppr"
)

// Nodes that a symmetry of the graph exchanges have equal PageRank, such as the leaves of a star, and no precision
// separates them. Most lists of ranks on real graphs have some. So Top proves ties: it looks for classes of nodes such
// that the nodes of a class have the same start value, the same degree and edges of the same weights to the same
// classes, where each node that is not compared is a class of its own (an equitable partition, found by colour
// refinement). A vector that is constant on each class then solves the system, whose solution is unique. The nodes of a
// class get one value, are ranked in the order of t.At, and need no gap between them.

// maxContested bounds the number of nodes that are compared. Nodes far below the k best may show that better ones are
// equal, so many are compared in the last attempt.
const maxContested = 1 << 12

// compared returns the number of the best nodes to compare.
func compared(k int, last bool) (n int) {
	if last {
		return max(k, maxContested/2)
	}
	return 2*k + 64
}

// withTies returns the k best nodes, where v and bound are their values and bounds, with ties. It returns nil if too many
// nodes would have to be compared.
func (r *ranker) withTies(v, bound []float64, last bool) []Ranked {
	if r.k > maxContested {
		return nil
	}
	all, rest := contested(v, bound, r.k, compared(r.k, last))
	if all == nil {
		return nil
	}
	nodes := make([]index.ID, len(all))
	for i, c := range all {
		nodes[i] = r.task.At[c.Place]
	}
	first := map[int]Ranked{}
	for i, class := range r.classes(nodes) {
		if _, known := first[class]; !known {
			first[class] = all[i]
		}
		all[i].Score, all[i].Bound, all[i].tie = first[class].Score, first[class].Bound, class
	}
	slices.SortFunc(all, byRank)
	certify(all, rest)
	return all[:min(r.k, len(all))]
}

// contested returns, by place, the candidates that may belong to the best n, or to the best k if those are too many, and
// the one of the others with the highest upper bound. It returns nil if those are too many as well.
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
				if r.highest() > rest.highest() {
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

// classes returns the class of each of the nodes, from 1.
func (r *ranker) classes(nodes []index.ID) []int {
	g, h := r.g, r.task.Start
	start := make(map[index.ID]float64, len(h.Node))
	for i, u := range h.Node {
		start[u] = h.Value[i]
	}
	class, n := group(len(nodes), func(i int, key []byte) []byte {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(start[nodes[i]]))
		return binary.LittleEndian.AppendUint64(key, math.Float64bits(g.Degree(nodes[i])))
	})
	place := make(map[index.ID]int, len(nodes))
	for i, u := range nodes {
		place[u] = i
	}
	row := g.Out
	if r.task.Form == ppr.Column {
		row = g.In
	}
	var edges []weighted
	for {
		size := make([]int, n+1)
		for _, c := range class {
			size[c]++
		}
		next, m := group(len(nodes), func(i int, key []byte) []byte {
			key = binary.LittleEndian.AppendUint64(key, uint64(class[i]))
			if size[class[i]] == 1 {
				return key
			}
			edges = edges[:0]
			to, weight := row(nodes[i])
			for j, u := range to {
				if r.reached != nil && !r.reached[u] { // its value is 0
					continue
				}
				e := weighted{to: uint64(u), weight: 1}
				if at, compared := place[u]; compared {
					e.to = 1<<32 | uint64(class[at])
				}
				if weight != nil {
					e.weight = weight[j]
				}
				edges = append(edges, e)
			}
			slices.SortFunc(edges, func(a, b weighted) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.weight, b.weight)) })
			for _, e := range edges {
				key = binary.LittleEndian.AppendUint64(key, e.to)
				key = binary.LittleEndian.AppendUint32(key, math.Float32bits(e.weight))
			}
			return key
		})
		if m == n {
			return class
		}
		class, n = next, m
	}
}

// weighted is an edge to a class, or to a node that is not compared.
type weighted struct {
	to     uint64
	weight float32
}

// group returns the number of each of n things, from 1, which is equal for things with equal keys, and how many numbers
// there are. appendKey appends the key of the i-th thing to an empty slice.
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
