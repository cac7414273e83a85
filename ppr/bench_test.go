package ppr

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Benchmarks run on dblp-2010 (300,647 nodes, 807,700 edges). Beside the time they report the true error against an
// L1 1e-13 solve and the certificate.

const dblp = "law/dblp-2010.edges.txt.gz"

func draw(g Graph, r *rand.Rand) ID {
	for {
		if u := ID(r.IntN(g.NumNodes())); g.Degree(u) > 0 {
			return u
		}
	}
}

func source(u ID) Vector { return Vector{[]ID{u}, []float64{1}} }

// randomVector has k nodes with values in [low,1).
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

// report times f over several inputs and reports the median.
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

// reportError compares a state with a solve to the end of float64.
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
