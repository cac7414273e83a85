package column_test

import (
	"math"
	"testing"

	"kith/model/internal/column"
	"kith/model/internal/graph"
)

// Of returns the entries that are not zero, also of vectors that no longer fit together with
// earlier ones, and returned entries stay as they are until the next Open.
func TestFeatures(t *testing.T) {
	t.Parallel()
	const length, nodes = 1 << 17, 20
	vector := func(u graph.ID) []float32 {
		v := make([]float32, length)
		for i := range v {
			v[i] = float32((i + int(u)) % 3)
		}
		return v
	}
	var f column.Features
	f.Open(graph.World{Features: vector})
	all := make([]column.Entries, nodes)
	for u := range all {
		all[u] = f.Of(graph.ID(u))
	}
	for u, e := range all {
		want, at, square := vector(graph.ID(u)), 0, 0.0
		for i, x := range want {
			if x == 0 {
				continue
			}
			if e.At[at] != uint32(i) || e.Value[at] != x {
				t.Fatalf("node %d has %v at %d, want %v at %d", u, e.Value[at], e.At[at], x, i)
			}
			square += float64(x) * float64(x)
			at++
		}
		if len(e.At) != at || math.Abs(e.Unit*math.Sqrt(square)-1) > 1e-9 {
			t.Errorf("node %d has %d entries, want %d; factor %v of length %v", u, len(e.At), at, e.Unit, math.Sqrt(square))
		}
		if got := e.Times(want[:length/2]); math.Abs(got-square/2) > 8 {
			t.Errorf("node %d times its first half is %v, want %v", u, got, square/2)
		}
	}
	f.Open(graph.World{})
	if e := f.Of(1); len(e.At) > 0 || e.Unit != 0 {
		t.Errorf("without features: %v", e)
	}
}
