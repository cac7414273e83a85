package ppr

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Benchmarks run on dblp-2010 (300,647 nodes, 807,700 edges). They report the time, the true error
// compared with an L1 1e-13 solve, and the certificate.

const dblp = "law/dblp-2010.edges.txt.gz"

func draw(g Graph, r *rand.Rand) ID {
	for {
		if u := ID(r.IntN(g.NumNodes())); g.Degree(u) > 0 {
			return u
		}
	}
}

func source(u ID) Vector { return Vector{[]ID{u}, []float64{1}} }

// randomVector returns a vector of k nodes with values in [low,1).
func randomVector(g Graph, r *rand.Rand, k int, low float64) Vector {
	nodes := map[ID]bool{}
	var h Vector
	for len(nodes) < k {
		if u := draw(g, r); !nodes[u] {
			nodes[u] = true
			h.Node = append(h.Node, u)
		}
	}
	slices.Sort(h.Node)
	for range h.Node {
		h.Value = append(h.Value, low+(1-low)*r.Float64())
	}
	return h
}

// report times f for several inputs and reports the median.
func report(b *testing.B, f func(i int)) {
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		f(i)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "median-ns")
}

// reportError compares a state with a solve at the limit of float64 precision.
func reportError(b *testing.B, g Graph, st *State) {
	exact, err := NewSolver().Solve(b.Context(), g, st.form, st.alpha, st.h, Target{L1, 1e-12 * norm1(st.h.Value)})
	if err != nil {
		b.Fatal(err)
	}
	l1, li := 0.0, 0.0
	for u := range ID(g.NumNodes()) {
		e := math.Abs(exact.estimate(u) - st.estimate(u))
		l1 += pivot(g, u) * e
		li = max(li, e)
	}
	b.ReportMetric(l1, "L1-true")
	b.ReportMetric(st.Bound(L1), "L1-bound")
	b.ReportMetric(li, "Linf-true")
	b.ReportMetric(st.Bound(MaxNorm), "Linf-bound")
}

func BenchmarkLocal(b *testing.B) {
	g := surveyed{readGraph(b, dblp, false)}
	for _, eps := range []float64{1e-4, 1e-5, 1e-6} {
		b.Run(fmt.Sprintf("eps=%.0e", eps), func(b *testing.B) {
			r, sv := rand.New(rand.NewPCG(1, 2)), NewSolver()
			var st *State
			ops, bytes, ny, n := 0, 0, 0, 0
			report(b, func(int) {
				var err error
				if st, err = sv.Solve(b.Context(), g, Column, 0.85, source(draw(g, r)), Target{MaxNorm, eps}); err != nil {
					b.Fatal(err)
				}
				ops, bytes, ny, n = ops+st.ops, bytes+st.Bytes(), ny+len(st.lists.y), n+1
			})
			b.ReportMetric(float64(ops)/float64(n), "edge-ops")
			b.ReportMetric(float64(bytes)/float64(n), "bytes")
			b.ReportMetric(float64(ny)/float64(n), "y-nodes")
			reportError(b, g, st)
		})
	}
}

func BenchmarkCold(b *testing.B) {
	g := surveyed{readGraph(b, dblp, false)}
	for _, c := range []struct {
		k   int
		low float64
	}{{1, 1}, {10, -1}, {100, 0}, {1000, -1}} {
		for _, t := range []Target{{L1, 1e-6}, {MaxNorm, 1e-6}} {
			b.Run(fmt.Sprintf("k=%d/low=%v/norm=%d", c.k, c.low, t.Norm), func(b *testing.B) {
				r, sv := rand.New(rand.NewPCG(1, 2)), NewSolver()
				var st *State
				ops, n := 0, 0
				report(b, func(int) {
					h := randomVector(g, r, c.k, c.low)
					var err error
					if st, err = sv.Solve(context.Background(), g, Column, 0.85, h, t); err != nil {
						b.Fatal(err)
					}
					ops, n = ops+st.ops, n+1
				})
				b.ReportMetric(float64(ops)/float64(n)/1e6, "edge-Mops")
				reportError(b, g, st)
			})
		}
	}
}

// randomEdits makes k inserts and deletes between random nodes.
func randomEdits(g *csr, r *rand.Rand, k int) (changes []Change) {
	seen := map[[2]ID]bool{}
	for len(changes) < k {
		u, v, old := draw(g, r), draw(g, r), float32(0)
		if to, _ := g.Out(u); r.IntN(2) == 0 {
			v, old = to[r.IntN(len(to))], 1
		} else if find(to, v) >= 0 {
			continue
		}
		if u == v || seen[[2]ID{u, v}] || seen[[2]ID{v, u}] {
			continue
		}
		seen[[2]ID{u, v}] = true
		changes = append(changes, Change{u, v, old, 1 - old})
	}
	return changes
}

