package column

import (
	"math/rand/v2"
	"testing"

	"kith/model/graph"
)

// BenchmarkPaths looks up the ends of a target among the nodes two edges from a source: few of them are there, or most.
func BenchmarkPaths(b *testing.B) {
	for _, bench := range []struct {
		name        string
		nodes, near int
	}{{"few", 1 << 22, 1 << 15}, {"most", 4000, 3500}} {
		b.Run(bench.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			s := new(TwoHop)
			for range bench.near {
				u := s.place(graph.ID(rng.IntN(bench.nodes)))
				s.flow[u].Weight++
			}
			ends := make([][]graph.ID, 64)
			for i := range ends {
				for range MaxEnds {
					ends[i] = append(ends[i], graph.ID(rng.IntN(bench.nodes)))
				}
			}
			b.ResetTimer()
			for i := range b.N {
				s.Paths(0, ends[i%len(ends)])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/MaxEnds, "ns/end")
		})
	}
}
