package model

import (
	"context"
	"math"
)

// walkSteps is the maximum number of steps of a walk.
const walkSteps = 40

// walkAlphas returns the dampings of the walks from a node.
func walkAlphas() [3]float64 { return [3]float64{0.5, 0.85, 0.95} }

// walks holds the results of walks from one source and the memory to compute them.
type walks struct {
	rank       [3][]float64 // personalised PageRank of each target, by damping, from walks of at most walkSteps steps
	kin        [3][]float64 // the same among neighbours and kin
	paths      [5][]float64 // paths[k] is the number of walks of k steps to every node, k from 1
	adamic     []float64    // Adamic-Adar of every node with the source
	resource   []float64
	step, next []float64
}

func newWalks(n int) *walks {
	w := &walks{}
	for _, v := range w.all() {
		*v = make([]float64, n)
	}
	return w
}

// all returns the slices that have one number for every node.
func (w *walks) all() []*[]float64 {
	v := []*[]float64{&w.adamic, &w.resource, &w.step, &w.next}
	for i := range w.paths {
		v = append(v, &w.paths[i])
	}
	return v
}

// from computes the numbers of one source. If ctx ends, the rest is not computed.
func (w *walks) from(ctx context.Context, a adjacency, source ID, targets []ID) {
	for _, v := range w.all() {
		clear(*v)
	}
	w.ranks(ctx, a, source, targets, &w.rank)
	w.paths[0][source] = 1
	for k := range len(w.paths) - 1 {
		if ctx.Err() != nil {
			return
		}
		for u, x := range w.paths[k] {
			if x != 0 {
				for _, v := range a[u] {
					w.paths[k+1][v] += x
				}
			}
		}
	}
	for _, u := range a[source] {
		d := float64(max(len(a[u]), 2))
		for _, v := range a[u] {
			w.adamic[v] += 1 / math.Log(d)
			w.resource[v] += 1 / d
		}
	}
}

// ranks sums the distributions of a walk that continues from every node to a random neighbour.
func (w *walks) ranks(ctx context.Context, a adjacency, source ID, targets []ID, rank *[3][]float64) {
	weight := walkAlphas()
	for i, alpha := range weight {
		weight[i] = 1 - alpha
		rank[i] = append(rank[i][:0], make([]float64, len(targets))...)
	}
	clear(w.step)
	w.step[source] = 1
	for range walkSteps {
		if ctx.Err() != nil {
			return
		}
		for j, v := range targets {
			for i := range rank {
				rank[i][j] += weight[i] * w.step[v]
			}
		}
		for i, alpha := range walkAlphas() {
			weight[i] *= alpha
		}
		w.walk(a)
	}
}

// walk makes one step.
func (w *walks) walk(a adjacency) {
	clear(w.next)
	for u, p := range w.step {
		if p != 0 && len(a[u]) > 0 {
			p /= float64(len(a[u]))
			for _, v := range a[u] {
				w.next[v] += p
			}
		}
	}
	w.step, w.next = w.next, w.step
}