func BenchmarkCatchUp(b *testing.B) {
	g := readGraph(b, dblp, false)
	const eps = 1e-5
	for _, k := range []int{1, 1000, 100000} {
		b.Run(fmt.Sprintf("random=%d", k), func(b *testing.B) {
			r, sv := rand.New(rand.NewPCG(3, 4)), NewSolver()
			changes := randomEdits(g, r, k)
			after, set := g.withEdits(changes), NewChangeSet(changes)
			states := solveMany(b, g, r, 2000, eps)
			var st *State
			hits := 0
			report(b, func(i int) {
				var rep Repair
				var err error
				if st, rep, err = sv.CatchUp(b.Context(), after, states[i%2000], set, Vector{}, Target{MaxNorm, eps}); err != nil {
					b.Fatal(err)
				}
				hits += rep.Hits
			})
			b.ReportMetric(float64(hits)/float64(b.N), "hits")
			reportError(b, after, st)
		})
	}
	for _, top := range []int{1, 50} { // one edge at the source, or at one of the 50 nodes with the highest estimates
		b.Run(fmt.Sprintf("top=%d", top), func(b *testing.B) { catchUpNear(b, g, top) })
	}
}

func catchUpNear(b *testing.B, g *csr, top int) {
	const count = 200
	r, sv, target := rand.New(rand.NewPCG(3, 4)), NewSolver(), Target{MaxNorm, 1e-5}
	states := solveMany(b, g, r, count, target.Eps)
	graphs, changes := make([]*csr, count), make([]*ChangeSet, count)
	for i, st := range states {
		u := st.h.Node[0]
		if top > 1 {
			u = best(g, st, top)[r.IntN(top)]
		}
		to, _ := g.Out(u)
		c := Change{u, to[r.IntN(len(to))], 1, 0}
		if v := draw(g, r); r.IntN(2) == 0 && v != u && find(to, v) < 0 {
			c = Change{u, v, 0, 1}
		}
		changes[i], graphs[i] = NewChangeSet([]Change{c}), g.withEdits([]Change{c})
	}
	var st *State
	fresh, i := 0, 0
	report(b, func(k int) {
		var rep Repair
		var err error
		i = k % count
		if st, rep, err = sv.CatchUp(b.Context(), graphs[i], states[i], changes[i], Vector{}, target); err != nil {
			b.Fatal(err)
		}
		if rep.Fresh {
			fresh++
		}
	})
	b.ReportMetric(float64(fresh)/float64(b.N), "fresh")
	reportError(b, graphs[i], st)
}

// best returns the count nodes with the highest estimates.
func best(g Graph, st *State, count int) []ID {
	nodes, y := st.Estimate()
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(float64(y[j])*g.Degree(nodes[j]), float64(y[i])*g.Degree(nodes[i]))
	})
	out := make([]ID, count)
	for i := range out {
		out[i] = nodes[order[i%len(order)]]
	}
	return out
}

// solveMany computes the source states of count random nodes.
func solveMany(b *testing.B, g Graph, r *rand.Rand, count int, eps float64) (states []*State) {
	sv := NewSolver()
	for range count {
		st, err := sv.Solve(b.Context(), g, Column, 0.85, source(draw(g, r)), Target{MaxNorm, eps})
		if err != nil {
			b.Fatal(err)
		}
		states = append(states, st)
	}
	return states
}

// BenchmarkCombine reads a new signed mixture at its own k sources, out of 2,000 states.
func BenchmarkCombine(b *testing.B) {
	g := surveyed{readGraph(b, dblp, false)}
	g.Survey()
	for _, eps := range []float64{1e-5, 2e-6} {
		r := rand.New(rand.NewPCG(3, 4))
		states := map[ID]*State{}
		for _, st := range solveMany(b, g, r, 2000, eps) {
			states[st.h.Node[0]] = st
		}
		nodes := slices.Sorted(maps.Keys(states))
		for _, k := range []int{10, 100} {
			for _, two := range []bool{false, true} {
				b.Run(fmt.Sprintf("eps=%.0e/k=%d/two-sided=%v", eps, k, two), func(b *testing.B) {
					benchCombine(b, g, states, nodes, k, two)
				})
			}
		}
	}
}

func benchCombine(b *testing.B, g Graph, states map[ID]*State, nodes []ID, k int, two bool) {
	r, sv := rand.New(rand.NewPCG(5, 6)), NewSolver()
	var took []time.Duration
	var h Vector
	var value, bound []float64
	for b.Loop() {
		h = Vector{}
		var chosen []*State
		for _, i := range r.Perm(len(nodes))[:k] {
			h.Node = append(h.Node, nodes[i])
		}
		slices.Sort(h.Node)
		for _, u := range h.Node {
			h.Value, chosen = append(h.Value, r.Float64()*2-1), append(chosen, states[u])
		}
		start := time.Now()
		var err error
		if two {
			value, bound, err = sv.CombineTwoSided(g, Row, h, chosen, h.Node, chosen)
		} else {
			value, bound, err = Combine(g, Row, h, chosen, h.Node)
		}
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "median-ns")
	exact, err := sv.Solve(b.Context(), g, Row, 0.85, h, Target{L1, 1e-10})
	if err != nil {
		b.Fatal(err)
	}
	e := 0.0
	for i, j := range h.Node {
		e = max(e, math.Abs(value[i]-exact.estimate(j)))
	}
	b.ReportMetric(e, "max-true")
	b.ReportMetric(slices.Max(bound), "max-bound")
	slices.Sort(bound)
	b.ReportMetric(bound[len(bound)/2], "median-bound")
}
