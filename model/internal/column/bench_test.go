package column

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kith/model/internal/graph"
)

// BenchmarkPaths looks up the ends of a target among the nodes two edges from a source: few of them
// are there, or most.
func BenchmarkPaths(b *testing.B) {
	for _, bench := range []struct {
		name        string
		nodes, near int
		share       float64 // of the ends that are surely near
	}{{"few", 1 << 22, 1 << 15, 0}, {"some", 1 << 22, 10_600, 0.14}, {"most", 4000, 3500, 0}} {
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
					u := graph.ID(rng.IntN(bench.nodes))
					if rng.Float64() < bench.share {
						u = s.Node[rng.IntN(len(s.Node))]
					}
					ends[i] = append(ends[i], u)
				}
				slices.Sort(ends[i])
			}
			b.ResetTimer()
			for i := range b.N {
				s.Paths(0, ends[i%len(ends)])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/MaxEnds, "ns/end")
		})
	}
}
