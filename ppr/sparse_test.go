package ppr

import (
	"math/rand/v2"
	"testing"
)

// TestSparse compares an array with a map, over several rounds in the same memory.
func TestSparse(t *testing.T) {
	t.Parallel()
	const nodes = 5000
	var a sparse[float64]
	a.grow(nodes)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		want := map[ID]float64{}
		for range r.IntN(400) {
			u, x := ID(r.IntN(nodes)), r.Float64()
			if _, ok := want[u]; !ok {
				*a.at(u) += x // may be in the blank page
				a.add(u)
			} else {
				*a.at(u) += x
			}
			want[u] += x
		}
		members, last := 0, -1
		for u, x := range a.all() {
			if int(u) <= last || *x != want[u] {
				t.Fatalf("node %d after %d: %v, want %v", u, last, *x, want[u])
			}
			members, last = members+1, int(u)
		}
		if members != len(want) {
			t.Fatalf("%d members, want %d", members, len(want))
		}
		for u := range ID(nodes) {
			if x := *a.at(u); x != want[u] {
				t.Fatalf("node %d: %v, want %v", u, x, want[u])
			}
		}
		a.clear()
	}
}
