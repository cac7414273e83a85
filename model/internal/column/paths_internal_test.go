package column

import (
	"math"
	"testing"

	"kith/model/internal/graph"
)

// rows is a directed graph by its rows.
type rows struct{ out, in [][]graph.ID }

func newRows(n int) *rows { return &rows{make([][]graph.ID, n), make([][]graph.ID, n)} }

// add adds an arc. Arcs must be added in ascending order.
func (g *rows) add(u, v graph.ID) { g.out[u], g.in[v] = append(g.out[u], v), append(g.in[v], u) }

func (g *rows) NumNodes() int                          { return len(g.out) }
func (g *rows) Directed() bool                         { return true }
func (g *rows) Out(u graph.ID) ([]graph.ID, []float32) { return g.out[u], nil }
func (g *rows) In(u graph.ID) ([]graph.ID, []float32)  { return g.in[u], nil }

// What is read of hubs is limited, but the overlap is exact: of a source whose neighbours have few,
// many and very many nodes, and a target with few and many in-neighbours.
func TestHubs(t *testing.T) {
	t.Parallel()
	const n, few, many = 30_000, 200, 2 * MaxEnds
	for _, hubs := range []graph.ID{1, 2, maxRows/n + 2} {
		g := newRows(n)
		source, short, long := graph.ID(0), graph.ID(n-2), graph.ID(n-1)
		for w := graph.ID(1); w <= hubs; w++ {
			g.add(source, w)
		}
		for w := graph.ID(1); w < many; w++ {
			switch {
			case w <= hubs:
				for u := hubs + 1; u < n; u++ {
					g.add(w, u)
				}
			case w < few:
				g.add(w, short)
				fallthrough
			default:
				g.add(w, long)
			}
		}
		pairs := graph.Pairs(source, []graph.ID{short, long, source})
		r := Reader{To: make([]float64, len(pairs)), From: make([]float64, len(pairs))}
		for i, p := range pairs {
			l := r.PairStats(g, pairs, i)
			if want := overlapOfRows(g, p, graph.Out(g, p.Source), graph.In(g, p.Target)); l.Overlap != want {
				t.Errorf("%d hubs, pair %v: overlap %v, want %v", hubs, p, l.Overlap, want)
			}
			// All but the hubs among the first in-neighbours of the target are reached from one
			// hub, as far as it is followed.
			followed := min(float64(hubs), 1)
			want := max(0, float64(min(len(g.in[p.Target]), MaxEnds))-float64(hubs)) * followed / math.Sqrt(n-1-float64(hubs))
			if p.Target == source {
				want = 0
			}
			if math.Abs(l.paths-want) > 1e-9 {
				t.Errorf("%d hubs, pair %v: paths of three edges weigh %v, want %v", hubs, p, l.paths, want)
			}
		}
	}
}
