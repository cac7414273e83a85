package ogb

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"kith/cmd/prbench/internal/trial"
)

// heartEach is the number of negatives of each link.
const heartEach = 500

// Heart returns the split with the negatives of HeaRT (Li et al., Evaluating Graph Neural Networks
// for Link Prediction, NeurIPS 2023, section 4), 500 for each link: each of its ends is kept once,
// and the other end is replaced by the 250 nodes that rank best by the mean of their ranks by
// resource allocation, by PageRank (damping 0.85) and, if there are features, by the cosine of the
// features, all in the training graph. Neighbours of the kept end and the other end itself are left
// out; for the test part, neighbours by validation edges too. Nodes of equal rank are taken in
// their order, and PageRank is exact here, where the authors' program approximates it. Missing
// nodes are drawn at random from the nodes that all measures score 0. The result is a function of
// the arguments.
func Heart(ctx context.Context, nodes int, features [][]float32, s *Split) (*Split, error) {
	h := &heart{nodes: nodes, features: features, train: GraphOf(nodes, s.Train), rng: rand.New(rand.NewPCG(1, 23))}
	h.walk = trial.NewWalker(h.train, 1e-7)
	for _, x := range features {
		h.norm = append(h.norm, math.Sqrt(dot(x, x)))
	}
	drawn := &Split{Train: s.Train}
	var err error
	if drawn.Valid, err = h.draw(ctx, s.Valid.Links, h.train); err != nil {
		return nil, err
	}
	drawn.Test, err = h.draw(ctx, s.Test.Links, GraphOf(nodes, s.Train, s.Valid.Links))
	return drawn, err
}

// heart draws the negatives of a split.
type heart struct {
	nodes    int
	features [][]float32
	train    *trial.Graph
	walk     *trial.Walker
	norm     []float64 // lengths of the feature vectors
	rng      *rand.Rand
}

func dot(a, b []float32) (sum float64) {
	for i, v := range a {
		if v != 0 {
			sum += float64(v) * float64(b[i])
		}
	}
	return sum
}

// draw returns the part of some links with their negatives. known holds the links that are no
// negatives.
func (h *heart) draw(ctx context.Context, links [][2]trial.ID, known *trial.Graph) (Part, error) {
	p := Part{Links: links, Each: heartEach}
	for _, l := range links {
		for _, kept := range []int{0, 1} {
			found, err := h.replace(ctx, l[kept], l[1-kept], known)
			if err != nil {
				return p, err
			}
			for _, x := range found {
				pair := [2]trial.ID{x, x}
				pair[kept] = l[kept]
				p.Others = append(p.Others, pair)
			}
		}
	}
	return p, nil
}

// replace returns the nodes that replace one end of a link; the end at kept stays.
func (h *heart) replace(ctx context.Context, kept, other trial.ID, known *trial.Graph) ([]trial.ID, error) {
	measures, err := h.measures(ctx, kept)
	if err != nil {
		return nil, err
	}
	var free []trial.ID // nodes that may be chosen
	for u := range trial.ID(h.nodes) {
		if u != kept && u != other && !known.Has(kept, u) {
			free = append(free, u)
		}
	}
	rank := make([]float64, h.nodes) // sum of the ranks, from which the order of their mean follows
	scored := make([]bool, h.nodes)  // a measure is above 0
	for _, m := range measures {
		addRanks(rank, scored, m, free)
	}
	best := slices.DeleteFunc(slices.Clone(free), func(u trial.ID) bool { return !scored[u] })
	slices.SortStableFunc(best, func(u, v trial.ID) int { return cmp.Compare(rank[u], rank[v]) })
	best = best[:min(len(best), heartEach/2)]
	rest := slices.DeleteFunc(free, func(u trial.ID) bool { return scored[u] })
	if len(best)+len(rest) == 0 {
		return nil, fmt.Errorf("node %d has a link to every other node", kept)
	}
	for n := len(best); len(best) < heartEach/2; {
		if len(rest) > 0 {
			best = append(best, rest[h.rng.IntN(len(rest))])
		} else {
			best = append(best, best[len(best)-n]) // a small graph repeats its nodes
		}
	}
	return best, nil
}

// measures returns the scores of all nodes for a source: resource allocation, PageRank and, if
// there are features, their cosine.
func (h *heart) measures(ctx context.Context, source trial.ID) ([][]float64, error) {
	n := h.nodes
	allocation, all := make([]float64, n), make([]trial.ID, n)
	for u := range all {
		all[u] = trial.ID(u)
	}
	near, _ := h.train.Out(source)
	for _, w := range near {
		far, _ := h.train.Out(w)
		for _, u := range far {
			allocation[u] += 1 / float64(len(far))
		}
	}
	to, _, err := h.walk.Proximity(ctx, 0.85, source, all)
	if err != nil || h.features == nil {
		return [][]float64{allocation, to}, err
	}
	cosine := make([]float64, n)
	for u, x := range h.features {
		if product := dot(h.features[source], x); product > 0 {
			cosine[u] = product / (h.norm[source] * h.norm[u])
		}
	}
	return [][]float64{allocation, to, cosine}, nil
}

// addRanks adds the rank of each of some nodes by a measure, the best being 1. Equal scores have
// the same rank, scores of 0 the rank after the last.
func addRanks(rank []float64, scored []bool, measure []float64, of []trial.ID) {
	order := slices.Clone(of)
	slices.SortFunc(order, func(u, v trial.ID) int { return cmp.Compare(measure[v], measure[u]) })
	r := 0
	for i, u := range order {
		if i == 0 || measure[u] != measure[order[i-1]] {
			r = i + 1
		}
		rank[u] += float64(r)
		scored[u] = scored[u] || measure[u] > 0
	}
}

// GraphOf returns a graph of n nodes with the edges of some lists.
func GraphOf(n int, lists ...[][2]trial.ID) *trial.Graph {
	g := trial.NewGraph(n)
	for _, edges := range lists {
		for _, e := range edges {
			g.Add(e[0], e[1])
		}
	}
	return g
}
